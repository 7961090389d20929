"""Footnote as a model of the Chat Completions API, for programs that support no other API.

`rag_core.api.responses` answers the same questions in the form of the Responses API.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from rag_core.answering.export import SOURCES_HEADING, export_answer
from rag_core.api.calls import Body, Call, Endpoint, EventStream, Stopped, encode_event
from rag_core.api.problems import build_problem
from rag_core.api.questions import iterate_until_stopped
from rag_core.errors import RequestError
from rag_core.store.database import now
from rag_core.types.answers import MARKER, Answer, AnswerState, Stage, build_citation_link, strip_markers
from rag_core.types.conversations import Message

MODEL = "footnote"
DONE = b"data: [DONE]\n\n"


class Part(BaseModel):
    """A part of a message; only text is understood."""

    type: Literal["text"]
    text: str


class ChatMessage(BaseModel):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[Part] | None = ""

    @property
    def text(self) -> str:
        parts = self.content or ""
        return parts if isinstance(parts, str) else "\n".join(one.text for one in parts)


class StreamOptions(BaseModel):
    """What a stream contains."""

    include_usage: bool = False


class Conversation(Body):
    """A conversation that ends with a question. Parameters of sampling have no effect."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    model: str
    stream: bool = False

    @property
    def turns(self) -> Sequence[ChatMessage]:
        """The messages, oldest first; there is at least one."""
        raise NotImplementedError


class Completion(Conversation):
    """A conversation in the form of Chat Completions."""

    messages: list[ChatMessage] = Field(min_length=1)
    stream_options: StreamOptions | None = None

    @property
    def turns(self) -> Sequence[ChatMessage]:
        return self.messages


def build_error_response(error: Exception) -> Response:
    """Return the reply that describes an error, in the form that clients of this API read."""
    problem = build_problem(error)
    details = {"message": problem["detail"], "type": problem["title"], "code": problem["code"], "param": None}
    return JSONResponse({"error": details}, problem["status"])


def _list_models(call: Call) -> dict[str, Any]:
    models = [{"id": name, "object": "model", "created": 0, "owned_by": MODEL} for name in _list_model_names(call)]
    return {"object": "list", "data": models}


def _list_model_names(call: Call) -> list[str]:
    """Return the names of the models: one for all documents, and one for each collection."""
    collections = dict.fromkeys(one.collection for one in call.library.list())
    return [MODEL, *(f"{MODEL}:{name}" for name in sorted(collections))]


def check_conversation(call: Call) -> None:
    """Raise `RequestError` if the model of a conversation does not exist, or its last message is not a question."""
    body: Conversation = call.body
    if body.model not in (names := _list_model_names(call)):
        raise RequestError(404, f"There is no model {body.model!r}. The models are {', '.join(names)}.")
    if body.turns[-1].role != "user":
        raise RequestError(422, "The last message is not a question. Send a message of the role “user” last.")


def answer_conversation(call: Call) -> Generator[Stage | Answer, None, None]:
    """Yield the stages of the answer to the last message, then the answer."""
    *earlier, last = call.body.turns
    instructions = [one.text for one in earlier if one.role in ("system", "developer")]
    history = [
        # Leave out the list of sources after an earlier answer.
        Message("", one.role, strip_markers(one.text.partition(SOURCES_HEADING)[0]), now())
        for one in earlier
        if one.role in ("user", "assistant")
    ]
    name = call.body.model.partition(":")[2]
    options: dict[str, Any] = {
        "collections": [name] if name else [],
        "history": history,
        "instructions": "\n".join(instructions),
    }
    with closing(iterate_until_stopped(call, call.library.ask(last.text, **options))) as events:
        for event in events:
            if isinstance(event, Stage | Answer):
                yield event


def read_conversation_answer(call: Call) -> Answer:
    """Return the answer to the last message."""
    return next(event for event in answer_conversation(call) if isinstance(event, Answer))


def stream_conversation_answer(
    call: Call,
    first: Sequence[bytes],
    write_answer: Callable[[Answer], Iterator[bytes]],
    encode_problem: Callable[[Exception], bytes],
) -> EventStream:
    """Return a stream that sends the text of the answer after its verification, since sent text cannot be corrected.

    Parameters
    ----------
    call : Call
    first : sequence of bytes
        The events before the answer.
    write_answer : callable
        Returns the events of the answer.
    encode_problem : callable
        Returns the last event of a stream without an answer, from the error.
    """

    def write() -> Generator[bytes, None, None]:
        try:
            yield from first
            for event in answer_conversation(call):
                # While the answer is written, comments keep the connection alive.
                yield from [b": working\n\n"] if isinstance(event, Stage) else write_answer(event)
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - the status is sent already, so the error becomes an event
            yield encode_problem(error)

    return EventStream(write(), call.stopping, encode_problem)


def write_content(call: Call, answer: Answer) -> str:
    """Return the text of an answer with its sources."""
    return export_answer(call.engine.models.settings, answer, call.application).rstrip()


def split_content(content: str) -> list[str]:
    """Return the pieces in which a text is streamed: its words with the white space before them."""
    return re.findall(r"\s*\S+", content)


def list_annotations(call: Call, answer: Answer, content: str) -> list[dict[str, Any]]:
    """Return the place of each cited marker in the text before the sources, with the link to the cited page.

    There are none for a refusal.
    """
    cited = {} if answer.state is AnswerState.ABSTAINED else {one.marker: one for one in answer.citations}
    return [
        {
            "start_index": found.start(),
            "end_index": found.end(),
            "title": f"{one.document}, {answer.find_cells(one.marker) or one.place}",
            "url": build_citation_link(call.application, one),
        }
        for found in MARKER.finditer(content.partition(SOURCES_HEADING)[0])
        if (one := cited.get(int(found[1])))
    ]


def _complete(call: Call) -> dict[str, Any] | Response:
    check_conversation(call)
    if call.body.stream:
        return _stream(call)
    answer = read_conversation_answer(call)
    content = write_content(call, answer)
    message = {"role": "assistant", "content": content, "refusal": None}
    choice = {"index": 0, "message": message | {"annotations": _list_nested_annotations(call, answer, content)}}
    head = _write_head("chat.completion", call.body.model)
    return {**head, "choices": [{**choice, "finish_reason": "stop", "logprobs": None}], "usage": _count_tokens(answer)}


def _stream(call: Call) -> EventStream:
    head = _write_head("chat.completion.chunk", call.body.model)
    options: StreamOptions | None = call.body.stream_options
    usage = {"usage": None} if options and options.include_usage else {}

    def write(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return encode_event("", {**head, "choices": [choice], **usage})

    def write_answer(answer: Answer) -> Iterator[bytes]:
        content = write_content(call, answer)
        for piece in split_content(content):
            yield write({"content": piece})
        yield write({"annotations": _list_nested_annotations(call, answer, content)}, "stop")
        if usage:
            yield encode_event("", {**head, "choices": [], "usage": _count_tokens(answer)})
        yield DONE

    first = write({"role": "assistant", "content": ""})
    return stream_conversation_answer(call, [first], write_answer, _encode_stream_error)


def _encode_stream_error(error: Exception) -> bytes:
    problem = build_problem(error)
    return encode_event("", {"error": {"message": problem["detail"], "code": problem["code"]}})


def _list_nested_annotations(call: Call, answer: Answer, content: str) -> list[dict[str, Any]]:
    return [{"type": "url_citation", "url_citation": one} for one in list_annotations(call, answer, content)]


def _write_head(kind: str, model: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def _count_tokens(answer: Answer) -> dict[str, int]:
    """Return the tokens that language models used for an answer; 0 for excerpts."""
    read, written = answer.usage.input_tokens, answer.usage.output_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


ENDPOINTS = (
    Endpoint("GET", "/models", "read", "List the models", _list_models),
    Endpoint("POST", "/chat/completions", "read", "Answer the last message", _complete, body=Completion),
)
