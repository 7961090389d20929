"""The contract of all language models, and the error for each misbehaviour of an endpoint."""

from __future__ import annotations

import logging
import socket
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime

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
from rag_core.types.answers import REFUSAL
from rag_core.types.conversations import Message
from rag_core.types.retrieval import Passage
from rag_core.types.usage import Usage
from tests.support.language_models import (
    ASK,
    KEY,
    QUESTION,
    Start,
    answer,
    delta,
    failing,
    figure_passage,
    model_settings,
    stream,
)
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

NOW = datetime(2025, 1, 1, tzinfo=UTC)


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
    limits = {"openai_answer_tokens": 24, "openai_context_tokens": 1024, "openai_timeout_s": 200.0}
    model = LanguageModel(Settings(_env_file=None, gguf=MODEL_FILE, **limits))
    yield model
    model.close()


def real(url: str, **changes: object) -> LanguageModel:
    """Return the model of a real server."""
    limits = {"openai_answer_tokens": 48, "openai_context_tokens": 1024, "openai_timeout_s": 120.0}
    return LanguageModel(model_settings(url, openai_model="smollm2", **limits, **changes))


@pytest.fixture(params=["model chat", "model responses", "script chat", "script responses", "gguf"])
def generator(request: pytest.FixtureRequest, start: Start) -> Iterator[LanguageModel]:
    kind, _, api = str(request.param).partition(" ")
    if kind == "gguf":
        yield request.getfixturevalue("local")
    elif kind == "model":
        model = real(request.getfixturevalue("model_url"), openai_api=api)
        yield model
        model.close()
    else:
        script = complete("It was ", "$1,749 million", " [1].")
        yield start(script, openai_api=api, openai_model="smollm2")[0]


class TestEveryGenerator:
    def test_yields_pieces_of_a_text(self, generator: LanguageModel) -> None:
        pieces = list(generator.stream_answer(QUESTION, [figure_passage()]))
        assert len(pieces) > 1
        assert all(isinstance(piece, str) and piece for piece in pieces)
        assert "".join(pieces).strip()
        assert generator.name in ("openai:smollm2", f"gguf:{MODEL_FILE.stem}")

    def test_can_be_closed_early_and_used_again(self, generator: LanguageModel) -> None:
        generator.stream_answer(QUESTION, [figure_passage()]).close()
        pieces = generator.stream_answer(QUESTION, [figure_passage()])
        assert next(pieces)
        pieces.close()
        assert list(pieces) == []
        history = [
            Message("m1", "user", "What was capital expenditure?", NOW),
            Message("m2", "assistant", "In which year? [1]", NOW),
        ]
        assert "".join(generator.stream_answer("In 2022", [figure_passage()], history))

    def test_refuses_without_passages(self, generator: LanguageModel) -> None:
        assert "".join(generator.stream_answer(QUESTION, [])) == REFUSAL


def test_models_are_listed_in_order(model_url: str, start: Start) -> None:
    model = real(model_url)
    assert model.models() == ["smollm2"]
    model.close()
    assert start(listing("b", "a"))[0].models() == ["a", "b"]


def not_utf8(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("It was ")
    exchange.raw(b"data: \xff\xfe\n\n")
    exchange.end()


def web_page(exchange: Exchange) -> None:
    exchange.start("text/html")
    exchange.raw(b"<html>Please sign in</html>")
    exchange.end()


ECHO = {"message": f"Incorrect API key provided: {KEY}. Bearer {KEY}", "code": "invalid_api_key"}
QUOTA = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
LOADING = {"error": {"code": 503, "message": f"Loading model for {KEY}"}}
NO_MEMORY = {"error": {"message": f"out of memory, Bearer {KEY}"}}
ODD_EVENTS = (5, None, [], {"choices": 7}, {"choices": [None]}, {"choices": [{"delta": "x"}]}, {})
DROP_MIDWAY = stream(text="It was ", end="drop")
TOO_LONG = {"message": "too long", "code": "context_length_exceeded", "param": "messages"}
UNKNOWN = {"message": "model 'm' not found"}
DETAIL: Play = lambda exchange: exchange.error(422, {"detail": "no such tool"})  # noqa: E731
URL, MODEL, TIMEOUT = "RAG_OPENAI_BASE_URL", "RAG_OPENAI_MODEL=m", "RAG_OPENAI_TIMEOUT_S"

MISBEHAVIOUR: list[tuple[str, Play, type[GeneratorError], str]] = [
    ("401", failing(401, ECHO), GeneratorAuthError, "OPENAI_API_KEY"),
    ("403", failing(403, ECHO), GeneratorAuthError, MODEL),
    ("429", failing(429), GeneratorRateLimited, URL),
    ("429 quota", failing(429, QUOTA), GeneratorRateLimited, "quota"),
    ("404", failing(404, UNKNOWN), GeneratorUnavailable, "RAG_OPENAI_MODEL"),
    ("400", failing(400, {"message": f"bad {KEY}"}), GeneratorUnavailable, URL),
    ("400 in words", failing(400, f"no such tool {KEY}"), GeneratorUnavailable, "no such tool"),
    ("422 in detail", DETAIL, GeneratorUnavailable, "no such tool"),
    ("400 too long", failing(400, TOO_LONG), GeneratorUnavailable, "RAG_OPENAI_CONTEXT_TOKENS"),
    ("307", failing(307, location="http://elsewhere.invalid/"), GeneratorUnavailable, URL),
    ("500", failing(500), GeneratorUnavailable, URL),
    ("503", failing(503), GeneratorUnavailable, URL),
    ("504", failing(504), GeneratorTimeout, TIMEOUT),
    ("hang at once", Exchange.hang, GeneratorTimeout, TIMEOUT),
    ("hang midway", stream(text="It was ", end="hang"), GeneratorTimeout, TIMEOUT),
    ("drop at once", Exchange.drop, GeneratorUnavailable, URL),
    ("drop before text", stream(end="drop"), GeneratorUnavailable, URL),
    ("drop midway", DROP_MIDWAY, GeneratorInterrupted, URL),
    ("no finish reason", stream(text="It was "), GeneratorInterrupted, URL),
    ("malformed at once", stream("{not json"), GeneratorUnavailable, URL),
    ("malformed midway", stream("{not json", text="It was "), GeneratorInterrupted, URL),
    ("not UTF-8", not_utf8, GeneratorInterrupted, URL),
    ("odd shapes", stream(*ODD_EVENTS), GeneratorUnavailable, URL),
    ("empty stream", stream(), GeneratorUnavailable, MODEL),
    ("done without text", stream("[DONE]"), GeneratorUnavailable, MODEL),
    ("no text", complete(), GeneratorUnavailable, MODEL),
    ("blank text", complete(" ", "\n"), GeneratorUnavailable, MODEL),
    ("only thought", complete("<think>", finish="length"), GeneratorUnavailable, "RAG_OPENAI_ANSWER_TOKENS"),
    ("declined", declining("I cannot ", f"help with {KEY}"), GeneratorUnavailable, "declined to answer: I cannot help"),
    ("withheld", complete(finish="content_filter"), GeneratorUnavailable, "content filter"),
    ("withheld midway", complete("It", finish="content_filter"), GeneratorInterrupted, "content filter"),
    ("a web page", web_page, GeneratorUnavailable, URL),
    ("error event", stream(LOADING), GeneratorUnavailable, "HTTP 503"),
    ("error event midway", stream(NO_MEMORY, text="It was "), GeneratorInterrupted, "out of memory"),
]


def failed(code: str, message: str = "") -> dict[str, object]:
    return {"type": "response.failed", "response": {"error": {"code": code, "message": message}, "usage": None}}


FAILURE_EVENTS: list[tuple[Play, type[GeneratorError], str]] = [
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
    (failing(404), GeneratorUnavailable, "RAG_OPENAI_API=chat"),
]


@pytest.mark.parametrize(
    ("api", "script", "error", "words"),
    [
        *(
            pytest.param(api, *case[1:], id=f"{case[0]} {api}")
            for case in MISBEHAVIOUR
            for api in ("chat", "responses")
        ),
        *(("responses", *case) for case in FAILURE_EVENTS),
    ],
)
def test_misbehaviour_raises_error_that_names_the_setting(
    start: Start, caplog: pytest.LogCaptureFixture, api: str, script: Play, error: type[GeneratorError], words: str
) -> None:
    caplog.set_level(logging.DEBUG)
    model, _ = start(script, openai_api=api, openai_timeout_s=0.3 if error is GeneratorTimeout else 10.0)
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


def test_text_before_interruption_is_yielded(start: Start) -> None:
    model, _ = start(DROP_MIDWAY)
    pieces = model.stream_answer(QUESTION, [figure_passage()])
    assert next(pieces) == "It was "
    with pytest.raises(GeneratorInterrupted):
        next(pieces)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (failing(401), GeneratorAuthError),
        (failing(500), GeneratorUnavailable),
        (Exchange.hang, GeneratorTimeout),
        (web_page, GeneratorUnavailable),
    ],
)
def test_errors_of_the_list_of_models(start: Start, script: Play, error: type[GeneratorError]) -> None:
    model, _ = start(script, openai_timeout_s=0.3 if error is GeneratorTimeout else 10.0)
    with pytest.raises(error) as caught:
        model.models()
    assert caught.value.__context__ is None


def test_connection_attempt_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.llm.endpoint.CONNECT_TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        # These connections fill the queue of the listener: it ignores the next one.
        waiting = [socket.socket() for _ in range(3)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        model = LanguageModel(model_settings(f"http://127.0.0.1:{listener.getsockname()[1]}/v1"))
        with pytest.raises(GeneratorTimeout, match="Check the address"):
            answer(model)
        model.close()
        for client in waiting:
            client.close()


UNUSABLE_URLS = ("localhost:11434/v1", "ftp://127.0.0.1/v1", "http://[::1", "http:///v1", "http://a..b/v1")


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        (
            {"openai_base_url": "http://127.0.0.1:9/v1"},
            GeneratorUnavailable,
            r"RAG_OPENAI_BASE_URL=http://127\.0\.0\.1",
        ),
        *(({"openai_base_url": url}, GeneratorUnavailable, URL) for url in (*UNUSABLE_URLS, f"http://{'a' * 64}/v1")),
        *(
            ({"openai_api_key": key}, GeneratorAuthError, "OPENAI_API_KEY")
            for key in ("sk-two words", "sk-ünicode", "sk-\nline")
        ),
        ({"openai_model": None}, SettingsError, "RAG_OPENAI_MODEL"),
    ],
)
def test_unusable_setting_is_named(changes: dict[str, str | None], error: type[Exception], words: str) -> None:
    model = LanguageModel(model_settings("http://127.0.0.1:9/v1", **changes))
    with pytest.raises(error, match=words) as caught:
        answer(model)
    assert str(changes.get("openai_api_key")) not in str(caught.value)


def test_secrets_in_the_address_are_not_shown() -> None:
    url = "http://me:hunter2@127.0.0.1:9/v1?token=hunter3"
    assert "hunter" not in str(EndpointErrors(model_settings(url)).timeout())


def test_local_endpoint_needs_neither_key_nor_proxy(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    model, _ = start(complete("Yes [1]."), failing(401), openai_api_key=None)
    assert answer(model) == "Yes [1]."
    with pytest.raises(GeneratorAuthError, match="OPENAI_API_KEY is not set"):
        answer(model)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("HTTPS_PROXY", "ftp://127.0.0.1"),
        ("SSL_CERT_FILE", "/nowhere/certificates.pem"),
        ("SSL_CERT_FILE", __file__),
    ],
)
def test_unusable_proxy_or_certificates_are_reported(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    model = LanguageModel(model_settings("https://192.0.2.1/v1"))
    for call in (model.models, model.warm_up, lambda: answer(model)):
        with pytest.raises(GeneratorUnavailable, match=name) as caught:
            call()
        assert caught.value.__context__ is None


CUT_PASSAGE = figure_passage(1, "word " * 30_000)


@pytest.mark.parametrize(
    ("api", "finish", "sources", "notices"),
    [
        ("chat", "stop", [CUT_PASSAGE], ["Only the beginning of passage [1] fitted into RAG_OPENAI_CONTEXT_TOKENS="]),
        ("chat", "length", [figure_passage()], ["RAG_OPENAI_ANSWER_TOKENS"]),
        ("responses", "steered", [figure_passage()], ["The endpoint ended the answer before it was complete."]),
        (
            *("chat", "stop", [figure_passage(), figure_passage(2, "word " * 3000)]),
            ["1 of 2 passages did not fit into RAG_OPENAI_CONTEXT_TOKENS=1024 and were not used: [2]."],
        ),
        ("chat", "stop", [figure_passage()], []),
    ],
)
def test_incomplete_answer_has_a_notice(
    start: Start, api: str, finish: str, sources: list[Passage], notices: list[str]
) -> None:
    model, endpoint = start(complete("It was", finish=finish), openai_api=api, openai_context_tokens=1024)
    pieces = model.stream_answer(QUESTION, sources)
    assert "".join(pieces) == "It was"
    assert [words in text for words, text in zip(notices, pieces.notices, strict=True)] == [True] * len(notices)
    if len(sources) == 2:
        assert "word word" not in endpoint.requests[0]["messages"][1]["content"]


def counting(exchange: Exchange) -> None:
    """Count the tokens in every event."""
    exchange.start()
    for number, text in enumerate(("Yes", "."), 1):
        exchange.event({**delta(content=text), "usage": {"prompt_tokens": 50, "completion_tokens": number}})
    exchange.ended("stop", (50, 4))
    exchange.end()


class TestUsage:
    @pytest.mark.parametrize(
        ("api", "script", "price", "expected"),
        [
            *(
                (api, complete("Yes.", tokens=(321, 7)), "1/10 USD", Usage(1, 321, 7, False, 0.000391, "USD"))
                for api in ("chat", "responses")
            ),
            ("chat", counting, None, Usage(1, 50, 4)),
        ],
    )
    def test_usage_is_reported_by_the_endpoint(
        self, start: Start, api: str, script: Play, price: str | None, expected: Usage
    ) -> None:
        model, _ = start(script, openai_api=api, price=price)
        pieces = model.stream_answer(QUESTION, [figure_passage()])
        assert "".join(pieces) == "Yes."
        assert pieces.usage == expected
        reply = model.complete(ASK)
        assert (reply.text, reply.usage) == ("Yes.", expected)

    @pytest.mark.parametrize("tokens", [None, ("3", 4), (None, 1), (-1, 2), (True, 2)])
    def test_usage_is_estimated_if_missing_or_invalid(self, start: Start, api: str, tokens: tuple | None) -> None:
        model, _ = start(complete("It was $1,749 million.", tokens=tokens), openai_api=api)
        pieces = model.stream_answer(QUESTION, [figure_passage()])
        list(pieces)
        assert pieces.usage.estimated
        assert pieces.usage.input_tokens > 100
        assert 5 < pieces.usage.output_tokens < 15

    def test_error_after_the_end_does_not_affect_the_answer(self, start: Start) -> None:
        model, _ = start(stream(delta("stop"), text="Yes.", end="hang"), openai_timeout_s=0.3)
        pieces = model.stream_answer(QUESTION, [figure_passage()])
        assert "".join(pieces) == "Yes."
        assert pieces.usage.estimated

    def test_usage_of_closed_stream_is_estimated(self, start: Start) -> None:
        model, _ = start(complete("It was ", "more than ", "was planned."))
        pieces = model.stream_answer(QUESTION, [figure_passage()])
        next(pieces)
        pieces.close()
        assert (pieces.usage.calls, pieces.usage.estimated) == (1, True)
        assert pieces.usage.output_tokens < 5

    def test_usage_is_recorded_after_interruption(self) -> None:
        usages: list[Usage] = []
        with ScriptedEndpoint(failing(503), DROP_MIDWAY) as endpoint:
            settings = model_settings(endpoint.url, openai_retries=1)
            model = LanguageModel(settings, on_usage=usages.append, sleep=lambda seconds: None)
            pieces = model.stream_answer(QUESTION, [figure_passage()])
            with pytest.raises(GeneratorInterrupted):
                list(pieces)
            model.close()
        assert usages == [pieces.usage]
        assert pieces.usage.calls == 1

    def test_real_server_reports_usage(self, model_url: str, api: str) -> None:
        model = real(model_url, openai_api=api)
        pieces = model.stream_answer(QUESTION, [figure_passage()])
        list(pieces)
        model.close()
        assert not pieces.usage.estimated
        assert pieces.usage.input_tokens > 100
        assert 0 < pieces.usage.output_tokens <= 48


def test_characters_split_over_network_chunks_are_joined(start: Start) -> None:
    def play_split(exchange: Exchange) -> None:
        exchange.start()
        event = 'data: {"choices": [{"delta": {"content": "Größe 😀 会"}, "finish_reason": "stop"}]}\n\n'.encode()
        for position in range(len(event)):
            exchange.raw(event[position : position + 1])
        exchange.end()

    assert answer(start(play_split)[0]) == "Größe 😀 会"


def test_closing_the_stream_closes_the_connection(start: Start) -> None:
    def endless(exchange: Exchange) -> None:
        exchange.start()
        exchange.until_client_leaves()

    model, endpoint = start(endless)
    pieces = model.stream_answer(QUESTION, [figure_passage()])
    assert next(pieces) == "more "
    pieces.close()
    assert endpoint.exchanges[0].closed_by_client.wait(5)


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
def test_reasoning_without_opening_tag_is_removed_from_complete_text(start: Start, text: str, expected: str) -> None:
    assert strip_unopened_reasoning(text) == expected
    assert start(complete(text))[0].complete(ASK).text == expected
