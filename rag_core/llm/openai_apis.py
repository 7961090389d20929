"""Request fields and stream events of OpenAI's two APIs, Chat Completions and Responses.

The module imports no client library. It reads attributes by name and checks their types, since servers other than
OpenAI's omit fields or fill them differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rag_core.llm.message_parts import join_text
from rag_core.llm.tool_calls import CallPiece, Tool
from rag_core.settings import Settings

# With 0, the model writes the most probable words, which suits answers that repeat what documents say.
TEMPERATURE = 0.0
# Names of the field with the reasoning in a delta: the first in DeepSeek and earlier versions of vLLM, the second in
# vLLM and OpenRouter.
_REASONING_FIELDS = ("reasoning_content", "reasoning")
# Words of other servers for why a text ended, mapped to OpenAI's words.
_FINISHES = {
    "max_tokens": "length",
    "refusal": "content_filter",
    "insufficient_system_resource": "incomplete",
    "error": "",
}


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """The content of one event of a stream.

    Attributes
    ----------
    text, refusal : str
        The next piece of the answer, and the next piece of the text with which the model refuses to answer.
    finish : str
        Why the text ended: ``stop``, ``length`` (the token limit), ``content_filter``, ``incomplete``, or another word
        that the server uses for ``stop``. Empty before the end of the text.
    tokens : tuple[int, int], optional
        Input and output tokens of the whole request.
    failure : tuple[str, str], optional
        Code and message of an error.
    calls : tuple of CallPiece
        Pieces of the calls of tools.
    is_reasoning : bool
        Whether the event contains reasoning, or reports that the model reasons.
    """

    text: str = ""
    refusal: str = ""
    finish: str = ""
    tokens: tuple[int, int] | None = None
    failure: tuple[str, str] | None = None
    calls: tuple[CallPiece, ...] = ()
    is_reasoning: bool = False


class ChatCompletions:
    """``POST /chat/completions``, which nearly every server supports. `Responses` has the same methods."""

    name = "Chat Completions"

    def build_options(self, answer_tokens: int) -> dict[str, Any]:
        """Return the request's fields except model, messages and stream."""
        return {
            "max_tokens": answer_tokens,
            "temperature": TEMPERATURE,
            "stream_options": {"include_usage": True},
        }

    def load_resource(self, client: Any) -> Any:
        """Return the client's resource that sends requests; the first access is slow, since it imports modules."""
        return client.chat.completions

    def describe_tools(self, tools: Sequence[Tool]) -> list[dict[str, Any]]:
        """Return the value of the request's field ``tools``."""
        return [{"type": "function", "function": _describe_tool(one)} for one in tools]

    def constrain_reply(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the request's field that limits the reply to JSON that conforms to a schema."""
        return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}}

    def create(self, client: Any, model: str, messages: Sequence[dict[str, Any]], options: dict[str, Any]) -> Any:
        """Send the request, and return the stream of its events."""
        return self.load_resource(client).create(model=model, messages=list(messages), stream=True, **options)

    def parse_event(self, event: Any) -> StreamEvent:
        """Return the content of an event; empty if the event is unknown."""
        tokens = _read_token_counts(getattr(event, "usage", None), "prompt_tokens", "completion_tokens")
        choices = getattr(event, "choices", None)
        if not isinstance(choices, list) or not choices:
            return StreamEvent(tokens=tokens)
        delta, finish = getattr(choices[0], "delta", None), _read_string(choices[0], "finish_reason")
        content = getattr(delta, "content", None)
        return StreamEvent(
            text=_read_string(delta, "content") or _join_text_parts(content),
            refusal=_read_string(delta, "refusal"),
            # Google adds the reason: "content_filter: PROHIBITED_CONTENT".
            finish=_FINISHES.get(finish, finish.partition(":")[0]),
            tokens=tokens,
            failure=("", "an error of the model's provider") if finish == "error" else None,
            calls=_read_call_pieces(delta),
            is_reasoning=any(_read_string(delta, name) for name in _REASONING_FIELDS) or _has_thinking_part(content),
        )


class Responses:
    """``POST /responses``, OpenAI's newer API."""

    name = "Responses"

    def build_options(self, answer_tokens: int) -> dict[str, Any]:
        return {
            "max_output_tokens": answer_tokens,
            "temperature": TEMPERATURE,
            # By default, the provider would store the question and the passages.
            "store": False,
        }

    def load_resource(self, client: Any) -> Any:
        return client.responses

    def describe_tools(self, tools: Sequence[Tool]) -> list[dict[str, Any]]:
        return [{"type": "function", **_describe_tool(one)} for one in tools]

    def constrain_reply(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {"text": {"format": {"type": "json_schema", "name": "reply", "schema": schema}}}

    def create(self, client: Any, model: str, messages: Sequence[dict[str, Any]], options: dict[str, Any]) -> Any:
        items = [item for message in messages for item in _build_items(message)]
        return self.load_resource(client).create(model=model, input=items, stream=True, **options)

    def parse_event(self, event: Any) -> StreamEvent:
        kind = _read_string(event, "type")
        response = getattr(event, "response", None)
        tokens = _read_token_counts(getattr(response, "usage", None), "input_tokens", "output_tokens")
        match kind:
            case "response.output_text.delta":
                return StreamEvent(text=_read_string(event, "delta"))
            case "response.refusal.delta":
                return StreamEvent(refusal=_read_string(event, "delta"))
            case "response.output_item.done":
                return StreamEvent(calls=_read_call_item(event))
            case "response.output_item.added":
                return StreamEvent(is_reasoning=_read_string(getattr(event, "item", None), "type") == "reasoning")
            case "response.completed":
                return StreamEvent(finish="stop", tokens=tokens)
            case "response.incomplete":
                reason = _read_string(getattr(response, "incomplete_details", None), "reason")
                finish = {"max_output_tokens": "length", "content_filter": "content_filter"}.get(reason, "incomplete")
                return StreamEvent(finish=finish, tokens=tokens)
            case "response.failed":
                error = getattr(response, "error", None)
                return StreamEvent(tokens=tokens, failure=(_read_string(error, "code"), _read_string(error, "message")))
            case "error":
                return StreamEvent(failure=(_read_string(event, "code"), _read_string(event, "message")))
        return StreamEvent(is_reasoning=kind.startswith("response.reasoning"))


def _build_items(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a message as items of the Responses API, in which each call of a tool and each result is an item.

    Earlier answers of the model are lists of content parts, because some servers accept no other form.
    """
    if message["role"] == "tool":
        output = {"call_id": message["tool_call_id"], "output": message["content"]}
        return [{"type": "function_call_output", **output}]
    content = message["content"]
    if message["role"] != "assistant":
        return [{**message, "content": content if isinstance(content, str) else [_build_part(one) for one in content]}]
    part = {"type": "output_text", "text": join_text(content)}
    texts = [{"type": "message", "role": "assistant", "content": [part]}] if part["text"] else []
    calls = [
        {"type": "function_call", "call_id": one["id"], **one["function"]} for one in message.get("tool_calls", ())
    ]
    return [*texts, *calls]


def _build_part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": part["image_url"]["url"]}


def _describe_tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.schema}


def select_api(settings: Settings) -> ChatCompletions | Responses:
    """Return the API that the settings name."""
    return Responses() if settings.openai_api == "responses" else ChatCompletions()


def _read_call_pieces(delta: Any) -> tuple[CallPiece, ...]:
    found = getattr(delta, "tool_calls", None)
    pieces = []
    for position, one in enumerate(found if isinstance(found, list) else ()):
        function = getattr(one, "function", None)
        index = _read_count(one, "index")
        name, arguments = _read_string(function, "name"), _read_string(function, "arguments")
        pieces.append(CallPiece(position if index is None else index, _read_string(one, "id"), name, arguments))
    return tuple(pieces)


def _read_call_item(event: Any) -> tuple[CallPiece, ...]:
    item = getattr(event, "item", None)
    if _read_string(item, "type") != "function_call":
        return ()
    call_id, name, arguments = (_read_string(item, one) for one in ("call_id", "name", "arguments"))
    return (CallPiece(_read_count(event, "output_index") or 0, call_id, name, arguments),)


def _read_string(source: Any, name: str) -> str:
    value = getattr(source, name, None)
    return value if isinstance(value, str) else ""


def _join_text_parts(content: Any) -> str:
    """Return the joined text parts of a content list, without other parts such as the reasoning of Mistral's models."""
    parts = content if isinstance(content, list) else []
    texts = [one.get("text") for one in parts if isinstance(one, dict) and one.get("type") == "text"]
    return "".join(one for one in texts if isinstance(one, str))


def _has_thinking_part(content: Any) -> bool:
    return isinstance(content, list) and any(isinstance(one, dict) and one.get("type") == "thinking" for one in content)


def _read_token_counts(usage: Any, input_name: str, output_name: str) -> tuple[int, int] | None:
    read, written = _read_count(usage, input_name), _read_count(usage, output_name)
    return None if read is None or written is None else (read, written)


def _read_count(source: Any, name: str) -> int | None:
    value = getattr(source, name, None)
    # ``isinstance(value, int)`` would accept booleans.
    return value if type(value) is int and value >= 0 else None
