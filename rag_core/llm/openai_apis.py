"""Where the two protocols of OpenAI differ: the fields of a request, and the events of its stream.

Free of any client library: both are given the client and look at what comes out of it by name, for
servers of other makes leave fields out or fill them with something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rag_core.settings import Settings


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """What one event of a stream tells.

    Attributes
    ----------
    text, refusal : str
        The next piece of the answer, or of the words with which the model declines to give one.
    finish : str
        Why the text ended, empty while it goes on: ``stop``, ``length`` (the answer's limit),
        ``content_filter``, ``incomplete``, or a server's own word for ``stop``.
    tokens : tuple[int, int], optional
        Input and output tokens of the whole request.
    failure : tuple[str, str], optional
        Code and message of an error.
    """

    text: str = ""
    refusal: str = ""
    finish: str = ""
    tokens: tuple[int, int] | None = None
    failure: tuple[str, str] | None = None


class EndpointApi(Protocol):
    """One of the protocols. ``name`` is what people call it."""

    name: str

    def options(self, settings: Settings) -> dict[str, Any]:
        """The request's fields beyond model, messages and stream."""

    def resource(self, client: Any) -> Any:
        """The part of the client that sends the request; a second's imports, the first time."""

    def create(self, client: Any, model: str, messages: Sequence[dict[str, str]], options: dict[str, Any]) -> Any:
        """Send the request; returns the stream of its events."""

    def read(self, event: Any) -> StreamEvent:
        """What an event tells; nothing, where it is of no known shape."""


class ChatCompletions:
    """``POST /chat/completions``: what nearly every server speaks."""

    name = "Chat Completions"

    def options(self, settings: Settings) -> dict[str, Any]:
        return {
            "max_tokens": settings.openai_answer_tokens,
            "temperature": settings.openai_temperature,
            "stream_options": {"include_usage": True},
        }

    def resource(self, client: Any) -> Any:
        return client.chat.completions

    def create(self, client: Any, model: str, messages: Sequence[dict[str, str]], options: dict[str, Any]) -> Any:
        return self.resource(client).create(model=model, messages=list(messages), stream=True, **options)

    def read(self, event: Any) -> StreamEvent:
        tokens = _tokens(getattr(event, "usage", None), "prompt_tokens", "completion_tokens")
        choices = getattr(event, "choices", None)
        if not isinstance(choices, list) or not choices:
            return StreamEvent(tokens=tokens)
        delta = getattr(choices[0], "delta", None)
        return StreamEvent(
            text=_text(delta, "content") or _parts(getattr(delta, "content", None)),
            refusal=_text(delta, "refusal"),
            finish=_text(choices[0], "finish_reason"),
            tokens=tokens,
        )


class Responses:
    """``POST /responses``, OpenAI's newer protocol."""

    name = "Responses"

    def options(self, settings: Settings) -> dict[str, Any]:
        return {
            "max_output_tokens": settings.openai_answer_tokens,
            "temperature": settings.openai_temperature,
            # Otherwise the provider keeps question and passages.
            "store": False,
        }

    def resource(self, client: Any) -> Any:
        return client.responses

    def create(self, client: Any, model: str, messages: Sequence[dict[str, str]], options: dict[str, Any]) -> Any:
        return self.resource(client).create(model=model, input=[*map(_item, messages)], stream=True, **options)

    def read(self, event: Any) -> StreamEvent:
        kind = _text(event, "type")
        response = getattr(event, "response", None)
        tokens = _tokens(getattr(response, "usage", None), "input_tokens", "output_tokens")
        match kind:
            case "response.output_text.delta":
                return StreamEvent(text=_text(event, "delta"))
            case "response.refusal.delta":
                return StreamEvent(refusal=_text(event, "delta"))
            case "response.completed":
                return StreamEvent(finish="stop", tokens=tokens)
            case "response.incomplete":
                reason = _text(getattr(response, "incomplete_details", None), "reason")
                finish = {"max_output_tokens": "length", "content_filter": "content_filter"}.get(reason, "incomplete")
                return StreamEvent(finish=finish, tokens=tokens)
            case "response.failed":
                error = getattr(response, "error", None)
                return StreamEvent(tokens=tokens, failure=(_text(error, "code"), _text(error, "message")))
            case "error":
                return StreamEvent(failure=(_text(event, "code"), _text(event, "message")))
        return StreamEvent()


def _item(message: dict[str, str]) -> dict[str, Any]:
    """A message as an item of the Responses API; some servers take what a model said only in parts."""
    if message["role"] != "assistant":
        return dict(message)
    said = {"type": "output_text", "text": message["content"]}
    return {"type": "message", "role": "assistant", "content": [said]}


def api_of(settings: Settings) -> EndpointApi:
    """The protocol that the settings name."""
    return Responses() if settings.openai_api == "responses" else ChatCompletions()


def _text(holder: Any, name: str) -> str:
    value = getattr(holder, name, None)
    return value if isinstance(value, str) else ""


def _parts(content: Any) -> str:
    """The text of content in parts, of which others are thoughts, as Mistral's models send it."""
    parts = content if isinstance(content, list) else []
    said = [one.get("text") for one in parts if isinstance(one, dict) and one.get("type") == "text"]
    return "".join(one for one in said if isinstance(one, str))


def _tokens(usage: Any, input_name: str, output_name: str) -> tuple[int, int] | None:
    read, written = _amount(usage, input_name), _amount(usage, output_name)
    return None if read is None or written is None else (read, written)


def _amount(holder: Any, name: str) -> int | None:
    value = getattr(holder, name, None)
    # Not `isinstance`: true is an int for it, and no number of tokens.
    return value if type(value) is int and value >= 0 else None
