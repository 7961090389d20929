"""Collections of documents: search, moves, names and sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import CollectionError
from rag_core.types.answers import AnswerState
from rag_core.types.conversations import Scope
from rag_core.types.documents import DEFAULT_COLLECTION
from tests.support.engines import (
    ASK_BUDGET,
    ASK_PENGUINS,
    BUDGET,
    COPPER,
    PENGUINS,
    add_document,
    assert_in_agreement,
    indexed,
    names_found,
    opened,
)
from tests.support.pdfs import make_pdf


def collections_by_name(engine: Engine) -> dict[str, str]:
    return {document.name: document.collection for document in engine.documents.list()}


@pytest.fixture
def ids(engine: Engine) -> dict[str, str]:
    """Index a document in a collection and two in none; return their ids by name."""
    return {
        "bridge": indexed(engine, "bridge.pdf", BUDGET, collection="Works"),
        "birds": indexed(engine, "birds.pdf", PENGUINS),
        "mine": indexed(engine, "mine.pdf", COPPER),
    }


def test_only_the_chosen_collection_is_searched(engine: Engine, ids: dict[str, str]) -> None:
    assert names_found(engine, ASK_BUDGET, collections=["Works"]) == ["bridge.pdf"]
    assert names_found(engine, ASK_PENGUINS, collections=["Works"]) == []
    assert engine.answer(ASK_PENGUINS, collections=["Works"]).state is AnswerState.ABSTAINED
    assert {passage.document for passage in engine.explain(ASK_PENGUINS, collections=["Works"]).passages} == {
        "bridge.pdf"
    }


def test_chosen_documents_and_collections_are_combined(engine: Engine, ids: dict[str, str]) -> None:
    for question, name in ((ASK_BUDGET, "bridge.pdf"), (ASK_PENGUINS, "birds.pdf")):
        assert names_found(engine, question, documents=["birds.pdf"], collections=["Works"]) == [name]
    result = engine.search(ASK_BUDGET, documents=["birds.pdf"], collections=["Works"])
    assert {passage.document for passage in result.passages} == {"bridge.pdf", "birds.pdf"}


def test_moved_documents_are_found_in_their_new_collection(engine: Engine, ids: dict[str, str]) -> None:
    engine.collections.move_documents([ids["birds"], ids["mine"]], "  Animals\nand\tstones ")
    moved = dict.fromkeys(("birds.pdf", "mine.pdf"), "Animals and stones")
    assert collections_by_name(engine) == {"bridge.pdf": "Works"} | moved
    assert names_found(engine, ASK_PENGUINS, collections=["Animals and stones"]) == ["birds.pdf"]
    engine.collections.move_documents([ids["birds"]], DEFAULT_COLLECTION)
    assert names_found(engine, ASK_PENGUINS, collections=["Animals and stones"]) == []
    assert_in_agreement(engine)


def test_reindexed_document_stays_in_its_collection(engine: Engine, ids: dict[str, str]) -> None:
    engine.jobs.wait([engine.index.rebuild([ids["bridge"]]).job_id, engine.index.rebuild(chunk_tokens=64).job_id])
    add_document(engine, "bridge.pdf", make_pdf("The bridge is now of steel."), collection="Works")
    assert collections_by_name(engine)["bridge.pdf"] == "Works"
    assert len(engine.documents.list()) == 3


def test_names_are_unique_within_a_collection(engine: Engine, ids: dict[str, str]) -> None:
    other = make_pdf("Another text about a bridge of wood.")
    assert engine.documents.has_name_clash("bridge.pdf", other, collection="Works")
    assert not engine.documents.has_name_clash("bridge.pdf", other, collection="Plans")
    add_document(engine, "bridge.pdf", other, collection="Plans")
    assert sorted(document.collection for document in engine.documents.list() if document.name == "bridge.pdf") == [
        "Plans",
        "Works",
    ]


def test_move_that_would_duplicate_a_name_is_rejected(engine: Engine, ids: dict[str, str]) -> None:
    twin = indexed(engine, "bridge.pdf", "Another text about a bridge of wood.")
    with pytest.raises(CollectionError, match=r"bridge\.pdf .*'Works' twice"):
        engine.collections.move_documents([ids["birds"], twin], "Works")
    with pytest.raises(CollectionError, match="Nothing was moved"):
        engine.collections.move_documents([ids["bridge"], twin], "New")
    assert collections_by_name(engine)["birds.pdf"] == DEFAULT_COLLECTION
    assert engine.documents.get(ids["bridge"]).collection == "Works"
    # A document can be moved to its own collection.
    engine.collections.move_documents([ids["bridge"]], "Works")


@pytest.mark.parametrize("name", ["", " \n", "\u200b"])
def test_collection_needs_a_visible_name(engine: Engine, ids: dict[str, str], name: str) -> None:
    for call in (
        lambda: engine.collections.move_documents([ids["birds"]], name),
        lambda: engine.documents.submit("new.pdf", make_pdf("New."), collection=name),
        lambda: engine.watches.add("/", collection=name),
    ):
        with pytest.raises(CollectionError, match="needs a name"):
            call()
    assert len(engine.documents.list()) == 3


def test_empty_collection_raises_error(engine: Engine, ids: dict[str, str]) -> None:
    engine.documents.delete([ids["bridge"]])
    for call in (engine.search, engine.answer, engine.explain):
        with pytest.raises(CollectionError, match="No document is in a collection named 'Works'"):
            call(ASK_PENGUINS, collections=["Works"])


def test_scope_with_collections_survives_restart(tmp_path: Path) -> None:
    scopes = Scope(("d1",), ("Plans", "Works")), Scope(collections=("Works",))
    with opened(tmp_path / "data") as engine:
        first = engine.conversations.create(scopes[0]).conversation_id
        second = engine.conversations.create().conversation_id
        engine.conversations.set_scope(second, scopes[1])
    with opened(tmp_path / "data") as engine:
        stored = {conversation.conversation_id: conversation.scope for conversation in engine.conversations.list()}
        assert stored == {first: scopes[0], second: scopes[1]}
        engine.conversations.set_scope(first, Scope(("d2",)))
        assert engine.conversations.get(first).scope == Scope(("d2",))
        engine.conversations.delete(second)
        assert [conversation.conversation_id for conversation in engine.conversations.list()] == [first]


def test_collections_are_listed_with_their_sizes(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    assert engine.collections.list() == {}
    mine = indexed(engine, "mine.pdf", COPPER, collection="reports")
    indexed(engine, "birds.pdf", PENGUINS, collection="Annual")
    assert list(engine.collections.list().items()) == [("Annual", 1), ("reports", 1)]
    engine.collections.move_documents([mine], "Annual")
    assert engine.collections.list() == {"Annual": 2}
