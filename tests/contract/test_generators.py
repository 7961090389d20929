"""What every generator must do, and what an endpoint's misbehaviour must turn into."""

from __future__ import annotations

import logging
import socket
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from rag_core.errors import (
    GeneratorAuthError,
    GeneratorError,
    GeneratorInterrupted,
    GeneratorRateLimited,
    GeneratorTimeout,
    GeneratorUnavailable,
    SettingsError,
)
from rag_core.llm.endpoint_errors import EndpointErrors
from rag_core.llm.generator import LanguageModel
from rag_core.llm.reasoning import strip_reasoning, text_after_reasoning
from rag_core.settings import Settings
from rag_core.types import REFUSAL, Message, Passage, Usage
from tests.support.servers import (
    MODEL_FILE,
    Exchange,
    Play,
    ScriptedEndpoint,
    complete,
    declining,
    listing,
    model_server,
)

KEY = "sk-do-not-show-4f1c"
QUESTION = "What was capital expenditure in 2022?"


def passage(rank: int = 1, text: str = "Capital expenditure was $1,749 million in 2022.") -> Passage:
    return Passage(rank, f"c{rank}", "d1", "v1", "3M_2022_10K.pdf", 56, "57", 56, 0, len(text), text, "", {})


def settings(url: str, **changes: object) -> Settings:
    given: dict[str, object] = {
        "openai_base_url": url,
        "openai_model": "smollm2",
        "openai_api_key": KEY,
        "openai_timeout_s": 10.0,
        "openai_retries": 0,
        "openai_answer_tokens": 48,
        "openai_context_tokens": 1024,
    }
    return Settings(_env_file=None, **(given | changes))


def gguf_settings() -> Settings:
    return Settings(
        _env_file=None,
        gguf=MODEL_FILE,
        gguf_threads=1,
        openai_answer_tokens=24,
        openai_context_tokens=1024,
        openai_timeout_s=200.0,
    )


@pytest.fixture(autouse=True)
def no_ambient_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_LOG"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    with model_server() as url:
        yield url


@pytest.fixture(params=["chat", "responses"])
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def local() -> Iterator[LanguageModel]:
    """A model in this process, loaded once."""
    made = LanguageModel(gguf_settings())
    yield made
    made.close()


@pytest.fixture(params=["model chat", "model responses", "script chat", "script responses", "gguf"])
def generator(request: pytest.FixtureRequest) -> Iterator[LanguageModel]:
    kind, _, api = str(request.param).partition(" ")
    if kind == "gguf":
        yield request.getfixturevalue("local")
    elif kind == "model":
        url = request.getfixturevalue("model_url")
        made = LanguageModel(settings(url, openai_timeout_s=120, openai_api=api))
        yield made
        made.close()
    else:
        with ScriptedEndpoint(complete("It was ", "$1,749 million", " [1].")) as endpoint:
            made = LanguageModel(settings(endpoint.url, openai_api=api))
            yield made
            made.close()


@pytest.fixture
def play() -> Iterator[Callable[..., tuple[LanguageModel, ScriptedEndpoint]]]:
    """Starts an endpoint with a script and a generator that asks it."""
    opened: list[tuple[LanguageModel, ScriptedEndpoint]] = []

    def start(*script: Play, **changes: object) -> tuple[LanguageModel, ScriptedEndpoint]:
        endpoint = ScriptedEndpoint(*script).__enter__()
        made = LanguageModel(settings(endpoint.url, **changes), sleep=pauses.append)
        opened.append((made, endpoint))
        return made, endpoint

    pauses: list[float] = []
    start.pauses = pauses
    yield start
    for made, endpoint in opened:
        made.close()
        endpoint.__exit__()


class TestEveryGenerator:
    def test_yields_pieces_that_join_to_a_text(self, generator: LanguageModel) -> None:
        pieces = list(generator.stream_answer(QUESTION, [passage()]))
        assert len(pieces) > 1
        assert all(isinstance(piece, str) and piece for piece in pieces)
        assert "".join(pieces).strip()

    def test_has_a_name_with_its_provider(self, generator: LanguageModel) -> None:
        assert generator.name in ("openai:smollm2", f"gguf:{MODEL_FILE.stem}")

    def test_can_be_closed_early_and_used_again(self, generator: LanguageModel) -> None:
        stream = generator.stream_answer(QUESTION, [passage()])
        assert next(stream)
        stream.close()
        assert list(stream) == []
        assert "".join(generator.stream_answer(QUESTION, [passage()]))

    def test_can_be_closed_before_it_began(self, generator: LanguageModel) -> None:
        generator.stream_answer(QUESTION, [passage()]).close()

    def test_without_passages_it_refuses(self, generator: LanguageModel) -> None:
        assert "".join(generator.stream_answer(QUESTION, [])) == REFUSAL

    def test_takes_history(self, generator: LanguageModel, now: object) -> None:
        history = [
            Message("m1", "user", "What was capital expenditure?", now),
            Message("m2", "assistant", "In which year? [1]", now),
        ]
        assert "".join(generator.stream_answer("In 2022", [passage()], history))

    def test_names_its_models(self, model_url: str) -> None:
        made = LanguageModel(settings(model_url, openai_timeout_s=60))
        assert made.models() == ["smollm2"]
        made.close()


@pytest.fixture
def now() -> object:
    return datetime(2025, 1, 1, tzinfo=UTC)


def hang_at_once(exchange: Exchange) -> None:
    exchange.hang()


def hang_midway(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("It was ")
    exchange.hang()


def drop_midway(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("It was ")
    exchange.drop()


def drop_at_once(exchange: Exchange) -> None:
    exchange.drop()


def drop_before_text(exchange: Exchange) -> None:
    exchange.start()
    exchange.drop()


def end_without_reason(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("It was ")
    exchange.end()


def malformed_at_once(exchange: Exchange) -> None:
    exchange.start()
    exchange.event("{not json")
    exchange.end()


def malformed_midway(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("It was ")
    exchange.event("{not json")
    exchange.end()


def not_utf8(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("It was ")
    exchange.raw(b"data: \xff\xfe\n\n")
    exchange.end()


def odd_shapes(exchange: Exchange) -> None:
    exchange.start()
    for data in (5, None, [], {"choices": 7}, {"choices": [None]}, {"choices": [{"delta": "x"}]}, {}):
        exchange.event(data)
    exchange.end()


def empty_stream(exchange: Exchange) -> None:
    exchange.start()
    exchange.end()


def done_without_text(exchange: Exchange) -> None:
    exchange.start()
    exchange.event("[DONE]")
    exchange.end()


def web_page(exchange: Exchange) -> None:
    exchange.start("text/html")
    exchange.raw(b"<html>Please sign in</html>")
    exchange.end()


def error_event_at_once(exchange: Exchange) -> None:
    exchange.start()
    exchange.event({"error": {"code": 503, "message": f"Loading model for {KEY}"}})
    exchange.end()


def error_event_midway(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("It was ")
    exchange.event({"error": {"message": f"out of memory, Bearer {KEY}"}})
    exchange.end()


def status(code: int, error: object = None, **headers: str) -> Play:
    return lambda exchange: exchange.error(code, {"error": error} if error else None, **headers)


ECHO = {"message": f"Incorrect API key provided: {KEY}. Bearer {KEY}", "code": "invalid_api_key"}
QUOTA = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
TOO_LONG = {"message": "too long", "code": "context_length_exceeded", "param": "messages"}

MISBEHAVIOUR = [
    ("401", status(401, ECHO), GeneratorAuthError, "OPENAI_API_KEY"),
    ("403", status(403, ECHO), GeneratorAuthError, "RAG_OPENAI_MODEL=smollm2"),
    ("429", status(429), GeneratorRateLimited, "RAG_OPENAI_BASE_URL"),
    ("429 quota", status(429, QUOTA), GeneratorRateLimited, "quota"),
    ("404", status(404, {"message": "model 'smollm2' not found"}), GeneratorUnavailable, "RAG_OPENAI_MODEL"),
    ("400", status(400, {"message": f"bad {KEY}"}), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("400 in words", status(400, f"no such tool {KEY}"), GeneratorUnavailable, "no such tool"),
    ("422 in detail", lambda one: one.error(422, {"detail": "no such tool"}), GeneratorUnavailable, "no such tool"),
    ("400 too long", status(400, TOO_LONG), GeneratorUnavailable, "RAG_OPENAI_CONTEXT_TOKENS"),
    ("307", status(307, location="http://elsewhere.invalid/"), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("500", status(500), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("503", status(503), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("504", status(504), GeneratorTimeout, "RAG_OPENAI_TIMEOUT_S"),
    ("hang at once", hang_at_once, GeneratorTimeout, "RAG_OPENAI_TIMEOUT_S"),
    ("hang midway", hang_midway, GeneratorTimeout, "RAG_OPENAI_TIMEOUT_S"),
    ("drop at once", drop_at_once, GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("drop before text", drop_before_text, GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("drop midway", drop_midway, GeneratorInterrupted, "RAG_OPENAI_BASE_URL"),
    ("no finish reason", end_without_reason, GeneratorInterrupted, "RAG_OPENAI_BASE_URL"),
    ("malformed at once", malformed_at_once, GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("malformed midway", malformed_midway, GeneratorInterrupted, "RAG_OPENAI_BASE_URL"),
    ("not UTF-8", not_utf8, GeneratorInterrupted, "RAG_OPENAI_BASE_URL"),
    ("odd shapes", odd_shapes, GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("empty stream", empty_stream, GeneratorUnavailable, "RAG_OPENAI_MODEL=smollm2"),
    ("done without text", done_without_text, GeneratorUnavailable, "RAG_OPENAI_MODEL=smollm2"),
    ("no text", complete(), GeneratorUnavailable, "RAG_OPENAI_MODEL=smollm2"),
    ("blank text", complete(" ", "\n"), GeneratorUnavailable, "RAG_OPENAI_MODEL=smollm2"),
    ("only thought", complete("<think>", finish="length"), GeneratorUnavailable, "RAG_OPENAI_ANSWER_TOKENS"),
    ("declined", declining("I cannot ", f"help with {KEY}"), GeneratorUnavailable, "declined to answer: I cannot help"),
    ("withheld", complete(finish="content_filter"), GeneratorUnavailable, "content filter"),
    ("withheld midway", complete("It", finish="content_filter"), GeneratorInterrupted, "content filter"),
    ("a web page", web_page, GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("error event", error_event_at_once, GeneratorUnavailable, "HTTP 503"),
    ("error event midway", error_event_midway, GeneratorInterrupted, "out of memory"),
]


@pytest.mark.parametrize(
    ("script", "error", "named"), [case[1:] for case in MISBEHAVIOUR], ids=[case[0] for case in MISBEHAVIOUR]
)
def test_misbehaviour_becomes_an_error_that_names_the_setting(
    play, caplog, api: str, script: Play, error: type[GeneratorError], named: str
) -> None:
    caplog.set_level(logging.DEBUG)
    made, _ = play(script, openai_api=api, openai_timeout_s=0.3 if error is GeneratorTimeout else 10.0)
    with pytest.raises(GeneratorError) as caught:
        list(made.stream_answer(QUESTION, [passage()]))
    assert type(caught.value) is error
    assert named in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    shown = "".join(traceback.format_exception(caught.value))
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert KEY not in shown + repr(caught.value) + logged
    assert "Bearer sk" not in shown + logged


def test_what_came_before_a_break_is_kept(play) -> None:
    made, _ = play(drop_midway)
    stream = made.stream_answer(QUESTION, [passage()])
    assert next(stream) == "It was "
    with pytest.raises(GeneratorInterrupted):
        next(stream)


def test_refused_connection() -> None:
    with ScriptedEndpoint(complete("x")) as endpoint:
        url = endpoint.url
    made = LanguageModel(settings(url))
    with pytest.raises(GeneratorUnavailable, match=r"RAG_OPENAI_BASE_URL=http://127\.0\.0\.1"):
        list(made.stream_answer(QUESTION, [passage()]))
    made.close()


def failed(code: str, said: str = "") -> dict[str, object]:
    return {"type": "response.failed", "response": {"error": {"code": code, "message": said}, "usage": None}}


def events(*sent: dict[str, object], first: str = "") -> Play:
    """A stream of the Responses API, with text first where it is given."""

    def play(exchange: Exchange) -> None:
        exchange.start()
        if first:
            exchange.delta(first)
        for one in sent:
            exchange.event(one)
        exchange.end()

    return play


@pytest.mark.parametrize(
    ("script", "error", "named"),
    [
        (events(failed("rate_limit_exceeded", "slow down")), GeneratorRateLimited, "slow down"),
        (events(failed("insufficient_quota", "quota exceeded")), GeneratorRateLimited, "used up its quota"),
        (events(failed("server_error", KEY)), GeneratorUnavailable, "HTTP 500"),
        (events(failed("invalid_prompt", f"no {KEY}")), GeneratorUnavailable, "reported “no"),
        (events({"type": "error", "code": "server_error", "message": "x"}), GeneratorUnavailable, "HTTP 500"),
        (events({"type": "error", "message": f"broken {KEY}"}), GeneratorUnavailable, "reported “broken"),
        (events(failed("server_error", "gone"), first="It was "), GeneratorInterrupted, "reported “gone"),
        (events({"type": "response.failed"}), GeneratorUnavailable, "gave no answer"),
        (events({"type": "response.completed"}), GeneratorUnavailable, "has no text"),
        (events({"type": "response.output_text.delta"}), GeneratorUnavailable, "before the answer was complete"),
    ],
)
def test_events_of_failure(play, script: Play, error: type[GeneratorError], named: str) -> None:
    made, _ = play(script, openai_api="responses")
    with pytest.raises(error, match=named) as caught:
        list(made.stream_answer(QUESTION, [passage()]))
    assert KEY not in str(caught.value)
    assert caught.value.__context__ is None


def test_an_address_without_the_responses_api_is_told_of_the_other(play) -> None:
    made, endpoint = play(status(404), openai_api="responses")
    with pytest.raises(GeneratorUnavailable, match="RAG_OPENAI_API=chat"):
        list(made.stream_answer(QUESTION, [passage()]))
    assert endpoint.paths == ["/v1/responses"]


def test_a_response_that_ends_early_for_another_reason_says_so(play) -> None:
    made, _ = play(complete("It was", finish="steered"), openai_api="responses")
    stream = made.stream_answer(QUESTION, [passage()])
    assert "".join(stream) == "It was"
    assert stream.notices == ("The endpoint ended the answer before it was complete.",)


def test_a_connection_that_nobody_accepts_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.llm.endpoint.CONNECT_TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        # The queue of those who wait is full, so that the next one hears nothing.
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        made = LanguageModel(settings(f"http://127.0.0.1:{listener.getsockname()[1]}/v1"))
        with pytest.raises(GeneratorTimeout, match="Check the address"):
            list(made.stream_answer(QUESTION, [passage()]))
        made.close()
        for one in waiting:
            one.close()


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434/v1",
        "ftp://127.0.0.1/v1",
        "http://[::1",
        "http:///v1",
        "http://a..b/v1",
        f"http://{'a' * 64}/v1",
    ],
)
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(GeneratorUnavailable, match="RAG_OPENAI_BASE_URL"):
        list(LanguageModel(settings(url)).stream_answer(QUESTION, [passage()]))


@pytest.mark.parametrize("key", ["sk-two words", "sk-ünicode", "sk-\nline"])
def test_a_key_that_cannot_be_sent_is_not_shown(key: str) -> None:
    made = LanguageModel(settings("http://127.0.0.1:9/v1", openai_api_key=key))
    with pytest.raises(GeneratorAuthError, match="OPENAI_API_KEY") as caught:
        list(made.stream_answer(QUESTION, [passage()]))
    assert key not in str(caught.value)


def test_secrets_in_the_address_are_not_shown() -> None:
    url = "http://me:hunter2@127.0.0.1:9/v1?token=hunter3"
    assert "hunter" not in str(EndpointErrors(settings(url)).timeout())


def test_without_a_key_the_endpoint_is_told_so_and_the_reader_too(play) -> None:
    made, _ = play(status(401), openai_api_key=None)
    with pytest.raises(GeneratorAuthError, match="OPENAI_API_KEY is not set"):
        list(made.stream_answer(QUESTION, [passage()]))


def test_without_a_key_a_local_endpoint_answers(play) -> None:
    made, _ = play(complete("Yes [1]."), openai_api_key=None)
    assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes [1]."


def test_a_proxy_in_the_environment_is_not_used_for_this_machine(play, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    made, _ = play(complete("Yes."))
    assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("HTTPS_PROXY", "ftp://127.0.0.1"),
        ("SSL_CERT_FILE", "/nowhere/certificates.pem"),
        ("SSL_CERT_FILE", __file__),
    ],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_told(monkeypatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    made = LanguageModel(settings("https://192.0.2.1/v1"))
    for call in (made.models, made.warm_up, lambda: list(made.stream_answer(QUESTION, [passage()]))):
        with pytest.raises(GeneratorUnavailable, match=name) as caught:
            call()
        assert caught.value.__context__ is None


class TestRetries:
    def test_a_passing_failure_is_tried_again_with_growing_pauses(self, play) -> None:
        made, endpoint = play(status(503), status(429), empty_stream, complete("Yes."), openai_retries=3)
        assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes."
        assert len(endpoint.requests) == 4
        for pause, longest in zip(play.pauses, (0.5, 1.0, 2.0), strict=True):
            assert longest / 2 <= pause <= longest

    def test_the_endpoint_may_ask_for_a_pause(self, play) -> None:
        made, _ = play(status(429, retry_after="7"), complete("Yes."), openai_retries=1, openai_timeout_s=10)
        assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes."
        assert 7.0 < play.pauses[0] <= 7.5

    def test_or_until_a_moment(self, play) -> None:
        moment = format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True)
        made, _ = play(status(503, retry_after=moment), complete("Yes."), openai_retries=1, openai_timeout_s=20)
        assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes."
        assert 5 < play.pauses[0] <= 9.5

    def test_what_is_no_pause_is_not_waited_for(self, play) -> None:
        made, _ = play(status(503, retry_after="soon"), complete("Yes."), openai_retries=1)
        assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes."
        assert play.pauses[0] <= 0.5

    def test_no_pause_is_longer_than_the_time_out(self, play, monkeypatch) -> None:
        monkeypatch.setattr("rag_core.llm.generator.BACKOFF_S", 60.0)
        made, _ = play(status(503), complete("Yes."), openai_retries=1, openai_timeout_s=4)
        assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes."
        assert 2 <= play.pauses[0] <= 4

    def test_but_not_for_a_longer_one_than_the_time_out(self, play) -> None:
        made, endpoint = play(status(429, retry_after="600"), openai_retries=3)
        with pytest.raises(GeneratorRateLimited):
            list(made.stream_answer(QUESTION, [passage()]))
        assert len(endpoint.requests) == 1

    @pytest.mark.parametrize("script", [status(401), status(404), status(429, QUOTA), hang_at_once])
    def test_a_lasting_failure_is_not_tried_again(self, play, script: Play) -> None:
        # Long enough for the request to arrive also where other work is done.
        made, endpoint = play(script, openai_retries=3, openai_timeout_s=3.0)
        with pytest.raises(GeneratorError):
            list(made.stream_answer(QUESTION, [passage()]))
        assert len(endpoint.requests) == 1

    def test_nothing_is_tried_again_once_text_has_come(self, play) -> None:
        made, endpoint = play(drop_midway, complete("Yes."), openai_retries=3)
        with pytest.raises(GeneratorInterrupted):
            list(made.stream_answer(QUESTION, [passage()]))
        assert len(endpoint.requests) == 1


class TestRequest:
    def test_carries_the_settings_and_the_passages(self, play) -> None:
        made, endpoint = play(complete("Yes."))
        list(made.stream_answer(QUESTION, [passage()]))
        (request,) = endpoint.requests
        assert (request["model"], request["max_tokens"], request["temperature"]) == ("smollm2", 48, 0.0)
        assert request["stream"] is True
        assert [message["role"] for message in request["messages"]] == ["system", "user"]
        assert "$1,749 million" in request["messages"][1]["content"]
        assert endpoint.paths == ["/v1/chat/completions"]

    def test_responses_are_not_kept_by_the_provider(self, play) -> None:
        made, endpoint = play(complete("Yes."), openai_api="responses")
        list(made.stream_answer(QUESTION, [passage()]))
        (request,) = endpoint.requests
        assert (request["model"], request["max_output_tokens"], request["temperature"]) == ("smollm2", 48, 0.0)
        assert (request["stream"], request["store"]) == (True, False)
        assert "$1,749 million" in request["input"][1]["content"]
        assert endpoint.paths == ["/v1/responses"]

    @pytest.mark.parametrize("code", [400, 422])
    def test_an_endpoint_that_does_not_tell_tokens_is_not_asked_for_them(self, play, code: int) -> None:
        made, endpoint = play(status(code, {"message": "extra field stream_options"}), complete("Yes."))
        assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes."
        assert "stream_options" not in endpoint.requests[-1]

    def test_an_endpoint_that_insists_on_keeping_them_gets_no_second_request(self, play) -> None:
        made, endpoint = play(status(400, {"message": "store must be true", "param": "store"}), openai_api="responses")
        with pytest.raises(GeneratorUnavailable, match="store must be true"):
            list(made.stream_answer(QUESTION, [passage()]))
        assert len(endpoint.requests) == 1

    def test_options_that_the_model_does_not_know_are_left_out_from_then_on(self, play) -> None:
        made, endpoint = play(
            status(400, {"message": "use max_completion_tokens", "param": "max_tokens"}),
            status(400, {"message": "only 1", "param": "temperature"}),
            complete("Yes."),
        )
        for _ in range(2):
            assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes."
        assert len(endpoint.requests) == 4
        assert endpoint.requests[-1]["max_completion_tokens"] == 48
        assert not {"max_tokens", "temperature"} & set(endpoint.requests[-1])

    @pytest.mark.parametrize(
        ("said", "left_out"),
        [
            ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
            ("temperature does not support 0 with this model", "temperature"),
        ],
    )
    def test_an_option_that_is_refused_in_words_alone_is_left_out_too(self, play, said: str, left_out: str) -> None:
        made, endpoint = play(status(400, {"message": said}), complete("Yes."))
        assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes."
        assert left_out not in endpoint.requests[-1]

    def test_a_limit_that_is_too_large_is_not_lifted(self, play) -> None:
        made, endpoint = play(status(400, {"message": "max_tokens is too large: 48"}), complete("Yes."))
        with pytest.raises(GeneratorUnavailable, match="too large"):
            list(made.stream_answer(QUESTION, [passage()]))
        assert len(endpoint.requests) == 1

    def test_passages_that_do_not_fit_are_left_out_and_said_so(self, play) -> None:
        made, endpoint = play(complete("Yes."))
        stream = made.stream_answer(QUESTION, [passage(1), passage(2, "word " * 3000)])
        assert "".join(stream) == "Yes."
        assert "1 of 2 passages did not fit" in stream.notices[0]
        assert stream.notices[0].endswith("were not used: [2].")
        assert "word word" not in endpoint.requests[0]["messages"][1]["content"]


def test_a_passage_that_was_cut_is_told(play) -> None:
    made, _ = play(complete("Yes."))
    stream = made.stream_answer(QUESTION, [passage(1, "word " * 30_000)])
    assert "".join(stream) == "Yes."
    assert stream.notices[0].startswith("Only the beginning of passage [1] fitted into RAG_OPENAI_CONTEXT_TOKENS=")


def test_an_answer_at_the_limit_says_so(play) -> None:
    made, _ = play(complete("It was", finish="length"))
    stream = made.stream_answer(QUESTION, [passage()])
    assert "".join(stream) == "It was"
    assert "RAG_OPENAI_ANSWER_TOKENS" in stream.notices[0]


class TestUsage:
    def test_is_what_the_endpoint_tells(self, play, api: str) -> None:
        made, _ = play(complete("Yes.", tokens=(321, 7)), openai_api=api, price_input=1.0, price_output=10.0)
        stream = made.stream_answer(QUESTION, [passage()])
        list(stream)
        assert stream.usage == Usage(1, 321, 7, False, pytest.approx(0.000391), "USD")

    def test_counts_on_the_way_are_replaced_by_the_last(self, play) -> None:
        def counting(exchange: Exchange) -> None:
            exchange.start()
            for number, text in enumerate(("It ", "was."), 1):
                usage = {"prompt_tokens": 50, "completion_tokens": number}
                exchange.event({"choices": [{"index": 0, "delta": {"content": text}}], "usage": usage})
            exchange.ended("stop", (50, 4))
            exchange.end()

        made, _ = play(counting)
        stream = made.stream_answer(QUESTION, [passage()])
        assert "".join(stream) == "It was."
        assert stream.usage == Usage(1, 50, 4)

    def test_nothing_that_follows_the_end_takes_from_the_answer(self, play) -> None:
        def lingering(exchange: Exchange) -> None:
            exchange.start()
            exchange.delta("Yes.")
            exchange.delta(finish="stop")
            exchange.hang()

        made, _ = play(lingering, openai_timeout_s=0.3)
        stream = made.stream_answer(QUESTION, [passage()])
        assert "".join(stream) == "Yes."
        assert stream.usage.estimated

    def test_is_estimated_where_it_does_not(self, play, api: str) -> None:
        made, _ = play(complete("It was $1,749 million."), openai_api=api)
        stream = made.stream_answer(QUESTION, [passage()])
        list(stream)
        assert stream.usage.estimated
        assert stream.usage.input_tokens > 100
        assert 5 < stream.usage.output_tokens < 15

    @pytest.mark.parametrize("tokens", [("3", 4), (None, 1), (-1, 2), (True, 2)])
    def test_is_estimated_where_it_tells_nonsense(self, play, api: str, tokens: tuple) -> None:
        made, _ = play(complete("Yes.", tokens=tokens), openai_api=api)
        stream = made.stream_answer(QUESTION, [passage()])
        list(stream)
        assert stream.usage.estimated

    def test_is_known_where_the_answer_was_closed_half_way(self, play) -> None:
        made, _ = play(complete("It was ", "more than ", "was planned."))
        stream = made.stream_answer(QUESTION, [passage()])
        next(stream)
        stream.close()
        assert (stream.usage.calls, stream.usage.estimated) == (1, True)
        assert stream.usage.output_tokens < 5

    def test_is_told_as_each_request_ends_also_when_it_breaks_off(self, play) -> None:
        made, _ = play(status(503), drop_midway, openai_retries=1)
        heard: list[Usage] = []
        made._on_usage = heard.append
        stream = made.stream_answer(QUESTION, [passage()])
        with pytest.raises(GeneratorInterrupted):
            list(stream)
        assert heard == [stream.usage]
        assert stream.usage.calls == 1

    def test_of_a_whole_reply(self, play) -> None:
        made, _ = play(complete("Yes.", tokens=(20, 2)))
        reply = made.complete([{"role": "user", "content": "Ready?"}])
        assert (reply.text, reply.usage) == ("Yes.", Usage(1, 20, 2))

    def test_a_real_server_tells_it(self, model_url: str, api: str) -> None:
        made = LanguageModel(settings(model_url, openai_timeout_s=120, openai_api=api))
        stream = made.stream_answer(QUESTION, [passage()])
        list(stream)
        made.close()
        assert not stream.usage.estimated
        assert stream.usage.input_tokens > 100
        assert 0 < stream.usage.output_tokens <= 48


def test_characters_split_over_network_chunks_arrive_whole(play) -> None:
    def play_split(exchange: Exchange) -> None:
        exchange.start()
        event = 'data: {"choices": [{"delta": {"content": "Größe 😀 会"}, "finish_reason": "stop"}]}\n\n'.encode()
        for position in range(len(event)):
            exchange.raw(event[position : position + 1])
        exchange.end()

    made, _ = play(play_split)
    assert "".join(made.stream_answer(QUESTION, [passage()])) == "Größe 😀 会"


def test_text_in_parts_comes_without_the_thoughts_beside_it(play) -> None:
    def in_parts(exchange: Exchange) -> None:
        exchange.start()
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
        for part in (thought, {"type": "text", "text": "Yes "}, {"type": "text", "text": "[1]."}, {"type": "text"}):
            exchange.event({"choices": [{"index": 0, "delta": {"content": [part]}, "finish_reason": None}]})
        exchange.delta(finish="stop")
        exchange.end()

    made, _ = play(in_parts)
    assert "".join(made.stream_answer(QUESTION, [passage()])) == "Yes [1]."


def test_closing_hangs_up(play) -> None:
    def endless(exchange: Exchange) -> None:
        exchange.start()
        exchange.until_client_leaves()

    made, endpoint = play(endless)
    stream = made.stream_answer(QUESTION, [passage()])
    assert next(stream) == "more "
    stream.close()
    assert endpoint.exchanges[0].closed_by_client.wait(5)


def test_without_a_model_nothing_is_asked() -> None:
    made = LanguageModel(settings("http://127.0.0.1:9/v1", openai_model=None))
    with pytest.raises(SettingsError, match="RAG_OPENAI_MODEL"):
        made.stream_answer(QUESTION, [passage()])


class TestModels:
    def test_sorted(self, play) -> None:
        made, _ = play(listing("b", "a"))
        assert made.models() == ["a", "b"]

    @pytest.mark.parametrize(
        ("script", "error"),
        [
            (status(401), GeneratorAuthError),
            (status(500), GeneratorUnavailable),
            (hang_at_once, GeneratorTimeout),
            (web_page, GeneratorUnavailable),
        ],
    )
    def test_failures(self, play, script: Play, error: type[GeneratorError]) -> None:
        made, _ = play(script, openai_timeout_s=0.3 if error is GeneratorTimeout else 10.0)
        with pytest.raises(error) as caught:
            made.models()
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["<th", "ink>a [1]", "</thi", "nk>", "\n\n", "Yes", " [1]."], "Yes [1]."),
        (["<think></think>Yes."], "Yes."),
        (["<thin", "king>a</think> b</think", "ing>Yes."], "Yes."),
        (["[THINK]a", "[/THINK]\n", "Yes."], "Yes."),
        (["<reasoning>a</reasoning>", "Yes."], "Yes."),
        (["Yes <think>x</think>"], "Yes <think>x</think>"),
        (["<", "5 %"], "<5 %"),
        (["<"], "<"),
        (["<think>never ends"], ""),
        ([], ""),
    ],
)
def test_a_block_of_thought_at_the_start_is_left_out(pieces: list[str], expected: str) -> None:
    assert "".join(strip_reasoning(piece for piece in pieces)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I look at [1].\nSo it is.\n</think>\n\nYes [1].", "Yes [1]."),
        ("a</thinking>b</thinking>Yes.", "Yes."),
        ("It ends with </think>", ""),
        ("Yes <think>x</think>", "Yes <think>x</think>"),
        ("Yes.", "Yes."),
    ],
)
def test_thought_of_which_the_end_alone_is_marked_is_left_out_of_a_whole_text(play, text: str, expected: str) -> None:
    assert text_after_reasoning(text) == expected
    made, _ = play(complete(text))
    assert made.complete([{"role": "user", "content": "Ready?"}]).text == expected
