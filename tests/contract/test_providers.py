"""Requests to, and replies of, today's providers and servers, written after their documentation."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from rag_core.errors import (
    GeneratorAuthError,
    GeneratorError,
    GeneratorInterrupted,
    GeneratorRateLimited,
    GeneratorUnavailable,
)
from rag_core.llm.addresses import build_base_urls, build_list_headers, find_base_url, find_known_context
from rag_core.llm.answer_stream import THINKING, WAITING
from rag_core.llm.message_parts import IMAGE_TOKENS
from rag_core.llm.tool_calls import Tool
from rag_core.types.answers import Delta, Stage
from tests.support.language_models import ASK, KEY, Start, answer, delta, failing, read, stream
from tests.support.servers import Exchange, Play, calling, complete, listing

PNG = "data:image/png;base64,iVBORw0KGgo="
WITH_IMAGE = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": PNG}}]
AZURE_FILTERED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
SEARCH = Tool("search", "Search the documents.", {"query": "What to search for."}, ("query",))
DROP_MIDWAY = stream(text="It is ", end="drop")


def recorded(*lines: str | dict[str, Any], named: bool = False) -> Play:
    """Reply with server-sent events: JSON objects, texts such as ``[DONE]``, and comments, which begin with a colon."""

    def play(exchange: Exchange) -> None:
        exchange.start()
        for line in lines:
            if isinstance(line, str) and line.startswith(":"):
                exchange.raw(line.encode() + b"\n\n")
            elif isinstance(line, dict) and named:
                exchange.raw(f"event: {line['type']}\ndata: {json.dumps(line)}\n\n".encode())
            else:
                exchange.event(line)
        exchange.end()

    return play


def refusing(code: int, body: Any) -> Play:
    return lambda exchange: exchange.error(code, body, content_type="application/json")


ONLY_REASONING = recorded(delta(reasoning_content="Let me see."), delta("length"), "[DONE]")
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}
REASONING_ITEM = {"id": "rs_1", "type": "reasoning", "summary": []}
COUNTS = {"input_tokens": 20, "output_tokens": 90, "output_tokens_details": {"reasoning_tokens": 64}}
RESPONSES_EVENTS = (
    {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}},
    {"type": "response.output_item.added", "output_index": 0, "item": REASONING_ITEM},
    {"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "delta": "**Looking**"},
    {"type": "response.output_item.done", "output_index": 0, "item": REASONING_ITEM},
    {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "delta": "42 [1]."},
    {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "usage": COUNTS}},
)


class TestReasoning:
    @pytest.mark.parametrize(
        "fields",
        [
            {"content": None, "reasoning_content": "Let me see."},
            {"content": "", "reasoning": "Let me see."},
            {"content": "", "reasoning": "Let me", "reasoning_details": [{"type": "reasoning.text", "text": "Let me"}]},
            {"content": [THOUGHT]},
            {"content": "<think>Let me see.</think>"},
            None,
        ],
        ids=["DeepSeek", "vLLM", "OpenRouter", "Mistral", "in the text", "Responses"],
    )
    def test_reasoning_is_shown_as_thinking(self, start: Start, fields: dict[str, Any] | None) -> None:
        if fields is None:
            model, _ = start(recorded(*RESPONSES_EVENTS, named=True), openai_api="responses")
        else:
            parts = [{"type": "text", "text": "42 "}, {"type": "text", "text": "[1]."}, {"type": "text"}]
            text = parts if isinstance(fields["content"], list) else "42 [1]."
            model, _ = start(recorded(delta(**fields), delta(content=text), delta("stop"), "[DONE]"))
        model.warm_up()
        reply = model.stream_reply(ASK)
        events = list(reply.events("Writing"))
        assert Stage("generate", THINKING) in events
        assert events[-2:] == [Stage("generate", "Writing"), Delta("42 [1].")]
        assert [event for event in events if isinstance(event, Delta)] == [Delta("42 [1].")]
        assert fields or (reply.usage.input_tokens, reply.usage.output_tokens) == (20, 90)

    def test_long_silence_is_shown_as_thinking_and_can_be_stopped(
        self, start: Start, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("rag_core.llm.answer_stream.PAUSE_S", 0.05)
        monkeypatch.setattr("rag_core.llm.answer_stream._SILENT_S", 0.2)
        reply = start(stream(end="hang"))[0].stream_reply(ASK)
        events = reply.events("Writing")
        assert next(events) == Stage("generate", "Writing")
        assert next(event for event in events if event == Stage("generate", THINKING))
        begun = time.monotonic()
        events.close()
        reply.close()
        assert time.monotonic() - begun < 2

    @pytest.mark.parametrize(
        "first", [ONLY_REASONING, recorded(delta(reasoning="Let me see."), delta(content="42 [1]."), delta("stop"))]
    )
    def test_replies_have_more_tokens_once_the_model_has_reasoned(self, start: Start, first: Play) -> None:
        model, endpoint = start(first, complete("42 [1]."))
        assert read(model) == read(model) == "42 [1]."
        # A reply that is only reasoning is repeated at once.
        limits = [100, 400, 400] if first is ONLY_REASONING else [100, 400]
        assert [one["max_tokens"] for one in endpoint.requests] == limits

    def test_connection_test_leaves_room_for_reasoning(self, start: Start) -> None:
        text = recorded(delta(reasoning="Hm."), delta(content="one, "), delta(content="two"), delta("stop"), "[DONE]")
        model, _ = start(listing("m"), ONLY_REASONING, text)
        checks = {check.name: check for check in model.test_connection()}
        assert checks["Streaming"].passed
        assert "because the model reasons first" in checks["First text"].words

    def test_error_after_reasoning_only_says_what_to_raise(self, start: Start) -> None:
        model, endpoint = start(ONLY_REASONING)
        with pytest.raises(GeneratorUnavailable, match=r"4 times RAG_OPENAI_ANSWER_TOKENS=100 .* Raise it"):
            read(model)
        assert len(endpoint.requests) == 2

    def test_room_for_reasoning_fits_into_the_context(self, start: Start) -> None:
        model, endpoint = start(ONLY_REASONING, complete("42."), openai_context_tokens=512)
        assert read(model, [{"role": "user", "content": "word " * 200}]) == "42."
        assert 100 < endpoint.requests[-1]["max_tokens"] < 320


NO_LIMIT = {
    "message": "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
    **{"type": "invalid_request_error", "code": "unsupported_parameter"},
}
NO_HEAT = {
    "message": "Unsupported value: 'temperature' does not support 0. Only the default (1) is supported.",
    **{"type": "invalid_request_error", "code": "unsupported_value"},
}
LIMIT, HEAT = {"param": "max_tokens"}, {"param": "temperature"}
OLD_HEAT = {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model.", "code": None}


class TestRequest:
    @pytest.mark.parametrize(
        ("api", "path", "input_key", "expected"),
        [
            ("chat", "/v1/chat/completions", "messages", {"max_tokens": 100}),
            ("responses", "/v1/responses", "input", {"max_output_tokens": 100, "store": False}),
        ],
    )
    def test_contains_settings_and_passages(
        self, start: Start, api: str, path: str, input_key: str, expected: dict[str, object]
    ) -> None:
        model, endpoint = start(complete("Yes."), openai_api=api)
        answer(model)
        (request,) = endpoint.requests
        expected = {"model": "m", "temperature": 0.0, "stream": True} | expected
        assert {name: request[name] for name in expected} == expected
        assert [message["role"] for message in request[input_key]] == ["system", "user"]
        assert "$1,749 million" in request[input_key][1]["content"]
        assert endpoint.paths == [path]

    @pytest.mark.parametrize(
        ("api", "errors", "absent", "expected"),
        [
            ("chat", [(400, {"message": "extra field stream_options"})], {"stream_options"}, {}),
            ("chat", [(422, {"message": "extra field stream_options"})], {"stream_options"}, {}),
            (
                *("chat", [(400, NO_LIMIT | LIMIT), (400, NO_HEAT | HEAT)], {"max_tokens", "temperature"}),
                {"max_completion_tokens": 400},
            ),
            ("chat", [(400, NO_LIMIT)], {"max_tokens"}, {"max_completion_tokens": 400}),
            ("chat", [(400, NO_HEAT)], {"temperature"}, {"max_tokens": 100}),
            ("chat", [(400, OLD_HEAT)], {"temperature"}, {"max_tokens": 100}),
            ("responses", [(400, NO_HEAT | HEAT)], {"temperature"}, {"max_output_tokens": 400, "store": False}),
        ],
    )
    def test_rejected_options_are_omitted_from_then_on(
        self,
        start: Start,
        api: str,
        errors: list[tuple[int, dict[str, Any]]],
        absent: set[str],
        expected: dict[str, object],
    ) -> None:
        script = [refusing(code, {"error": error}) for code, error in errors]
        model, endpoint = start(*script, complete("Yes."), openai_api=api)
        assert read(model) == read(model) == "Yes."
        assert len(endpoint.requests) == len(errors) + 2
        for request in endpoint.requests[-2:]:
            assert not absent & request.keys()
            assert {name: request[name] for name in expected} == expected

    @pytest.mark.parametrize(
        ("api", "error"),
        [
            ("chat", {"message": "max_tokens is too large: 48"}),
            ("responses", {"message": "store must be true", "param": "store"}),
        ],
    )
    def test_required_options_are_not_omitted(self, start: Start, api: str, error: dict[str, str]) -> None:
        model, endpoint = start(failing(400, error), complete("Yes."), openai_api=api)
        with pytest.raises(GeneratorUnavailable, match=error["message"]):
            read(model)
        assert len(endpoint.requests) == 1


IN_9_SECONDS = "in 9 seconds"


class TestRetries:
    def test_pauses_grow(self, start: Start) -> None:
        model, endpoint = start(failing(503), failing(429), stream(), complete("Yes."), openai_retries=3)
        assert read(model) == "Yes."
        assert len(endpoint.requests) == 4
        for pause, longest in zip(start.pauses, (0.5, 1.0, 2.0), strict=True):
            assert longest / 2 <= pause <= longest

    @pytest.mark.parametrize(
        ("headers", "low", "high"),
        [
            ({"retry_after": "7"}, 7.0, 7.5),
            ({"retry_after": "2.5"}, 2.5, 3.0),
            ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5, 2.0),
            ({"retry_after": IN_9_SECONDS}, 5, 9.5),
            ({"retry_after": "soon"}, 0, 0.5),
        ],
        ids=["seconds", "fraction", "milliseconds", "time", "nonsense"],
    )
    def test_pause_is_what_the_endpoint_demands(
        self, start: Start, headers: dict[str, str], low: float, high: float
    ) -> None:
        if headers["retry_after"] == IN_9_SECONDS:
            headers = {"retry_after": format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True)}
        model, _ = start(failing(429, **headers), complete("Yes."), openai_retries=1)
        assert read(model) == "Yes."
        assert low <= start.pauses[0] <= high

    def test_pause_is_at_most_the_time_out(self, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("rag_core.llm.generator.BACKOFF_S", 60.0)
        read(start(failing(503), complete("Yes."), openai_retries=1, openai_timeout_s=20)[0])
        assert 10 <= start.pauses[0] <= 20

    def test_pause_is_shown_and_can_be_stopped(self, start: Start) -> None:
        model, endpoint = start(failing(429, retry_after="8"), complete("42."), openai_retries=1)
        reply = model.stream_reply(ASK)
        events = reply.events("Writing")
        assert next(event for event in events if event != Stage("generate", "Writing")) == Stage("generate", WAITING)
        events.close()
        reply.close()
        assert sum(start.pauses) < 8
        assert len(endpoint.requests) == 1

    @pytest.mark.parametrize(
        "script",
        [
            failing(401),
            failing(404),
            failing(429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}),
            failing(429, retry_after="600"),
            Exchange.hang,
            DROP_MIDWAY,
        ],
    )
    def test_permanent_failure_and_failure_after_text_are_not_retried(self, start: Start, script: Play) -> None:
        # The time-out must be long enough for the request to arrive on a busy machine.
        model, endpoint = start(script, complete("Yes."), openai_retries=3, openai_timeout_s=3.0)
        with pytest.raises(GeneratorError):
            read(model)
        assert len(endpoint.requests) == 1


FILTER_RESULT = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"jailbreak": {"filtered": True}}}
FILTERED = {"message": AZURE_FILTERED, "type": None, "param": "prompt", "code": "content_filter", "status": 400}
GOOGLE_ERROR = {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}
ACME = {"message": "Provider returned error", "metadata": {"raw": "no such voice", "provider_name": "Acme"}}
DISCONNECTED = delta("error", content="") | {"error": {"code": "server_error", "message": "Provider disconnected"}}
# Provider, reply, error and what it says.
ERRORS: list[tuple[str, Play, type[GeneratorError], str]] = [
    (
        *("Azure", refusing(400, {"error": {**FILTERED, "innererror": FILTER_RESULT}})),
        *(GeneratorUnavailable, r"content filter rejected .*Rephrase the question"),
    ),
    (
        *("Azure", recorded(delta(content="It is "), delta("content_filter"), "[DONE]")),
        *(GeneratorInterrupted, "content filter"),
    ),
    ("Google", refusing(400, [{"error": GOOGLE_ERROR}]), GeneratorUnavailable, "API key not valid"),
    (
        *("Google", recorded(delta("content_filter: PROHIBITED_CONTENT", content=""), "[DONE]")),
        *(GeneratorUnavailable, "content filter"),
    ),
    (
        *("OpenRouter", recorded(delta(content="It is "), DISCONNECTED, "[DONE]")),
        *(GeneratorInterrupted, "Provider disconnected"),
    ),
    (
        *("OpenRouter", recorded(delta(content="It is "), delta("error"), "[DONE]")),
        *(GeneratorInterrupted, "an error of the model's provider"),
    ),
    (
        *("OpenRouter", failing(402, {"code": 402, "message": "Insufficient credits. Add more."})),
        *(GeneratorRateLimited, "used up its quota"),
    ),
    (
        *("OpenRouter", failing(403, {"code": 403, "message": "Your input was flagged", "metadata": {}})),
        *(GeneratorUnavailable, "content filter"),
    ),
    (
        *("OpenRouter", failing(403, {"code": 403, "message": "No access to this model"})),
        *(GeneratorAuthError, "Set a valid key"),
    ),
    (
        *("OpenRouter", failing(400, {"code": 400, **ACME})),
        *(GeneratorUnavailable, r"Provider returned error \(Acme: no such voice\)"),
    ),
]


@pytest.mark.parametrize(("provider", "script", "kind", "words"), ERRORS)
def test_error_of_a_provider_is_explained(
    start: Start, provider: str, script: Play, kind: type[GeneratorError], words: str
) -> None:
    model, endpoint = start(script)
    with pytest.raises(kind, match=words):
        read(model)
    assert len(endpoint.requests) == 1


SAFE = {"hate": {"filtered": False, "severity": "safe"}}
COMMENT = ": OPENROUTER PROCESSING"
ROLE, FIRST, SECOND = delta(role="assistant", content=""), delta(content="42 "), delta(content="[1].")
CLAUDE_USAGE = {"id": "c", "choices": [], "usage": {"prompt_tokens": 21, "completion_tokens": 6, "total_tokens": 27}}
CHECKED = {"choices": [{"index": 0, "delta": {"content": "42 [1]."}, "content_filter_results": SAFE}]}
REPLIES: dict[str, list[Play]] = {
    "Azure": [recorded({"choices": [], "prompt_filter_results": [SAFE]}, CHECKED, delta("stop"), "[DONE]")],
    "Anthropic": [recorded(ROLE, FIRST, SECOND, delta("stop"), CLAUDE_USAGE, "[DONE]")],
    "Anthropic, overloaded": [
        recorded({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        complete("42 [1]."),
    ],
    "OpenRouter": [recorded(COMMENT, COMMENT, FIRST, COMMENT, SECOND, delta("stop"))],
    "OpenRouter, error before any text": [
        recorded(delta("error", content="") | {"error": {"code": 502, "message": "Provider returned error"}}),
        complete("42 [1]."),
    ],
}


@pytest.mark.parametrize(("provider", "script"), REPLIES.items())
def test_reply_of_a_provider_is_read(start: Start, provider: str, script: list[Play]) -> None:
    model, endpoint = start(*script, openai_retries=1)
    reply = model.stream_reply(ASK)
    assert "".join(reply) == "42 [1]."
    assert len(endpoint.requests) == len(script)
    assert provider != "Anthropic" or (reply.usage.input_tokens, reply.usage.output_tokens) == (21, 6)


ANTHROPIC = "https://api.anthropic.com/v1"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
AZURE = "https://NAME.openai.azure.com/openai/v1"
BEARER = {"Authorization": f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("typed", "url", "context", "headers"),
    [
        (f"{AZURE.removesuffix('/v1')}/deployments/gpt", AZURE, 128_000, BEARER | {"api-key": KEY}),
        (ANTHROPIC, ANTHROPIC, 200_000, {"x-api-key": KEY, "anthropic-version": "2023-06-01"}),
        *((f"{GOOGLE}{end}", GOOGLE, 1_000_000, BEARER) for end in ("", "/", "/chat/completions")),
    ],
)
def test_address_context_and_headers_of_a_provider(typed: str, url: str, context: int, headers: dict[str, str]) -> None:
    assert build_base_urls(typed) == (url,)
    assert find_known_context(url) == context
    assert build_list_headers(url, KEY) == headers


def test_list_of_anthropic_is_requested_without_the_other_header(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.llm.addresses._ANTHROPIC_HOST", "127.0.0.1")

    def guarded(exchange: Exchange) -> None:
        alone = exchange.headers["x-api-key"] == KEY and "Authorization" not in exchange.headers
        listing("claude")(exchange) if alone else exchange.error(401)

    model, endpoint = start(guarded)
    assert model.models() == ["claude"]
    assert find_base_url(endpoint.url, KEY) == endpoint.url
    endpoint.restart(complete("42."))
    read(model)
    assert endpoint.exchanges[0].headers["Authorization"] == f"Bearer {KEY}"
    assert endpoint.exchanges[0].headers["x-api-key"] is None


class TestTools:
    def test_calls_are_offered_and_returned(self, start: Start) -> None:
        model, endpoint = start(calling(("search", {"query": "budget"})), complete("42 [1]."))
        reply = model.stream_reply(ASK, tools=[SEARCH])
        assert list(reply) == []
        assert [(one.name, one.arguments) for one in reply.calls] == [("search", '{"query": "budget"}')]
        assert "tool_choice" not in endpoint.requests[0]
        reply = model.stream_reply(ASK, tools=[SEARCH])
        assert "".join(reply) == "42 [1]."
        assert reply.calls == ()

    def test_rejected_tools_are_not_offered_again(self, start: Start) -> None:
        model, endpoint = start(
            refusing(400, {"error": {"message": "registry.ollama.ai/library/m does not support tools"}}),
            complete("42."),
        )
        for _ in range(2):
            assert "".join(model.stream_reply(ASK, tools=[SEARCH])) == "42."
        assert ["tools" in one for one in endpoint.requests] == [True, False, False]


def test_images_are_parts_of_a_message(start: Start) -> None:
    model, endpoint = start(complete("A bridge."))
    reply = model.stream_reply([{"role": "user", "content": WITH_IMAGE}])
    assert "".join(reply) == "A bridge."
    assert endpoint.requests[0]["messages"][0]["content"] == WITH_IMAGE
    assert IMAGE_TOKENS < reply.usage.input_tokens < IMAGE_TOKENS + 50
    model, endpoint = start(complete("A bridge."), openai_api="responses")
    messages = [{"role": "user", "content": WITH_IMAGE}, {"role": "assistant", "content": WITH_IMAGE[:1]}]
    assert read(model, messages) == "A bridge."
    asked, answered = endpoint.requests[0]["input"]
    assert asked["content"] == [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": PNG},
    ]
    assert answered["content"] == [{"type": "output_text", "text": "What is this?"}]


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_answer_at_its_limit_can_be_continued(start: Start, api: str) -> None:
    reply = start(complete("It is ", finish="length"), openai_api=api)[0].stream_reply(ASK)
    assert "".join(reply) == "It is "
    assert reply.cut == "The answer ends at the limit of 100 tokens (RAG_OPENAI_ANSWER_TOKENS)."
    assert reply.notices == (reply.cut,)
