"""Snapshots: questions as of a date, re-indexing, deletion and crashes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from rag_core.engine import Engine
from rag_core.errors import QuestionError, SnapshotError
from rag_core.index.dense import DenseIndex
from rag_core.indexing.removal import Removal
from rag_core.store.documents import DocumentStore
from rag_core.store.schema import versions
from rag_core.types.conversations import Scope
from rag_core.types.jobs import JobState
from rag_core.types.local_time import get_today
from rag_core.types.retrieval import RetrievalConfig
from tests.support.engines import (
    ASK_BUDGET,
    BUDGET,
    PENGUINS,
    before_call,
    copy_folder,
    failing,
    idle,
    indexed,
    opened,
    read_by_older_parser,
    rebuild_index,
)
from tests.support.pdfs import make_pdf

LATER = BUDGET.replace("42 million", "57 million")


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


def replaced(engine: Engine) -> str:
    """Index a document, take the snapshot "first", and replace the document; return its id."""
    document_id = indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "birds.pdf", PENGUINS)
    engine.snapshots.create("first")
    assert indexed(engine, "bridge.pdf", LATER) == document_id
    return document_id


def figure(engine: Engine, as_of: str = "", question: str = ASK_BUDGET) -> str:
    """Return the figure in the answer, and check that no passage or citation has the other one."""
    answer = engine.answer(question, as_of=as_of)
    texts = [*(one.text for one in answer.passages), *(one.quote for one in answer.citations), answer.text]
    found = {number for number in ("42 million", "57 million") if any(number in text for text in texts)}
    assert len(found) <= 1
    return found.pop() if found else ""


def assert_consistent(engine: Engine, *, present: str = "57 million", first: str = "42 million") -> None:
    assert (figure(engine), figure(engine, "first")) == (present, first)
    status = engine.status()
    assert list(status.problems) == [], dict(status.stores)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The library with the snapshot "first"; tests must not change it."""
    with opened(tmp_path_factory.mktemp("snapshots") / "data") as engine:
        replaced(engine)
        yield engine


def test_question_as_of_a_snapshot_is_answered_from_its_content(library: Engine) -> None:
    assert_consistent(library)
    answer = library.answer(ASK_BUDGET, as_of="first")
    assert answer.as_of.startswith("first (")
    assert library.answer(ASK_BUDGET).as_of == ""
    passage = answer.passages[0]
    documents, document_id, version = library.documents, passage.document_id, {"version_id": passage.version_id}
    assert (
        documents.get(document_id, **version).version_id == passage.version_id != documents.get(document_id).version_id
    )
    assert documents.render_page(document_id, 0, highlights=[(0, 20)], **version).highlighted
    assert "42 million" in documents.page(document_id, 0, **version).text
    assert documents.content(document_id, **version) != documents.content(document_id)
    assert "42 million" in library.explain(ASK_BUDGET, as_of="first").passages[0].text
    assert library.explanations.token_matches(ASK_BUDGET, passage.chunk_id).matches
    summary = library.answer("Summarise bridge.pdf", as_of="first")
    assert "42 million" in summary.text
    assert "57 million" not in summary.text


@pytest.mark.parametrize("strategy", ["iterative", "themes"])
def test_strategy_that_reads_the_present_refuses_a_snapshot(library: Engine, strategy: str) -> None:
    with pytest.raises(QuestionError, match="reads the documents as they are now"):
        library.answer(ASK_BUDGET, as_of="first", configuration=RetrievalConfig(strategy=strategy))


def test_conversation_and_stored_answers_keep_the_snapshot(library: Engine) -> None:
    conversations = library.conversations
    conversation_id = conversations.create(Scope(as_of="first")).conversation_id
    answer = library.answer(ASK_BUDGET, as_of="first")
    conversations.add_message(conversation_id, "assistant", answer.text, answer)
    assert conversations.messages(conversation_id)[0].answer == answer
    assert conversations.get(conversation_id).scope.as_of == "first"
    conversations.set_scope(conversation_id, Scope())
    assert conversations.get(conversation_id).scope.as_of == ""


def test_two_snapshots_are_compared(library: Engine) -> None:
    compared = library.snapshot_comparisons.compare(ASK_BUDGET, "first", "")
    assert not compared.is_same
    for side, number in ((compared.first, "42"), (compared.second, "57")):
        assert [side.text[start:end] for start, end in side.own_words] == [number]
        [(chunk_id, spans)] = side.own_passages.items()
        passage = next(one for one in side.answer.passages if one.chunk_id == chunk_id)
        assert [passage.text[start:end] for start, end in spans] == [number]
    assert compared.second.as_of == ""
    assert library.snapshot_comparisons.compare(ASK_BUDGET, "first", "first").is_same


def test_snapshot_of_a_collection_leaves_out_other_documents(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET, collection="Bridges")
    indexed(engine, "birds.pdf", PENGUINS, collection="Birds")
    snapshot, job = engine.snapshots.create("  birds  only ", collection="Birds")
    assert (snapshot.name, snapshot.documents, snapshot.searchable, job) == ("birds only", 1, 1, None)
    for name in ("birds only", " birds  only "):
        assert {one.document for one in engine.search(ASK_BUDGET, as_of=name).passages} == {"birds.pdf"}
    with pytest.raises(SnapshotError, match="no searchable document in the collection 'Fish'"):
        engine.snapshots.create("fish", collection="Fish")


def test_date_stands_for_the_newest_snapshot_until_then(engine: Engine) -> None:
    replaced(engine)
    engine.snapshots.create("second")
    today = get_today()
    assert figure(engine, today.isoformat()) == "57 million"
    engine.snapshots.delete("second")
    assert figure(engine, today.isoformat()) == "42 million"
    with pytest.raises(SnapshotError, match=r"no snapshot of 01 January 2001 or before\. Snapshots: 'first'"):
        engine.search(ASK_BUDGET, as_of="2001-01-01")
    with pytest.raises(SnapshotError, match="No snapshot is named 'last week'"):
        engine.search(ASK_BUDGET, as_of="last week")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (" ", "is empty"),
        ("first", "exists already"),
        ("2026-03-31", "is a date"),
        ("x" * 1000, "has 1000 characters"),
    ],
)
def test_unusable_names_are_refused(engine: Engine, name: str, message: str) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    engine.snapshots.create("first")
    with pytest.raises(SnapshotError, match=message):
        engine.snapshots.create(name)
    with pytest.raises(SnapshotError, match="in the future"):
        engine.snapshots.create("tomorrow", as_of=get_today() + timedelta(days=2))
    assert [one.name for one in engine.snapshots.list()] == ["first"]


def test_snapshot_of_a_past_date_is_indexed_from_kept_files(engine: Engine) -> None:
    document_id = indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "bridge.pdf", LATER)
    with engine._stores.database.begin() as connection:
        is_former = (versions.c.document_id == document_id) & (versions.c.state == "replaced")
        connection.execute(update(versions).where(is_former).values(added_at=datetime(2025, 3, 1, tzinfo=UTC)))
    snapshot, job = engine.snapshots.create("spring", as_of=date(2025, 4, 1))
    assert snapshot.documents == 1
    assert job is not None
    assert engine.jobs.wait([job.job_id])[0].state is JobState.DONE
    assert [(one.searchable, one.superseded) for one in engine.snapshots.list()] == [(1, 1)]
    assert (figure(engine), figure(engine, "spring"), figure(engine, "2025-06-30")) == (
        *("57 million", "42 million", "42 million"),
    )
    with pytest.raises(SnapshotError, match="on or before 01 January 2024"):
        engine.snapshots.create("earlier", as_of=date(2024, 1, 1))


def test_deleted_snapshot_leaves_the_index_but_keeps_the_file(engine: Engine) -> None:
    document_id = replaced(engine)
    engine.snapshots.create("also first", as_of=None)
    assert len(engine.documents.versions(document_id)) == 2
    assert engine.documents.versions(document_id)[1].snapshots == ("first",)
    engine.snapshots.delete("first")
    assert engine.snapshots.list()[0].name == "also first"
    assert engine.status().stores["words"] == engine.status().counts["chunks"]
    assert [one.is_replaced for one in engine.documents.versions(document_id)] == [False, True]
    assert list(engine.status().problems) == []
    with pytest.raises(SnapshotError, match="No snapshot is named 'first'"):
        engine.snapshots.delete("first")


def test_deleted_document_leaves_all_snapshots(engine: Engine) -> None:
    document_id = replaced(engine)
    with failing(DenseIndex, "delete"), pytest.raises(Exception, match="disk is on fire"):
        engine.documents.delete([document_id])
    # The removal is not finished, but no search finds the text.
    assert figure(engine, "first") == ""
    engine.documents.delete([document_id])
    assert figure(engine, "first") == ""
    assert engine.snapshots.list()[0].documents == 1
    assert list(engine.status().problems) == []


def test_former_version_is_restored_once_or_removed_with_its_file(engine: Engine) -> None:
    document_id = replaced(engine)
    (former,) = engine.documents.versions(document_id)[1:]
    engine.jobs.wait([engine.documents.restore_version(former.version_id).job_id])
    assert_consistent(engine, present="42 million")
    assert engine.snapshots.list()[0].superseded == 0
    indexed(engine, "bridge.pdf", LATER)
    for one in engine.documents.versions(document_id)[1:]:
        engine.documents.remove_version(one.version_id)
    assert figure(engine, "first") == ""
    assert engine.snapshots.list()[0].documents == 1
    assert len(engine.documents.versions(document_id)) == 1
    assert engine.status().stores["files"] == 2
    assert list(engine.status().problems) == []


def test_reindex_and_a_replacement_during_it_keep_both_contents(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    engine.snapshots.create("first")
    with before_call(DocumentStore, "swap_generation", lambda: None):
        job = engine.index.rebuild(chunk_tokens=64)
        later = engine.documents.submit("bridge.pdf", make_pdf(LATER))
        engine.jobs.wait([job.job_id, later.job_id])
    idle(engine)
    assert rebuild_index(engine, chunk_tokens=96).state is JobState.DONE
    status = engine.status()
    assert status.built_with is not None
    assert status.built_with.chunk_tokens == 96
    assert (figure(engine), figure(engine, "first")) == ("57 million", "42 million")
    assert [(one.documents, one.searchable) for one in engine.snapshots.list()] == [(1, 1)]
    assert status.stores["words"] == status.stores["vectors"] == status.stores["database"]


def test_reindex_within_the_index_reads_snapshots_again(engine: Engine) -> None:
    document_id = replaced(engine)
    read_by_older_parser(engine, document_id)
    assert rebuild_index(engine).state is JobState.DONE
    idle(engine)
    assert_consistent(engine)
    rows = engine._stores.documents.find_versions(versions.c.document_id == document_id)
    assert sorted(row.state for row in rows) == ["full", "full"]
    assert len({row.extractor for row in rows}) == 1


def test_content_that_cannot_be_indexed_again_keeps_its_file(engine: Engine) -> None:
    document_id = replaced(engine)
    former = engine.documents.versions(document_id)[1]
    row = engine._stores.documents.version(former.version_id)
    assert row is not None
    good = engine._stores.files.get(row.sha256)
    with engine._stores.database.begin() as connection:
        # The pages must be read from the file, which is damaged.
        connection.execute(update(versions).where(versions.c.id == row.id).values(extractor="older"))
    engine._stores.files.delete(row.sha256)
    rebuild_index(engine, chunk_tokens=64)
    assert figure(engine) == "57 million"
    result = engine.search(ASK_BUDGET, as_of="first")
    assert result.notices[0].startswith("1 document is in the snapshot, but not in the index")
    assert {one.document for one in result.passages} == {"birds.pdf"}
    engine._stores.files.put(good)
    engine.jobs.wait([engine.snapshots.index_missing().job_id])
    assert (figure(engine), figure(engine, "first")) == ("57 million", "42 million")


def test_reindex_during_a_search_as_of_a_snapshot(engine: Engine) -> None:
    replaced(engine)
    with before_call(DenseIndex, "retrieve", lambda: rebuild_index(engine, chunk_tokens=64)):
        assert figure(engine, "first") == "42 million"


def test_snapshot_is_deleted_during_a_reindex(engine: Engine) -> None:
    replaced(engine)
    with before_call(DocumentStore, "swap_generation", lambda: engine.snapshots.delete("first")):
        rebuild_index(engine, chunk_tokens=64)
    idle(engine)
    assert figure(engine) == "57 million"
    assert engine.snapshots.list() == []
    status = engine.status()
    assert status.stores["words"] == status.counts["chunks"]


@pytest.mark.parametrize("step", ["retire_version", "clear_version"])
def test_crash_while_a_snapshot_keeps_or_loses_content(tmp_path: Path, step: str) -> None:
    copy = tmp_path / "copy"
    with opened(tmp_path / "data") as engine:
        if step == "retire_version":
            with before_call(Removal, step, copy_folder(tmp_path / "data", copy)):
                replaced(engine)
        else:
            replaced(engine)
            with before_call(Removal, step, copy_folder(tmp_path / "data", copy)):
                engine.snapshots.delete("first")
    with opened(copy) as engine:
        assert figure(engine) == "57 million"
        kept = [one.name for one in engine.snapshots.list()]
        assert kept == (["first"] if step == "retire_version" else [])
        if kept:
            assert figure(engine, "first") == "42 million"
        status = engine.status()
        assert list(status.problems) == []
        assert status.stores["words"] == status.counts["chunks"] + len(kept)


@pytest.mark.parametrize(
    ("zone", "day", "document_count"), [("America/Los_Angeles", 28, 1), ("Asia/Tokyo", 28, 0), ("UTC", 28, 0)]
)
def test_date_of_a_snapshot_is_a_day_of_the_time_zone_of_the_machine(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, zone: str, day: int, document_count: int
) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    with engine._stores.database.begin() as connection:
        connection.execute(update(versions).values(added_at=datetime(2025, 3, 1, 5, 30, tzinfo=UTC)))
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert engine.snapshots.create("today", as_of=get_today())[0].documents == 1
        if document_count:
            created, _ = engine.snapshots.create("spring", as_of=date(2025, 2, day))
            assert created.label == f"spring ({day} February 2025)"
        else:
            with pytest.raises(SnapshotError, match=f"on or before {day} February 2025"):
                engine.snapshots.create("spring", as_of=date(2025, 2, day))
    finally:
        monkeypatch.undo()
        time.tzset()
