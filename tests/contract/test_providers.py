"""Replies of today's providers and servers, written after their documentation."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from rag_core.errors import (
    GeneratorAuthError,
    GeneratorInterrupted,
    GeneratorRateLimited,
    GeneratorUnavailable,
)
from rag_core.llm.addresses import build_base_urls, build_list_headers, find_base_url, find_known_context
from rag_core.llm.answer_stream import THINKING, WAITING
from rag_core.llm.generator import LanguageModel
from rag_core.llm.message_parts import IMAGE_TOKENS
from rag_core.llm.tool_calls import Tool
from rag_core.settings import Settings
from rag_core.types import Delta, Stage
from tests.support.servers import Exchange, Play, ScriptedEndpoint, calling, complete, listing

KEY = "sk-do-not-show-9b0d"
ASK = [{"role": "user", "content": "What is the budget?"}]
PNG = "data:image/png;base64,iVBORw0KGgo="
WITH_IMAGE = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": PNG}}]
AZURE_FILTERED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
SEARCH = Tool("search", "Search the documents.", {"query": "What to search for."}, ("query",))
Start = Callable[..., tuple[LanguageModel, ScriptedEndpoint]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start an endpoint with a script, and a model that asks it."""
    with ExitStack() as stack:

        def open_model(*script: Play, **changes: Any) -> tuple[LanguageModel, ScriptedEndpoint]:
            endpoint = stack.enter_context(ScriptedEndpoint(*script))
            values = {
                "openai_base_url": endpoint.url,
                "openai_model": "m",
                "openai_api_key": KEY,
                "openai_retries": 0,
                "openai_context_tokens": 32_000,
                "openai_answer_tokens": 100,
                "openai_timeout_s": 10.0,
            }
            model = LanguageModel(Settings(_env_file=None, **(values | changes)), sleep=pauses.append)
            stack.callback(model.close)
            return model, endpoint

        pauses: list[float] = []
        open_model.pauses = pauses  # type: ignore[attr-defined]
        yield open_model


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


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def refusing(code: int, body: Any, **headers: str) -> Play:
    return lambda exchange: exchange.error(code, body, content_type="application/json", **headers)


def read(model: LanguageModel, messages: list[dict[str, Any]] = ASK) -> str:
    return "".join(model.stream_reply(messages))


class TestReasoning:
    @pytest.mark.parametrize(
        "fields",
        [
            {"content": None, "reasoning_content": "Let me see."},
            {"content": "", "reasoning": "Let me see."},
            {"content": "", "reasoning": "Let me", "reasoning_details": [{"type": "reasoning.text", "text": "Let me"}]},
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}]},
            {"content": "<think>Let me see.</think>"},
        ],
        ids=["DeepSeek", "vLLM", "OpenRouter", "Mistral", "in the text"],
    )
    def test_reasoning_is_shown_as_thinking(self, start: Start, fields: dict[str, Any]) -> None:
        model, _ = start(recorded(delta(**fields), delta(content="42 [1]."), delta("stop"), "[DONE]"))
        model.warm_up()
        events = list(model.stream_reply(ASK).events("Writing"))
        assert Stage("generate", THINKING) in events
        assert events[-2:] == [Stage("generate", "Writing"), Delta("42 [1].")]
        assert [event for event in events if isinstance(event, Delta)] == [Delta("42 [1].")]

    def test_reasoning_items_of_responses(self, start: Start) -> None:
        item = {"id": "rs_1", "type": "reasoning", "summary": []}
        usage = {"input_tokens": 20, "output_tokens": 90, "output_tokens_details": {"reasoning_tokens": 64}}
        model, _ = start(
            recorded(
                {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}},
                {"type": "response.output_item.added", "output_index": 0, "item": item},
                {"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "delta": "**Looking**"},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "delta": "42 [1]."},
                {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "usage": usage}},
                named=True,
            ),
            openai_api="responses",
        )
        model.warm_up()
        stream = model.stream_reply(ASK)
        events = list(stream.events("Writing"))
        assert Stage("generate", THINKING) in events
        assert events[-1] == Delta("42 [1].")
        assert (stream.usage.input_tokens, stream.usage.output_tokens) == (20, 90)

    def test_long_silence_is_shown_as_thinking_and_can_be_stopped(
        self, start: Start, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("rag_core.llm.answer_stream.PAUSE_S", 0.05)
        monkeypatch.setattr("rag_core.llm.answer_stream._SILENT_S", 0.2)

        def silent(exchange: Exchange) -> None:
            exchange.start()
            exchange.hang()

        model, _ = start(silent)
        stream = model.stream_reply(ASK)
        events = stream.events("Writing")
        assert next(events) == Stage("generate", "Writing")
        assert next(event for event in events if event == Stage("generate", THINKING))
        begun = time.monotonic()
        events.close()
        stream.close()
        assert time.monotonic() - begun < 2

    def test_options_that_reasoning_models_reject_are_replaced(self, start: Start) -> None:
        limit = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        heat = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported."
        error = {"type": "invalid_request_error"}
        model, endpoint = start(
            refusing(
                400, {"error": {**error, "message": limit, "param": "max_tokens", "code": "unsupported_parameter"}}
            ),
            refusing(400, {"error": {**error, "message": heat, "param": "temperature", "code": "unsupported_value"}}),
            complete("42 [1]."),
        )
        assert read(model) == "42 [1]."
        assert endpoint.requests[-1]["max_completion_tokens"] == 400
        assert not {"max_tokens", "temperature"} & endpoint.requests[-1].keys()

    def test_responses_limit_has_room_for_reasoning(self, start: Start) -> None:
        message = "Unsupported parameter: 'temperature' is not supported with this model."
        error = {"message": message, "param": "temperature", "code": None}
        model, endpoint = start(refusing(400, {"error": error}), complete("42."), openai_api="responses")
        assert read(model) == "42."
        assert endpoint.requests[-1]["max_output_tokens"] == 400

    def test_reply_with_reasoning_only_is_repeated_with_more_tokens(self, start: Start) -> None:
        only = recorded(delta(reasoning_content="Let me see."), delta("length"), "[DONE]")
        model, endpoint = start(only, complete("42 [1]."))
        assert read(model) == "42 [1]."
        assert [one["max_tokens"] for one in endpoint.requests] == [100, 400]
        assert read(model) == "42 [1]."
        assert endpoint.requests[-1]["max_tokens"] == 400

    def test_replies_have_more_tokens_once_the_model_has_reasoned(self, start: Start) -> None:
        reasoned = recorded(delta(reasoning="Let me see."), delta(content="42 [1]."), delta("stop"), "[DONE]")
        model, endpoint = start(reasoned)
        assert read(model) == read(model) == "42 [1]."
        assert [one["max_tokens"] for one in endpoint.requests] == [100, 400]

    def test_connection_test_leaves_room_for_reasoning(self, start: Start) -> None:
        only = recorded(delta(reasoning="Let me see."), delta("length"), "[DONE]")
        text = recorded(delta(reasoning="Hm."), delta(content="one, "), delta(content="two"), delta("stop"), "[DONE]")
        model, _ = start(listing("m"), only, text)
        checks = {check.name: check for check in model.test_connection()}
        assert checks["Streaming"].passed
        assert "because the model reasons first" in checks["First text"].words

    def test_error_after_reasoning_only_says_what_to_raise(self, start: Start) -> None:
        model, endpoint = start(recorded(delta(reasoning_content="Let me see."), delta("length"), "[DONE]"))
        with pytest.raises(GeneratorUnavailable, match=r"4 times RAG_OPENAI_ANSWER_TOKENS=100 .* Raise it"):
            read(model)
        assert len(endpoint.requests) == 2

    def test_room_for_reasoning_fits_into_the_context(self, start: Start) -> None:
        only = recorded(delta(reasoning="Let me see."), delta("length"), "[DONE]")
        model, endpoint = start(only, complete("42."), openai_context_tokens=512)
        assert read(model, [{"role": "user", "content": "word " * 200}]) == "42."
        assert 100 < endpoint.requests[-1]["max_tokens"] < 320


class TestAzure:
    def test_chunks_with_results_of_the_filter_are_read(self, start: Start) -> None:
        safe = {"hate": {"filtered": False, "severity": "safe"}}
        checked = delta(content="42 [1].")
        checked["choices"][0]["content_filter_results"] = safe
        first = {"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": safe}]}
        model, endpoint = start(recorded(first, checked, delta("stop"), "[DONE]"))
        assert read(model) == "42 [1]."
        assert endpoint.requests[0]["model"] == "m"

    def test_filtered_prompt_is_explained(self, start: Start) -> None:
        inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"jailbreak": {"filtered": True}}}
        error = {"message": AZURE_FILTERED, "type": None, "param": "prompt", "code": "content_filter", "status": 400}
        model, endpoint = start(refusing(400, {"error": {**error, "innererror": inner}}))
        with pytest.raises(GeneratorUnavailable, match=r"content filter rejected .*Rephrase the question"):
            read(model)
        assert len(endpoint.requests) == 1

    def test_answer_filtered_midway_can_be_continued(self, start: Start) -> None:
        model, _ = start(recorded(delta(content="It is "), delta("content_filter"), "[DONE]"))
        with pytest.raises(GeneratorInterrupted, match="content filter"):
            read(model)

    def test_deployment_and_key_header(self, start: Start) -> None:
        (url,) = build_base_urls("https://NAME.openai.azure.com/openai/deployments/gpt")
        assert url == "https://NAME.openai.azure.com/openai/v1"
        assert build_list_headers(url, KEY) == {"Authorization": f"Bearer {KEY}", "api-key": KEY}
        assert find_known_context(url) == 128_000


class TestAnthropic:
    URL = "https://api.anthropic.com/v1"

    def test_list_of_models_gets_its_own_headers(self) -> None:
        assert build_list_headers(self.URL, KEY) == {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
        assert find_known_context(self.URL) == 200_000

    def test_list_of_models_is_requested_without_the_other_header(
        self, start: Start, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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

    def test_reply_is_read(self, start: Start) -> None:
        model, _ = start(
            recorded(
                delta(role="assistant", content=""),
                delta(content="42 "),
                delta(content="[1]."),
                delta("stop"),
                {"id": "c", "choices": [], "usage": {"prompt_tokens": 21, "completion_tokens": 6, "total_tokens": 27}},
                "[DONE]",
            )
        )
        stream = model.stream_reply(ASK)
        assert "".join(stream) == "42 [1]."
        assert (stream.usage.input_tokens, stream.usage.output_tokens) == (21, 6)

    def test_temperature_is_omitted_if_the_model_rejects_it(self, start: Start) -> None:
        error = {
            "type": "invalid_request_error",
            "message": "`temperature` is deprecated for this model.",
            "code": None,
        }
        model, endpoint = start(refusing(400, {"error": error}), complete("42."))
        assert read(model) == "42."
        assert "temperature" not in endpoint.requests[-1]

    def test_overload_within_the_stream_is_retried(self, start: Start) -> None:
        overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        model, endpoint = start(recorded(overloaded), complete("42."), openai_retries=1)
        assert read(model) == "42."
        assert len(endpoint.requests) == 2


class TestGoogle:
    URL = "https://generativelanguage.googleapis.com/v1beta/openai"

    def test_address_is_kept(self) -> None:
        for address in (self.URL, f"{self.URL}/", f"{self.URL}/chat/completions"):
            assert build_base_urls(address) == (self.URL,)
        assert find_known_context(self.URL) == 1_000_000

    def test_errors_in_a_list_are_read(self, start: Start) -> None:
        error = {
            "code": 400,
            "message": "API key not valid. Please pass a valid API key.",
            "status": "INVALID_ARGUMENT",
        }
        model, _ = start(refusing(400, [{"error": error}]))
        with pytest.raises(GeneratorUnavailable, match="API key not valid"):
            read(model)

    def test_reason_of_the_filter_is_understood(self, start: Start) -> None:
        model, _ = start(recorded(delta("content_filter: PROHIBITED_CONTENT", content=""), "[DONE]"))
        with pytest.raises(GeneratorUnavailable, match="content filter"):
            read(model)


class TestOpenRouter:
    def test_comments_are_skipped(self, start: Start) -> None:
        comment = ": OPENROUTER PROCESSING"
        model, _ = start(
            recorded(comment, comment, delta(content="42 "), comment, delta(content="[1]."), delta("stop"))
        )
        assert read(model) == "42 [1]."

    def test_error_object_midway_interrupts_the_answer(self, start: Start) -> None:
        failed = delta("error", content="") | {"error": {"code": "server_error", "message": "Provider disconnected"}}
        model, _ = start(recorded(delta(content="It is "), failed, "[DONE]"))
        with pytest.raises(GeneratorInterrupted, match="Provider disconnected"):
            read(model)

    def test_error_object_before_any_text_is_retried(self, start: Start) -> None:
        failed = delta("error", content="") | {"error": {"code": 502, "message": "Provider returned error"}}
        model, _ = start(recorded(failed), complete("42."), openai_retries=1)
        assert read(model) == "42."

    def test_end_by_an_error_without_an_object_is_no_complete_answer(self, start: Start) -> None:
        model, _ = start(recorded(delta(content="It is "), delta("error"), "[DONE]"))
        with pytest.raises(GeneratorInterrupted, match="an error of the model's provider"):
            read(model)

    @pytest.mark.parametrize(
        ("code", "error", "kind", "words"),
        [
            (402, {"message": "Insufficient credits. Add more."}, GeneratorRateLimited, "used up its quota"),
            (403, {"message": "Your input was flagged", "metadata": {}}, GeneratorUnavailable, "content filter"),
            (403, {"message": "No access to this model"}, GeneratorAuthError, "Set a valid key"),
            (
                400,
                {"message": "Provider returned error", "metadata": {"raw": "no such voice", "provider_name": "Acme"}},
                GeneratorUnavailable,
                r"Provider returned error \(Acme: no such voice\)",
            ),
        ],
    )
    def test_errors_are_explained(
        self, start: Start, code: int, error: dict[str, Any], kind: type[Exception], words: str
    ) -> None:
        model, _ = start(refusing(code, {"error": {"code": code, **error}}))
        with pytest.raises(kind, match=words):
            read(model)


class TestRateLimits:
    @pytest.mark.parametrize(
        ("headers", "low"),
        [
            ({"retry_after": "3"}, 3.0),
            ({"retry_after": "2.5"}, 2.5),
            ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5),
        ],
        ids=["seconds", "fraction", "milliseconds"],
    )
    def test_pause_is_what_the_endpoint_demands(self, start: Start, headers: dict[str, str], low: float) -> None:
        model, _ = start(refusing(429, {"error": {"message": "slow"}}, **headers), complete("42."), openai_retries=1)
        assert read(model) == "42."
        assert low <= start.pauses[0] <= low + 0.5  # type: ignore[attr-defined]

    def test_pause_is_shown_and_can_be_stopped(self, start: Start) -> None:
        limited = refusing(429, {"error": {"message": "slow"}}, retry_after="8")
        model, endpoint = start(limited, complete("42."), openai_retries=1)
        stream = model.stream_reply(ASK)
        events = stream.events("Writing")
        assert next(event for event in events if event != Stage("generate", "Writing")) == Stage("generate", WAITING)
        events.close()
        stream.close()
        assert sum(start.pauses) < 8  # type: ignore[attr-defined]
        assert len(endpoint.requests) == 1


class TestTools:
    def test_calls_are_offered_and_returned(self, start: Start) -> None:
        model, endpoint = start(calling(("search", {"query": "budget"})))
        stream = model.stream_reply(ASK, tools=[SEARCH])
        assert list(stream) == []
        assert [(one.name, one.arguments) for one in stream.calls] == [("search", '{"query": "budget"}')]
        assert "tool_choice" not in endpoint.requests[0]

    def test_answer_needs_no_call(self, start: Start) -> None:
        model, _ = start(complete("42 [1]."))
        stream = model.stream_reply(ASK, tools=[SEARCH])
        assert "".join(stream) == "42 [1]."
        assert stream.calls == ()

    def test_rejected_tools_are_not_offered_again(self, start: Start) -> None:
        model, endpoint = start(
            refusing(400, {"error": {"message": "registry.ollama.ai/library/m does not support tools"}}),
            complete("42."),
        )
        for _ in range(2):
            assert "".join(model.stream_reply(ASK, tools=[SEARCH])) == "42."
        assert ["tools" in one for one in endpoint.requests] == [True, False, False]


class TestImages:
    def test_chat_gets_the_parts(self, start: Start) -> None:
        model, endpoint = start(complete("A bridge."))
        stream = model.stream_reply([{"role": "user", "content": WITH_IMAGE}])
        assert "".join(stream) == "A bridge."
        assert endpoint.requests[0]["messages"][0]["content"] == WITH_IMAGE
        assert IMAGE_TOKENS < stream.usage.input_tokens < IMAGE_TOKENS + 50

    def test_responses_gets_its_own_parts(self, start: Start) -> None:
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
    model, _ = start(complete("It is ", finish="length"), openai_api=api)
    stream = model.stream_reply(ASK)
    assert "".join(stream) == "It is "
    assert stream.cut == "The answer ends at the limit of 100 tokens (RAG_OPENAI_ANSWER_TOKENS)."
    assert stream.notices == (stream.cut,)
