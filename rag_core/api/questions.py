"""Endpoints of questions, conversations, models and the state of the installation."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict
from typing import Any

from pydantic import Field
from starlette.responses import Response

from rag_core.api import json_rows
from rag_core.api.access import require_all_collections
from rag_core.api.calls import Body, Call, Endpoint, EventStream, Stopped, encode_event
from rag_core.api.documents import ListQuery, paginate
from rag_core.api.problems import build_problem
from rag_core.errors import RagError
from rag_core.types.answers import Answer, AskEvent, Delta, Marked, Restart, Rewritten, Stage, build_citation_link
from rag_core.types.conversations import Message
from rag_core.types.page_links import build_page_link
from rag_core.types.retrieval import SearchResult

EVENT_STREAM = "text/event-stream"


class Search(Body):
    """A question, and where to search."""

    question: str
    documents: list[str] = Field([], description="Names or ids; by default all documents.")
    collections: list[str] = Field([], description="Names of collections.")
    as_of: str = Field("", description="Name of a snapshot, or a date (YYYY-MM-DD).")
    top_k: int | None = Field(None, ge=1, le=1000)
    strategy: str = "plain"


class Ask(Search):
    """A question, where to search, and who writes the answer."""

    model: str | None = Field(None, description="A model of the endpoint, or `quotes` for none.")
    instructions: str = ""
    conversation_id: str | None = Field(
        None, description="The conversation that the question belongs to; it is read only."
    )


def _search(call: Call) -> dict[str, Any]:
    found = call.library.search(**dict(call.body))
    return build_result_row(call, json_rows.build_search_row(found, None), found)


def _ask(call: Call) -> dict[str, Any] | Response:
    if EVENT_STREAM in call.headers.get("accept", ""):
        return EventStream(_write_events(call), call.stopping, _encode_problem)
    return build_answer_row(call, read_answer(call, start_answer(call)))


def start_answer(call: Call) -> Generator[AskEvent, None, None]:
    """Return a generator that answers the question of a request, and yields the events of the answer."""
    options = dict(call.body)
    conversation_id = options.pop("conversation_id")
    history: list[Message] = []
    if conversation_id is not None:
        require_all_collections(call.caller, "Conversations need")
        history = list(call.engine.conversations.messages(conversation_id))
    return call.library.ask(**options, history=history)


def iterate_until_stopped(call: Call, events: Generator[AskEvent, None, None]) -> Generator[AskEvent, None, None]:
    """Yield events; close the iterator and raise `Stopped` if the call is stopping."""
    with closing(events):
        for event in events:
            if call.stopping.is_set():
                raise Stopped
            yield event


def read_answer(call: Call, events: Generator[AskEvent, None, None]) -> Answer:
    """Return the answer, which is the last event.

    Raises
    ------
    Stopped
        The call is stopping; ``events`` is closed.
    RagError
        The events end without an answer.
    """
    with closing(iterate_until_stopped(call, events)) as answering:
        for event in answering:
            if isinstance(event, Answer):
                return event
    raise RagError("The question ended without an answer. Ask it again.")


def _write_events(call: Call) -> Generator[bytes, None, None]:
    """Yield the events of an answer as server-sent events; the last one is the answer or a problem."""
    try:
        with closing(start_answer(call)) as events:
            for event in events:
                yield _write_event(call, event)
    except Exception as error:  # noqa: BLE001 - the status is sent already, so the error becomes an event
        yield _encode_problem(error)


def _encode_problem(error: Exception) -> bytes:
    return encode_event("problem", build_problem(error))


def _write_event(call: Call, event: AskEvent) -> bytes:
    if isinstance(event, Stage):
        return encode_event("stage", asdict(event))
    if isinstance(event, Delta):
        return encode_event("text", {"text": event.text})
    if isinstance(event, Marked):
        fields = ("start", "end", "mark", "mark_text", "source_value", "compared_rank")
        return encode_event("mark", {name: getattr(event.claim, name) for name in fields})
    if isinstance(event, Restart):
        return encode_event("restart", {"reason": event.reason})
    if isinstance(event, Rewritten):
        return encode_event("rewritten", {"question": event.text})
    if isinstance(event, SearchResult):
        row = json_rows.build_search_row(event, None)
        return encode_event("passages", build_result_row(call, row, event))
    return encode_event("answer", build_answer_row(call, event))


def build_answer_row(call: Call, answer: Answer) -> dict[str, Any]:
    """Return the row of an answer, with a link to the page of each passage and citation."""
    row = build_result_row(call, json_rows.build_answer_row(answer, None), answer)
    for name, citations in (("citations", answer.citations), ("more", answer.more)):
        row[name] = [
            {**one, "link": build_citation_link(call.application, citation)}
            for one, citation in zip(row[name], citations, strict=False)
        ]
    return row


def build_result_row(call: Call, row: dict[str, Any], result: SearchResult | Answer) -> dict[str, Any]:
    """Add links to the passages of ``row``, and return it.

    For a caller who sees only some collections, set scores to ``None``, since they depend on the other documents.
    """
    for one, passage in zip(row["passages"], result.passages, strict=True):
        place = passage.document_id, passage.page_index, passage.start
        one["link"] = build_page_link(call.application, *place, passage.text)
        if call.caller.collections:
            one["scores"] = dict.fromkeys(one["scores"])
            # Chunk ids would reveal the number of chunks in the whole library.
            one["chunk_id"] = None
    if call.caller.collections:
        row["gate"]["score"] = None
    return row


def _list_conversations(call: Call) -> dict[str, Any]:
    require_all_collections(call.caller, "Conversations need")
    found = call.engine.conversations.list()
    part, cursor = paginate(found, call.query, lambda one: (one.updated_at, one.conversation_id))
    return {"conversations": [json_rows.build_conversation_row(one) for one in part], "next_cursor": cursor}


def _get_conversation(call: Call) -> dict[str, Any]:
    require_all_collections(call.caller, "Conversations need")
    conversation_id = call.path["conversation_id"]
    conversation = call.engine.conversations.get(conversation_id)
    messages = [
        json_rows.build_message_row(one, build_answer_row(call, one.answer) if one.answer else None)
        for one in call.engine.conversations.messages(conversation_id)
    ]
    return {**json_rows.build_conversation_row(conversation), "messages": messages}


def _list_models(call: Call) -> dict[str, Any]:
    models = call.engine.models
    return {"models": models.list() if models.endpoint else [], "generator": models.generator}


def _get_status(call: Call) -> dict[str, Any]:
    require_all_collections(call.caller, "The state of the installation needs")
    return asdict(call.engine.status())


ENDPOINTS = (
    Endpoint("POST", "/search", "read", "Find passages for a question", _search, "SearchRow", body=Search),
    Endpoint(
        "POST",
        "/ask",
        "read",
        "Answer a question with citations, or refuse. With `Accept: text/event-stream`, the reply consists of the "
        "events stage, rewritten, passages, text, restart and, last, answer or problem",
        _ask,
        "AnswerRow",
        body=Ask,
        media_types=("application/json", EVENT_STREAM),
    ),
    Endpoint(
        "GET",
        "/conversations",
        "read",
        "List conversations, newest first",
        _list_conversations,
        "ConversationsRow",
        ListQuery,
    ),
    Endpoint(
        "GET", "/conversations/{conversation_id}", "read", "Read a conversation", _get_conversation, "MessagesRow"
    ),
    Endpoint("GET", "/models", "read", "List the language models", _list_models, "ModelsRow"),
    Endpoint("GET", "/status", "read", "Describe the state of the installation", _get_status, ""),
)
