"""The contract of all language models, and the error for each misbehaviour of an endpoint."""

from __future__ import annotations

import logging
import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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
from rag_core.llm.reasoning import strip_reasoning, strip_unopened_reasoning
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
NOW = datetime(2025, 1, 1, tzinfo=UTC)
QUESTION = "What was capital expenditure in 2022?"


def passage(rank: int = 1, text: str = "Capital expenditure was $1,749 million in 2022.") -> Passage:
    return Passage(rank, f"c{rank}", "d1", "v1", "3M_2022_10K.pdf", 56, "57", 56, 0, len(text), text, "", {})


def settings(url: str, **changes: object) -> Settings:
    values: dict[str, object] = {
        "openai_base_url": url,
        "openai_model": "smollm2",
        "openai_api_key": KEY,
        "openai_timeout_s": 10.0,
        "openai_retries": 0,
        "openai_answer_tokens": 48,
        "openai_context_tokens": 1024,
    }
    return Settings(_env_file=None, **(values | changes))


def gguf_settings() -> Settings:
    return Settings(
        _env_file=None,
        gguf=MODEL_FILE,
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
    """Load a model in this process, once."""
    model = LanguageModel(gguf_settings())
    yield model
    model.close()


@pytest.fixture(params=["model chat", "model responses", "script chat", "script responses", "gguf"])
def generator(request: pytest.FixtureRequest) -> Iterator[LanguageModel]:
    kind, _, api = str(request.param).partition(" ")
    if kind == "gguf":
        yield request.getfixturevalue("local")
    elif kind == "model":
        url = request.getfixturevalue("model_url")
        model = LanguageModel(settings(url, openai_timeout_s=120, openai_api=api))
        yield model
        model.close()
    else:
        with ScriptedEndpoint(complete("It was ", "$1,749 million", " [1].")) as endpoint:
            model = LanguageModel(settings(endpoint.url, openai_api=api))
            yield model
            model.close()


@pytest.fixture
def play() -> Iterator[Callable[..., tuple[LanguageModel, ScriptedEndpoint]]]:
    """Start an endpoint with a script, and a model that asks it."""
    pauses: list[float] = []
    with ExitStack() as stack:

        def start(*script: Play, **changes: object) -> tuple[LanguageModel, ScriptedEndpoint]:
            endpoint = stack.enter_context(ScriptedEndpoint(*script))
            model = LanguageModel(settings(endpoint.url, **changes), sleep=pauses.append)
            stack.callback(model.close)
            return model, endpoint

        start.pauses = pauses
        yield start


def answer(model: LanguageModel) -> str:
    return "".join(model.stream_answer(QUESTION, [passage()]))


class TestEveryGenerator:
    def test_yields_pieces_of_a_text(self, generator: LanguageModel) -> None:
        pieces = list(generator.stream_answer(QUESTION, [passage()]))
        assert len(pieces) > 1
        assert all(isinstance(piece, str) and piece for piece in pieces)
        assert "".join(pieces).strip()

    def test_name_contains_the_provider(self, generator: LanguageModel) -> None:
        assert generator.name in ("openai:smollm2", f"gguf:{MODEL_FILE.stem}")

    def test_can_be_closed_early_and_used_again(self, generator: LanguageModel) -> None:
        pieces = generator.stream_answer(QUESTION, [passage()])
        assert next(pieces)
        pieces.close()
        assert list(pieces) == []
        assert "".join(generator.stream_answer(QUESTION, [passage()]))

    def test_can_be_closed_before_the_first_piece(self, generator: LanguageModel) -> None:
        generator.stream_answer(QUESTION, [passage()]).close()

    def test_refuses_without_passages(self, generator: LanguageModel) -> None:
        assert "".join(generator.stream_answer(QUESTION, [])) == REFUSAL

    def test_accepts_history(self, generator: LanguageModel) -> None:
        history = [
            Message("m1", "user", "What was capital expenditure?", NOW),
            Message("m2", "assistant", "In which year? [1]", NOW),
        ]
        assert "".join(generator.stream_answer("In 2022", [passage()], history))

    def test_lists_models_in_order(self, model_url: str, play) -> None:
        model = LanguageModel(settings(model_url, openai_timeout_s=60))
        assert model.models() == ["smollm2"]
        model.close()
        model, _ = play(listing("b", "a"))
        assert model.models() == ["a", "b"]


def stream(*events: object, text: str = "", end: str = "end") -> Play:
    """Return a stream with a text, further events and an end: "end", "drop" or "hang"."""

    def play(exchange: Exchange) -> None:
        exchange.start()
        if text:
            exchange.delta(text)
        for data in events:
            exchange.event(data)
        getattr(exchange, end)()

    return play


def not_utf8(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("It was ")
    exchange.raw(b"data: \xff\xfe\n\n")
    exchange.end()


def web_page(exchange: Exchange) -> None:
    exchange.start("text/html")
    exchange.raw(b"<html>Please sign in</html>")
    exchange.end()


def status(code: int, error: object = None, **headers: str) -> Play:
    return lambda exchange: exchange.error(code, {"error": error} if error else None, **headers)


ECHO = {"message": f"Incorrect API key provided: {KEY}. Bearer {KEY}", "code": "invalid_api_key"}
QUOTA = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
LOADING = {"error": {"code": 503, "message": f"Loading model for {KEY}"}}
NO_MEMORY = {"error": {"message": f"out of memory, Bearer {KEY}"}}
ODD_EVENTS = (5, None, [], {"choices": 7}, {"choices": [None]}, {"choices": [{"delta": "x"}]}, {})
DROP_MIDWAY = stream(text="It was ", end="drop")
TOO_LONG = {"message": "too long", "code": "context_length_exceeded", "param": "messages"}

MISBEHAVIOUR = [
    ("401", status(401, ECHO), GeneratorAuthError, "OPENAI_API_KEY"),
    ("403", status(403, ECHO), GeneratorAuthError, "RAG_OPENAI_MODEL=smollm2"),
    ("429", status(429), GeneratorRateLimited, "RAG_OPENAI_BASE_URL"),
    ("429 quota", status(429, QUOTA), GeneratorRateLimited, "quota"),
    ("404", status(404, {"message": "model 'smollm2' not found"}), GeneratorUnavailable, "RAG_OPENAI_MODEL"),
    ("400", status(400, {"message": f"bad {KEY}"}), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("400 in words", status(400, f"no such tool {KEY}"), GeneratorUnavailable, "no such tool"),
    (
        "422 in detail",
        lambda exchange: exchange.error(422, {"detail": "no such tool"}),
        GeneratorUnavailable,
        "no such tool",
    ),
    ("400 too long", status(400, TOO_LONG), GeneratorUnavailable, "RAG_OPENAI_CONTEXT_TOKENS"),
    ("307", status(307, location="http://elsewhere.invalid/"), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("500", status(500), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("503", status(503), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("504", status(504), GeneratorTimeout, "RAG_OPENAI_TIMEOUT_S"),
    ("hang at once", Exchange.hang, GeneratorTimeout, "RAG_OPENAI_TIMEOUT_S"),
    ("hang midway", stream(text="It was ", end="hang"), GeneratorTimeout, "RAG_OPENAI_TIMEOUT_S"),
    ("drop at once", Exchange.drop, GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("drop before text", stream(end="drop"), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("drop midway", DROP_MIDWAY, GeneratorInterrupted, "RAG_OPENAI_BASE_URL"),
    ("no finish reason", stream(text="It was "), GeneratorInterrupted, "RAG_OPENAI_BASE_URL"),
    ("malformed at once", stream("{not json"), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("malformed midway", stream("{not json", text="It was "), GeneratorInterrupted, "RAG_OPENAI_BASE_URL"),
    ("not UTF-8", not_utf8, GeneratorInterrupted, "RAG_OPENAI_BASE_URL"),
    ("odd shapes", stream(*ODD_EVENTS), GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("empty stream", stream(), GeneratorUnavailable, "RAG_OPENAI_MODEL=smollm2"),
    ("done without text", stream("[DONE]"), GeneratorUnavailable, "RAG_OPENAI_MODEL=smollm2"),
    ("no text", complete(), GeneratorUnavailable, "RAG_OPENAI_MODEL=smollm2"),
    ("blank text", complete(" ", "\n"), GeneratorUnavailable, "RAG_OPENAI_MODEL=smollm2"),
    ("only thought", complete("<think>", finish="length"), GeneratorUnavailable, "RAG_OPENAI_ANSWER_TOKENS"),
    ("declined", declining("I cannot ", f"help with {KEY}"), GeneratorUnavailable, "declined to answer: I cannot help"),
    ("withheld", complete(finish="content_filter"), GeneratorUnavailable, "content filter"),
    ("withheld midway", complete("It", finish="content_filter"), GeneratorInterrupted, "content filter"),
    ("a web page", web_page, GeneratorUnavailable, "RAG_OPENAI_BASE_URL"),
    ("error event", stream(LOADING), GeneratorUnavailable, "HTTP 503"),
    ("error event midway", stream(NO_MEMORY, text="It was "), GeneratorInterrupted, "out of memory"),
]


@pytest.mark.parametrize(
    ("script", "error", "words"), [case[1:] for case in MISBEHAVIOUR], ids=[case[0] for case in MISBEHAVIOUR]
)
def test_misbehaviour_raises_error_that_names_the_setting(
    play, caplog, api: str, script: Play, error: type[GeneratorError], words: str
) -> None:
    caplog.set_level(logging.DEBUG)
    model, _ = play(script, openai_api=api, openai_timeout_s=0.3 if error is GeneratorTimeout else 10.0)
    with pytest.raises(GeneratorError) as caught:
        answer(model)
    assert type(caught.value) is error
    assert words in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    shown = "".join(traceback.format_exception(caught.value))
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert KEY not in shown + repr(caught.value) + logged
    assert "Bearer sk" not in shown + logged


def test_text_before_interruption_is_yielded(play) -> None:
    model, _ = play(DROP_MIDWAY)
    pieces = model.stream_answer(QUESTION, [passage()])
    assert next(pieces) == "It was "
    with pytest.raises(GeneratorInterrupted):
        next(pieces)


def failed(code: str, message: str = "") -> dict[str, object]:
    return {"type": "response.failed", "response": {"error": {"code": code, "message": message}, "usage": None}}


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        (stream(failed("rate_limit_exceeded", "slow down")), GeneratorRateLimited, "slow down"),
        (stream(failed("insufficient_quota", "quota exceeded")), GeneratorRateLimited, "used up its quota"),
        (stream(failed("server_error", KEY)), GeneratorUnavailable, "HTTP 500"),
        (stream(failed("invalid_prompt", f"no {KEY}")), GeneratorUnavailable, "reported “no"),
        (stream({"type": "error", "code": "server_error", "message": "x"}), GeneratorUnavailable, "HTTP 500"),
        (stream({"type": "error", "message": f"broken {KEY}"}), GeneratorUnavailable, "reported “broken"),
        (stream(failed("server_error", "gone"), text="It was "), GeneratorInterrupted, "reported “gone"),
        (stream({"type": "response.failed"}), GeneratorUnavailable, "gave no answer"),
        (stream({"type": "response.completed"}), GeneratorUnavailable, "has no text"),
        (stream({"type": "response.output_text.delta"}), GeneratorUnavailable, "before the answer was complete"),
    ],
)
def test_failure_event_raises_error(play, script: Play, error: type[GeneratorError], words: str) -> None:
    model, _ = play(script, openai_api="responses")
    with pytest.raises(error, match=words) as caught:
        answer(model)
    assert KEY not in str(caught.value)
    assert caught.value.__context__ is None


def test_missing_responses_api_suggests_chat(play) -> None:
    model, endpoint = play(status(404), openai_api="responses")
    with pytest.raises(GeneratorUnavailable, match="RAG_OPENAI_API=chat"):
        answer(model)
    assert endpoint.paths == ["/v1/responses"]


def test_connection_attempt_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.llm.endpoint.CONNECT_TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        # These connections fill the queue of the listener: it ignores the next one.
        waiting = [socket.socket() for _ in range(3)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        model = LanguageModel(settings(f"http://127.0.0.1:{listener.getsockname()[1]}/v1"))
        with pytest.raises(GeneratorTimeout, match="Check the address"):
            answer(model)
        model.close()
        for client in waiting:
            client.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:9/v1", r"RAG_OPENAI_BASE_URL=http://127\.0\.0\.1"),
        ("localhost:11434/v1", "RAG_OPENAI_BASE_URL"),
        ("ftp://127.0.0.1/v1", "RAG_OPENAI_BASE_URL"),
        ("http://[::1", "RAG_OPENAI_BASE_URL"),
        ("http:///v1", "RAG_OPENAI_BASE_URL"),
        ("http://a..b/v1", "RAG_OPENAI_BASE_URL"),
        (f"http://{'a' * 64}/v1", "RAG_OPENAI_BASE_URL"),
    ],
)
def test_unusable_address_raises_error_with_its_setting(url: str, words: str) -> None:
    with pytest.raises(GeneratorUnavailable, match=words):
        answer(LanguageModel(settings(url)))


@pytest.mark.parametrize("key", ["sk-two words", "sk-ünicode", "sk-\nline"])
def test_unsendable_key_is_not_shown(key: str) -> None:
    model = LanguageModel(settings("http://127.0.0.1:9/v1", openai_api_key=key))
    with pytest.raises(GeneratorAuthError, match="OPENAI_API_KEY") as caught:
        answer(model)
    assert key not in str(caught.value)


def test_secrets_in_the_address_are_not_shown() -> None:
    url = "http://me:hunter2@127.0.0.1:9/v1?token=hunter3"
    assert "hunter" not in str(EndpointErrors(settings(url)).timeout())


def test_missing_key_is_reported_after_401(play) -> None:
    model, _ = play(status(401), openai_api_key=None)
    with pytest.raises(GeneratorAuthError, match="OPENAI_API_KEY is not set"):
        answer(model)


def test_local_endpoint_needs_neither_key_nor_proxy(play, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    model, _ = play(complete("Yes [1]."), openai_api_key=None)
    assert answer(model) == "Yes [1]."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("HTTPS_PROXY", "ftp://127.0.0.1"),
        ("SSL_CERT_FILE", "/nowhere/certificates.pem"),
        ("SSL_CERT_FILE", __file__),
    ],
)
def test_unusable_proxy_or_certificates_are_reported(monkeypatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    model = LanguageModel(settings("https://192.0.2.1/v1"))
    for call in (model.models, model.warm_up, lambda: answer(model)):
        with pytest.raises(GeneratorUnavailable, match=name) as caught:
            call()
        assert caught.value.__context__ is None


IN_9_SECONDS = "in 9 seconds"


class TestRetries:
    def test_retries_with_growing_pauses(self, play) -> None:
        model, endpoint = play(status(503), status(429), stream(), complete("Yes."), openai_retries=3)
        assert answer(model) == "Yes."
        assert len(endpoint.requests) == 4
        for pause, longest in zip(play.pauses, (0.5, 1.0, 2.0), strict=True):
            assert longest / 2 <= pause <= longest

    @pytest.mark.parametrize(
        ("retry_after", "backoff_s", "low", "high"),
        [
            ("7", 0.5, 7.0, 7.5),
            (IN_9_SECONDS, 0.5, 5, 9.5),
            ("soon", 0.5, 0, 0.5),
            (None, 60.0, 10, 20),
        ],
        ids=["seconds", "time", "nonsense", "at most the time-out"],
    )
    def test_pause_before_retry(
        self, play, monkeypatch, retry_after: str | None, backoff_s: float, low: float, high: float
    ) -> None:
        monkeypatch.setattr("rag_core.llm.generator.BACKOFF_S", backoff_s)
        if retry_after == IN_9_SECONDS:
            retry_after = format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True)
        headers = {"retry_after": retry_after} if retry_after else {}
        model, _ = play(status(503, **headers), complete("Yes."), openai_retries=1, openai_timeout_s=20)
        assert answer(model) == "Yes."
        assert low <= play.pauses[0] <= high

    def test_no_retry_if_requested_pause_exceeds_the_time_out(self, play) -> None:
        model, endpoint = play(status(429, retry_after="600"), openai_retries=3)
        with pytest.raises(GeneratorRateLimited):
            answer(model)
        assert len(endpoint.requests) == 1

    @pytest.mark.parametrize("script", [status(401), status(404), status(429, QUOTA), Exchange.hang])
    def test_no_retry_after_permanent_failure(self, play, script: Play) -> None:
        # The time-out must be long enough for the request to arrive on a busy machine.
        model, endpoint = play(script, openai_retries=3, openai_timeout_s=3.0)
        with pytest.raises(GeneratorError):
            answer(model)
        assert len(endpoint.requests) == 1

    def test_no_retry_after_first_text(self, play) -> None:
        model, endpoint = play(DROP_MIDWAY, complete("Yes."), openai_retries=3)
        with pytest.raises(GeneratorInterrupted):
            answer(model)
        assert len(endpoint.requests) == 1


class TestRequest:
    @pytest.mark.parametrize(
        ("api", "path", "input_key", "expected"),
        [
            ("chat", "/v1/chat/completions", "messages", {"max_tokens": 48}),
            ("responses", "/v1/responses", "input", {"max_output_tokens": 48, "store": False}),
        ],
    )
    def test_contains_settings_and_passages(
        self, play, api: str, path: str, input_key: str, expected: dict[str, object]
    ) -> None:
        model, endpoint = play(complete("Yes."), openai_api=api)
        answer(model)
        (request,) = endpoint.requests
        expected = {"model": "smollm2", "temperature": 0.0, "stream": True} | expected
        assert {name: request[name] for name in expected} == expected
        assert [message["role"] for message in request[input_key]] == ["system", "user"]
        assert "$1,749 million" in request[input_key][1]["content"]
        assert endpoint.paths == [path]

    @pytest.mark.parametrize("code", [400, 422])
    def test_token_usage_is_not_requested_again_after_rejection(self, play, code: int) -> None:
        model, endpoint = play(status(code, {"message": "extra field stream_options"}), complete("Yes."))
        assert answer(model) == "Yes."
        assert "stream_options" not in endpoint.requests[-1]

    def test_unsupported_options_are_omitted_from_then_on(self, play) -> None:
        model, endpoint = play(
            status(400, {"message": "use max_completion_tokens", "param": "max_tokens"}),
            status(400, {"message": "only 1", "param": "temperature"}),
            complete("Yes."),
        )
        for _ in range(2):
            assert answer(model) == "Yes."
        assert len(endpoint.requests) == 4
        assert endpoint.requests[-1]["max_completion_tokens"] == 4 * 48
        assert not {"max_tokens", "temperature"} & set(endpoint.requests[-1])

    @pytest.mark.parametrize(
        ("message", "omitted"),
        [
            ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
            ("temperature does not support 0 with this model", "temperature"),
        ],
    )
    def test_option_rejected_without_parameter_name_is_omitted(self, play, message: str, omitted: str) -> None:
        model, endpoint = play(status(400, {"message": message}), complete("Yes."))
        assert answer(model) == "Yes."
        assert omitted not in endpoint.requests[-1]

    @pytest.mark.parametrize(
        ("api", "error"),
        [
            ("chat", {"message": "max_tokens is too large: 48"}),
            ("responses", {"message": "store must be true", "param": "store"}),
        ],
    )
    def test_required_options_are_not_omitted(self, play, api: str, error: dict[str, str]) -> None:
        model, endpoint = play(status(400, error), complete("Yes."), openai_api=api)
        with pytest.raises(GeneratorUnavailable, match=error["message"]):
            answer(model)
        assert len(endpoint.requests) == 1

    def test_passages_that_do_not_fit_are_omitted_with_notice(self, play) -> None:
        model, endpoint = play(complete("Yes."))
        pieces = model.stream_answer(QUESTION, [passage(1), passage(2, "word " * 3000)])
        assert "".join(pieces) == "Yes."
        assert "1 of 2 passages did not fit" in pieces.notices[0]
        assert pieces.notices[0].endswith("were not used: [2].")
        assert "word word" not in endpoint.requests[0]["messages"][1]["content"]


CUT_PASSAGE = passage(1, "word " * 30_000)


@pytest.mark.parametrize(
    ("api", "finish", "source", "notice"),
    [
        ("chat", "stop", CUT_PASSAGE, "Only the beginning of passage [1] fitted into RAG_OPENAI_CONTEXT_TOKENS="),
        ("chat", "length", passage(), "RAG_OPENAI_ANSWER_TOKENS"),
        ("responses", "steered", passage(), "The endpoint ended the answer before it was complete."),
    ],
    ids=["passage cut", "answer at its limit", "answer ended early"],
)
def test_incomplete_answer_has_a_notice(play, api: str, finish: str, source: Passage, notice: str) -> None:
    model, _ = play(complete("It was", finish=finish), openai_api=api)
    pieces = model.stream_answer(QUESTION, [source])
    assert "".join(pieces) == "It was"
    (text,) = pieces.notices
    assert notice in text


class TestUsage:
    def test_usage_is_reported_by_the_endpoint(self, play, api: str) -> None:
        model, _ = play(complete("Yes.", tokens=(321, 7)), openai_api=api, price="1/10 USD")
        pieces = model.stream_answer(QUESTION, [passage()])
        list(pieces)
        assert pieces.usage == Usage(1, 321, 7, False, pytest.approx(0.000391), "USD")

    def test_last_token_counts_replace_earlier_ones(self, play) -> None:
        def counting(exchange: Exchange) -> None:
            exchange.start()
            for number, text in enumerate(("It ", "was."), 1):
                usage = {"prompt_tokens": 50, "completion_tokens": number}
                exchange.event({"choices": [{"index": 0, "delta": {"content": text}}], "usage": usage})
            exchange.ended("stop", (50, 4))
            exchange.end()

        model, _ = play(counting)
        pieces = model.stream_answer(QUESTION, [passage()])
        assert "".join(pieces) == "It was."
        assert pieces.usage == Usage(1, 50, 4)

    def test_error_after_the_end_does_not_affect_the_answer(self, play) -> None:
        finished = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        model, _ = play(stream(finished, text="Yes.", end="hang"), openai_timeout_s=0.3)
        pieces = model.stream_answer(QUESTION, [passage()])
        assert "".join(pieces) == "Yes."
        assert pieces.usage.estimated

    @pytest.mark.parametrize("tokens", [None, ("3", 4), (None, 1), (-1, 2), (True, 2)])
    def test_usage_is_estimated_if_missing_or_invalid(self, play, api: str, tokens: tuple | None) -> None:
        model, _ = play(complete("It was $1,749 million.", tokens=tokens), openai_api=api)
        pieces = model.stream_answer(QUESTION, [passage()])
        list(pieces)
        assert pieces.usage.estimated
        assert pieces.usage.input_tokens > 100
        assert 5 < pieces.usage.output_tokens < 15

    def test_usage_of_closed_stream_is_estimated(self, play) -> None:
        model, _ = play(complete("It was ", "more than ", "was planned."))
        pieces = model.stream_answer(QUESTION, [passage()])
        next(pieces)
        pieces.close()
        assert (pieces.usage.calls, pieces.usage.estimated) == (1, True)
        assert pieces.usage.output_tokens < 5

    def test_usage_is_recorded_after_interruption(self, play) -> None:
        model, _ = play(status(503), DROP_MIDWAY, openai_retries=1)
        usages: list[Usage] = []
        model._on_usage = usages.append
        pieces = model.stream_answer(QUESTION, [passage()])
        with pytest.raises(GeneratorInterrupted):
            list(pieces)
        assert usages == [pieces.usage]
        assert pieces.usage.calls == 1

    def test_usage_of_complete_reply(self, play) -> None:
        model, _ = play(complete("Yes.", tokens=(20, 2)))
        reply = model.complete([{"role": "user", "content": "Ready?"}])
        assert (reply.text, reply.usage) == ("Yes.", Usage(1, 20, 2))

    def test_real_server_reports_usage(self, model_url: str, api: str) -> None:
        model = LanguageModel(settings(model_url, openai_timeout_s=120, openai_api=api))
        pieces = model.stream_answer(QUESTION, [passage()])
        list(pieces)
        model.close()
        assert not pieces.usage.estimated
        assert pieces.usage.input_tokens > 100
        assert 0 < pieces.usage.output_tokens <= 48


def test_characters_split_over_network_chunks_are_joined(play) -> None:
    def play_split(exchange: Exchange) -> None:
        exchange.start()
        event = 'data: {"choices": [{"delta": {"content": "Größe 😀 会"}, "finish_reason": "stop"}]}\n\n'.encode()
        for position in range(len(event)):
            exchange.raw(event[position : position + 1])
        exchange.end()

    model, _ = play(play_split)
    assert answer(model) == "Größe 😀 会"


def test_thinking_parts_are_omitted(play) -> None:
    def in_parts(exchange: Exchange) -> None:
        exchange.start()
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
        for part in (thought, {"type": "text", "text": "Yes "}, {"type": "text", "text": "[1]."}, {"type": "text"}):
            exchange.event({"choices": [{"index": 0, "delta": {"content": [part]}, "finish_reason": None}]})
        exchange.delta(finish="stop")
        exchange.end()

    model, _ = play(in_parts)
    assert answer(model) == "Yes [1]."


def test_closing_the_stream_closes_the_connection(play) -> None:
    def endless(exchange: Exchange) -> None:
        exchange.start()
        exchange.until_client_leaves()

    model, endpoint = play(endless)
    pieces = model.stream_answer(QUESTION, [passage()])
    assert next(pieces) == "more "
    pieces.close()
    assert endpoint.exchanges[0].closed_by_client.wait(5)


def test_missing_model_raises_error() -> None:
    model = LanguageModel(settings("http://127.0.0.1:9/v1", openai_model=None))
    with pytest.raises(SettingsError, match="RAG_OPENAI_MODEL"):
        model.stream_answer(QUESTION, [passage()])


class TestModels:
    @pytest.mark.parametrize(
        ("script", "error"),
        [
            (status(401), GeneratorAuthError),
            (status(500), GeneratorUnavailable),
            (Exchange.hang, GeneratorTimeout),
            (web_page, GeneratorUnavailable),
        ],
    )
    def test_errors_of_model_list(self, play, script: Play, error: type[GeneratorError]) -> None:
        model, _ = play(script, openai_timeout_s=0.3 if error is GeneratorTimeout else 10.0)
        with pytest.raises(error) as caught:
            model.models()
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
def test_leading_reasoning_block_is_removed(pieces: list[str], expected: str) -> None:
    assert "".join(filter(None, strip_reasoning(piece for piece in pieces))) == expected


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
def test_reasoning_without_opening_tag_is_removed_from_complete_text(play, text: str, expected: str) -> None:
    assert strip_unopened_reasoning(text) == expected
    model, _ = play(complete(text))
    assert model.complete([{"role": "user", "content": "Ready?"}]).text == expected
