"""Footnote as a model of OpenAI's Responses API."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, Field
from starlette.responses import Response

from rag_core.api.calls import Call, Endpoint, encode_event
from rag_core.api.completions import (
    ChatMessage,
    Conversation,
    check_conversation,
    list_annotations,
    read_conversation_answer,
    split_content,
    stream_conversation_answer,
    write_content,
)
from rag_core.api.problems import build_problem
from rag_core.errors import RequestError
from rag_core.types.answers import Answer


class InputPart(BaseModel):
    """A part of a message; only text is understood."""

    type: Literal["input_text", "output_text"]
    text: str


class InputMessage(ChatMessage):
    """A message of a conversation."""

    type: Literal["message"] = "message"
    content: str | list[InputPart] = ""  # type: ignore[assignment] # other parts than those of chat completions


class NewResponse(Conversation):
    """A question, or a conversation that ends with one, in the form of Responses."""

    input: str | list[InputMessage] = Field(min_length=1)
    instructions: str | None = None
    previous_response_id: str | None = None
    conversation: Any = None

    @property
    def turns(self) -> Sequence[ChatMessage]:
        system = [ChatMessage(role="system", content=self.instructions)] if self.instructions else []
        messages = self.input if isinstance(self.input, list) else [ChatMessage(role="user", content=self.input)]
        return [*system, *messages]


def _respond(call: Call) -> dict[str, Any] | Response:
    body: NewResponse = call.body
    if body.previous_response_id or body.conversation:
        raise RequestError(
            422,
            "Responses are not kept, so previous_response_id and conversation cannot be used. Send the earlier "
            "messages in “input”.",
        )
    check_conversation(call)
    writer = _ResponseWriter(call)
    if not body.stream:
        return writer.complete(read_conversation_answer(call))
    first = [writer.encode_state("created"), writer.encode_state("in_progress")]
    return stream_conversation_answer(call, first, writer.write_answer, writer.encode_problem)


class _ResponseWriter:
    """Writes the response to a request, as a whole or as numbered events."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._message_id = f"msg_{uuid4().hex}"
        self._events = 0
        self._row: dict[str, Any] = {
            "id": f"resp_{uuid4().hex}",
            "object": "response",
            "created_at": int(time.time()),
            "model": call.body.model,
            "status": "in_progress",
            "output": [],
            "usage": None,
            "error": None,
            "incomplete_details": None,
            "instructions": call.body.instructions,
            "metadata": {},
            "parallel_tool_calls": False,
            "previous_response_id": None,
            "store": False,
            "text": {"format": {"type": "text"}},
            "tool_choice": "none",
            "tools": [],
        }

    def complete(self, answer: Answer) -> dict[str, Any]:
        """Complete the response with an answer, and return it."""
        text = write_content(self._call, answer)
        annotations = [{"type": "url_citation", **one} for one in list_annotations(self._call, answer, text)]
        message = self._write_message("completed", [_write_part(text, annotations)])
        used = answer.usage
        usage = {
            "input_tokens": used.input_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": used.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": used.input_tokens + used.output_tokens,
        }
        self._row |= {"status": "completed", "output": [message], "usage": usage}
        return self._row

    def write_answer(self, answer: Answer) -> Iterator[bytes]:
        """Yield the events of an answer."""
        (message,) = self.complete(answer)["output"]
        (part,) = message["content"]
        message_at: dict[str, Any] = {"output_index": 0}
        part_at: dict[str, Any] = {**message_at, "item_id": self._message_id, "content_index": 0}
        yield self._encode("output_item.added", **message_at, item=self._write_message("in_progress", []))
        yield self._encode("content_part.added", **part_at, part=_write_part("", []))
        for piece in split_content(part["text"]):
            yield self._encode("output_text.delta", **part_at, delta=piece, logprobs=[])
        for index, one in enumerate(part["annotations"]):
            yield self._encode("output_text.annotation.added", **part_at, annotation_index=index, annotation=one)
        yield self._encode("output_text.done", **part_at, text=part["text"], logprobs=[])
        yield self._encode("content_part.done", **part_at, part=part)
        yield self._encode("output_item.done", **message_at, item=message)
        yield self.encode_state("completed")

    def encode_problem(self, error: Exception) -> bytes:
        """Return the last event of a stream without an answer."""
        problem = {"code": "server_error", "message": build_problem(error)["detail"]}
        self._row |= {"status": "failed", "error": problem}
        return self.encode_state("failed")

    def encode_state(self, name: str) -> bytes:
        """Return the event ``response.NAME``, which contains the whole response."""
        return self._encode(name, response=self._row)

    def _encode(self, name: str, **values: Any) -> bytes:
        self._events += 1
        kind = f"response.{name}"
        return encode_event(kind, {"type": kind, "sequence_number": self._events - 1, **values})

    def _write_message(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self._message_id,
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": content,
        }


def _write_part(text: str, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


ENDPOINTS = (Endpoint("POST", "/responses", "read", "Answer the input", _respond, body=NewResponse),)
