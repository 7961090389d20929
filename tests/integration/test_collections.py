"""Collections: documents put together, and asked alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import CollectionError
from rag_core.types import DEFAULT_COLLECTION, AnswerState, Scope
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


def held(engine: Engine) -> dict[str, str]:
    return {one.name: one.collection for one in engine.documents.list()}


@pytest.fixture
def parted(engine: Engine) -> dict[str, str]:
    """A document in a collection and two in none; their ids by name."""
    return {
        "bridge": indexed(engine, "bridge.pdf", BUDGET, collection="Works"),
        "birds": indexed(engine, "birds.pdf", PENGUINS),
        "mine": indexed(engine, "mine.pdf", COPPER),
    }


def test_only_what_a_collection_holds_is_searched(engine: Engine, parted: dict[str, str]) -> None:
    assert names_found(engine, ASK_BUDGET, collections=["Works"]) == ["bridge.pdf"]
    assert names_found(engine, ASK_PENGUINS, collections=["Works"]) == []
    assert engine.answer(ASK_PENGUINS, collections=["Works"]).state is AnswerState.ABSTAINED
    assert {one.document for one in engine.explain(ASK_PENGUINS, collections=["Works"]).passages} == {"bridge.pdf"}


def test_documents_and_collections_add_up(engine: Engine, parted: dict[str, str]) -> None:
    for question, name in ((ASK_BUDGET, "bridge.pdf"), (ASK_PENGUINS, "birds.pdf")):
        assert names_found(engine, question, documents=["birds.pdf"], collections=["Works"]) == [name]
    found = engine.search(ASK_BUDGET, documents=["birds.pdf"], collections=["Works"])
    assert {one.document for one in found.passages} == {"bridge.pdf", "birds.pdf"}


def test_what_is_moved_is_found_where_it_is_now(engine: Engine, parted: dict[str, str]) -> None:
    engine.collections.move_documents([parted["birds"], parted["mine"]], "  Animals\nand\tstones ")
    assert held(engine) == {
        "bridge.pdf": "Works",
        "birds.pdf": "Animals and stones",
        "mine.pdf": "Animals and stones",
    }
    assert names_found(engine, ASK_PENGUINS, collections=["Animals and stones"]) == ["birds.pdf"]
    engine.collections.move_documents([parted["birds"]], DEFAULT_COLLECTION)
    assert names_found(engine, ASK_PENGUINS, collections=["Animals and stones"]) == []
    assert_in_agreement(engine)


def test_a_document_stays_in_its_collection_when_it_is_indexed_again(engine: Engine, parted: dict[str, str]) -> None:
    engine.jobs.wait([engine.index.rebuild([parted["bridge"]]).job_id, engine.index.rebuild(chunk_tokens=64).job_id])
    add_document(engine, "bridge.pdf", make_pdf("The bridge is now of steel."), collection="Works")
    assert held(engine)["bridge.pdf"] == "Works"
    assert len(engine.documents.list()) == 3


def test_a_name_is_free_in_another_collection(engine: Engine, parted: dict[str, str]) -> None:
    other = make_pdf("Another text about a bridge of wood.")
    assert engine.documents.has_name_clash("bridge.pdf", other, collection="Works")
    assert not engine.documents.has_name_clash("bridge.pdf", other, collection="Plans")
    add_document(engine, "bridge.pdf", other, collection="Plans")
    assert sorted(one.collection for one in engine.documents.list() if one.name == "bridge.pdf") == ["Plans", "Works"]


def test_nothing_is_moved_where_a_name_would_be_twice_in_a_collection(engine: Engine, parted: dict[str, str]) -> None:
    twin = indexed(engine, "bridge.pdf", "Another text about a bridge of wood.")
    with pytest.raises(CollectionError, match=r"bridge\.pdf .*'Works' twice"):
        engine.collections.move_documents([parted["birds"], twin], "Works")
    with pytest.raises(CollectionError, match="Nothing was moved"):
        engine.collections.move_documents([parted["bridge"], twin], "New")
    assert held(engine)["birds.pdf"] == DEFAULT_COLLECTION
    assert engine.documents.get(parted["bridge"]).collection == "Works"
    # Where it is already, it does not stand in its own way.
    engine.collections.move_documents([parted["bridge"]], "Works")


@pytest.mark.parametrize("name", ["", " \n", "\u200b"])
def test_a_collection_has_a_name_that_can_be_seen(engine: Engine, parted: dict[str, str], name: str) -> None:
    for call in (
        lambda: engine.collections.move_documents([parted["birds"]], name),
        lambda: engine.documents.submit("new.pdf", make_pdf("New."), collection=name),
        lambda: engine.watches.add("/", collection=name),
    ):
        with pytest.raises(CollectionError, match="needs a name"):
            call()
    assert len(engine.documents.list()) == 3


def test_a_collection_that_holds_nothing_is_told_and_not_taken_for_all(engine: Engine, parted: dict[str, str]) -> None:
    engine.documents.delete([parted["bridge"]])
    for call in (engine.search, engine.answer, engine.explain):
        with pytest.raises(CollectionError, match="No document is in a collection named 'Works'"):
            call(ASK_PENGUINS, collections=["Works"])


def test_a_conversation_keeps_its_collections_over_a_restart(tmp_path: Path) -> None:
    scope = Scope(("d1",), ("Plans", "Works"))
    with opened(tmp_path / "data") as engine:
        one = engine.conversations.create(scope).conversation_id
        other = engine.conversations.create().conversation_id
        engine.conversations.set_scope(other, Scope(collections=("Works",)))
    with opened(tmp_path / "data") as engine:
        assert {each.conversation_id: each.scope for each in engine.conversations.list()} == {
            one: scope,
            other: Scope(collections=("Works",)),
        }
        engine.conversations.set_scope(one, Scope(("d2",)))
        assert engine.conversations.get(one).scope == Scope(("d2",))
        engine.conversations.delete(other)
        assert [each.conversation_id for each in engine.conversations.list()] == [one]


def test_collections_are_listed_with_their_sizes(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    assert engine.collections.list() == {}
    mine = indexed(engine, "mine.pdf", COPPER, collection="reports")
    indexed(engine, "birds.pdf", PENGUINS, collection="Annual")
    assert list(engine.collections.list().items()) == [("Annual", 1), ("reports", 1)]
    engine.collections.move_documents([mine], "Annual")
    assert engine.collections.list() == {"Annual": 2}
