"""The order of files that wait: short ones do not wait for long ones, and versions keep their order."""

from __future__ import annotations

import pytest

from rag_core.engine import Engine
from rag_core.indexing import embedding_stage, parsing_stage
from rag_core.store.documents import DocumentStore
from rag_core.store.files import compute_sha256
from tests.support.engines import (
    BUDGET,
    PENGUINS,
    EmbeddingBarrier,
    ReadingBarrier,
    assert_found,
    assert_in_agreement,
    wait_until,
)
from tests.support.pdfs import make_pdf

# Words that compress badly, so that the file is much larger than one of a single sentence.
LARGE = [" ".join(compute_sha256(b"%d %d" % (page, word))[:12] for word in range(100)) for page in range(12)]


@pytest.fixture
def reading_barrier(monkeypatch: pytest.MonkeyPatch) -> ReadingBarrier:
    return ReadingBarrier(monkeypatch)


@pytest.fixture
def read_order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of files, in the order in which their texts become searchable."""
    names: list[str] = []
    publish_words = DocumentStore.publish_words

    def record(store: DocumentStore, version_id: str) -> None:
        row = store.version(version_id)
        names.append(row.name if row else "")
        publish_words(store, version_id)

    monkeypatch.setattr(DocumentStore, "publish_words", record)
    monkeypatch.setattr(parsing_stage, "REPORT_EVERY_S", 0.0)
    return names


def test_small_file_is_read_between_the_pages_of_a_large_one(
    engine: Engine, reading_barrier: ReadingBarrier, read_order: list[str]
) -> None:
    jobs = [reading_barrier.submit(engine, "large.pdf", *LARGE)]
    jobs += [engine.documents.submit("alike.pdf", make_pdf(*LARGE[:8]))]
    jobs += [engine.documents.submit("small.pdf", make_pdf(PENGUINS))]
    reading_barrier.release()
    engine.jobs.wait([job.job_id for job in jobs])
    assert read_order == ["small.pdf", "large.pdf", "alike.pdf"]
    assert_found(engine, penguins=["small.pdf"])
    assert_in_agreement(engine)


def test_small_file_is_ready_before_a_large_one_that_is_embedded(
    engine: Engine, barrier: EmbeddingBarrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_stage, "TEXTS_PER_CALL", 1)
    large = barrier.submit(engine, "large.pdf", *LARGE)
    small = engine.documents.submit("small.pdf", make_pdf(PENGUINS))
    wait_until(lambda: len(engine._indexer._pipeline.chunked._tasks) == 1)
    barrier.release()
    engine.jobs.wait([small.job_id])
    assert [job.job_id for job in engine.jobs.list(active=True)] == [large.job_id]
    engine.jobs.wait([large.job_id])
    assert_in_agreement(engine)


def test_later_version_of_a_document_does_not_overtake_it(
    engine: Engine, reading_barrier: ReadingBarrier, read_order: list[str]
) -> None:
    first = reading_barrier.submit(engine, "report.pdf", *LARGE)
    second = engine.documents.submit("report.pdf", make_pdf(PENGUINS))
    reading_barrier.release()
    engine.jobs.wait([first.job_id, second.job_id])
    assert len(read_order) == 2
    (document,) = engine.documents.list()
    assert engine.documents.content(document.document_id) == make_pdf(PENGUINS)


def test_versions_of_a_small_file_keep_their_order(
    engine: Engine, reading_barrier: ReadingBarrier, read_order: list[str]
) -> None:
    jobs = [reading_barrier.submit(engine, "large.pdf", *LARGE)]
    jobs += [engine.documents.submit("small.pdf", make_pdf(*[f"{PENGUINS} {page}" for page in range(3)]))]
    jobs += [engine.documents.submit("small.pdf", make_pdf(BUDGET))]
    reading_barrier.release()
    engine.jobs.wait([job.job_id for job in jobs])
    (document,) = (one for one in engine.documents.list() if one.name == "small.pdf")
    assert engine.documents.content(document.document_id) == make_pdf(BUDGET)
