"""Small talk and questions about the library are answered without documents; other questions are not taken for such."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.types.answers import Answer, AnswerState, Delta
from tests.support.engines import ASK_BUDGET, LIBRARY, indexed, open_library, opened, scripted_engine
from tests.support.servers import ScriptedEndpoint, complete

PAGES = {"quarry rules.pdf": ["Slate is cut by hand.", "Cutters wear gloves.", "The quarry is closed on Sunday."]}
MODELS = {"none": None, "small": {}, "capable": {"openai_context_tokens": 32_000}}
REPLY = complete("It is 42 million euros [1].")


@contextmanager
def library(folder: Path, model: str) -> Iterator[tuple[Engine, ScriptedEndpoint | None]]:
    """Open a library of three documents, with a language model of a capability or with none."""
    values = MODELS[model]
    if values is None:
        with open_library(folder) as engine:
            yield engine, None
        return
    with scripted_engine(folder, REPLY, **values) as (engine, endpoint):
        for name, pages in LIBRARY.items():
            indexed(engine, name, *pages)
        yield engine, endpoint


@pytest.fixture(scope="module", params=list(MODELS))
def asked(request, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, ScriptedEndpoint | None]]:
    with library(tmp_path_factory.mktemp("library") / "data", request.param) as both:
        yield both


@pytest.mark.parametrize(
    ("question", "begins", "contains"),
    [
        ("Hello", "Hello. Ask a question about your documents", ""),
        ("Vielen Dank", "You are welcome.", ""),
        ("What can you do?", "I answer questions from your documents", "language model"),
        ("Which documents do you have?", "3 documents with 3 pages:", "- mine.pdf (1 page)"),
        ("Which documents do I have?", "3 documents with 3 pages:", "- mine.pdf (1 page)"),
        ("How many pages has bridge.pdf?", "bridge.pdf has 1 page.", ""),
        ("How many pages does the mine document have?", "mine.pdf has 1 page.", ""),
        ("What is the title of birds.pdf?", "No title was recognized in birds.pdf. It begins: “A colony of", ""),
    ],
)
def test_question_is_answered_without_documents_and_model(asked, question: str, begins: str, contains: str) -> None:
    engine, endpoint = asked
    calls = len(endpoint.requests) if endpoint else 0
    events = list(engine.ask(question))
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert answer.text.startswith(begins)
    assert contains in answer.text
    assert "".join(event.text for event in events if isinstance(event, Delta)) == answer.text
    assert (answer.state, answer.generator) == (AnswerState.ANSWERED, "extractive")
    assert (answer.passages, answer.citations, answer.usage.calls) == ((), (), 0)
    assert (len(endpoint.requests) if endpoint else 0) == calls


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("plain") / "data", {**LIBRARY, **PAGES}) as engine:
        yield engine


@pytest.mark.parametrize("question", ["How many pages has quarry rules.pdf?", "How long is quarry rules.pdf?"])
def test_pages_of_a_named_document_are_counted(plain: Engine, question: str) -> None:
    assert plain.answer(question).text == "quarry rules.pdf has 3 pages."
    [only] = [one.document_id for one in plain.documents.list() if one.name == "quarry rules.pdf"]
    assert plain.answer("How long is the document?", documents=[only]).text == "quarry rules.pdf has 3 pages."


def test_documents_of_the_scope_and_of_the_snapshot_are_listed(tmp_path: Path) -> None:
    with open_library(tmp_path / "data") as engine:
        engine.snapshots.create("first")
        indexed(engine, "later.pdf", "The ferry leaves at nine.")
        [bridge] = [one.document_id for one in engine.documents.list() if one.name == "bridge.pdf"]
        assert engine.answer("Which documents do you have?").text.startswith("4 documents with 4 pages:")
        assert "later.pdf" not in engine.answer("Which documents do you have?", as_of="first").text
        assert engine.answer("Which documents do you have?", documents=[bridge]).text.startswith("1 document with")


def test_long_list_of_documents_is_cut(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        assert engine.answer("Which documents do you have?").text.startswith("There are no documents yet.")
        for number in range(22):
            indexed(engine, f"note {number:02}.pdf", f"Note {number} is about ferry number {number}.")
        text = engine.answer("Which documents do you have?").text
        assert text.count("\n- note ") == 20
        assert text.endswith("- and 2 more, on the Documents page")


def test_thanks_after_an_answer_cost_no_call(tmp_path: Path) -> None:
    with library(tmp_path / "data", "capable") as (engine, endpoint):
        assert endpoint is not None
        conversation = engine.conversations.create().conversation_id
        engine.conversations.add_message(conversation, "user", ASK_BUDGET)
        answer = engine.answer(ASK_BUDGET)
        engine.conversations.add_message(conversation, "assistant", answer.text, answer)
        answer = engine.answer("Thanks!", history=engine.conversations.messages(conversation))
        assert (answer.text, answer.rewritten) == ("You are welcome.", "")
        assert len(endpoint.requests) == 1
