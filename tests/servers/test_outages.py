"""Frozen and killed servers: questions end in seconds, nothing is lost, and jobs end when the server is back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from rag_core.engine import Engine
from rag_core.errors import ServerUnavailable, StoreUnavailable
from rag_core.store.files import FileStore
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState
from tests.servers.conftest import ServerSettings
from tests.support.engines import (
    ASK_BUDGET,
    BUDGET,
    COPPER,
    PENGUINS,
    EmbeddingBarrier,
    assert_found,
    assert_in_agreement,
    before_call,
    indexed,
    opened,
    wait_until,
)
from tests.support.pdfs import make_pdf
from tests.support.store_servers import StoreServer

ALL = ("postgres", "chroma", "s3")
# No question may take longer while a server is away. Most of it is for the models on a busy machine: the waits for a
# server are shorter, and a wait without a limit is far longer.
LIMIT_S = 10.0


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if the block takes longer."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


@pytest.fixture
def engine(on_servers: ServerSettings, tmp_path: Path) -> Iterator[Engine]:
    """Return an engine with all stores on servers and one document."""
    with opened(tmp_path / "data", **on_servers.values(*ALL)) as engine:
        indexed(engine, "a.pdf", BUDGET)
        engine.load_search()
        yield engine
        for server in on_servers.servers.values():
            server.resume()


Outage = Callable[[StoreServer], None]
OUTAGES = [pytest.param(StoreServer.freeze, id="frozen"), pytest.param(StoreServer.kill, id="killed")]


@pytest.mark.parametrize("begin", OUTAGES)
def test_questions_are_answered_without_chroma(engine: Engine, on_servers: ServerSettings, begin: Outage) -> None:
    begin(on_servers.servers["chroma"])
    for _ in range(2):
        with within(LIMIT_S):
            answer = engine.answer(ASK_BUDGET)
        assert "42 million" in answer.text
        assert answer.notices[0].startswith("Only words were searched, because the vectors are not available.")
    on_servers.servers["chroma"].resume()
    wait_until(lambda: not engine.answer(ASK_BUDGET).notices)


@pytest.mark.parametrize("begin", OUTAGES)
def test_questions_end_with_an_error_without_database(
    engine: Engine, on_servers: ServerSettings, begin: Outage
) -> None:
    begin(on_servers.servers["postgres"])
    for _ in range(2):
        with (
            within(LIMIT_S),
            pytest.raises(ServerUnavailable, match=r"(?s)The database .* does not answer .*DATABASE_URL"),
        ):
            engine.answer(ASK_BUDGET)
    on_servers.servers["postgres"].resume()
    wait_until(lambda: can_answer(engine))
    assert_in_agreement(engine)


def can_answer(engine: Engine) -> bool:
    try:
        return "42 million" in engine.answer(ASK_BUDGET).text
    except ServerUnavailable:
        return False


@pytest.mark.parametrize("begin", OUTAGES)
def test_pages_say_why_they_cannot_be_shown_without_files(
    engine: Engine, on_servers: ServerSettings, begin: Outage
) -> None:
    (document,) = engine.documents.list()
    begin(on_servers.servers["s3"])
    with within(LIMIT_S):
        assert "42 million" in engine.answer(ASK_BUDGET).text
    with within(LIMIT_S), pytest.raises(ServerUnavailable, match=r"server of the files .* does not answer"):
        engine.documents.render_page(document.document_id, 0)
    with within(LIMIT_S), pytest.raises(ServerUnavailable, match="Nothing was lost"):
        engine.documents.submit("b.pdf", make_pdf(PENGUINS))


@pytest.mark.parametrize("name", ["postgres", "chroma", "s3"])
def test_engine_does_not_open_or_reports_the_problem_while_a_server_is_frozen(
    on_servers: ServerSettings, tmp_path: Path, name: str
) -> None:
    values = on_servers.values(name)
    with opened(tmp_path / "data", **values) as engine:
        indexed(engine, "a.pdf", BUDGET)
    on_servers.servers[name].freeze()
    with within(2 * LIMIT_S):
        try:
            with opened(tmp_path / "data", **values) as engine:
                problems = " ".join(engine.status().problems)
        except StoreUnavailable as error:
            problems = str(error)
    assert "does not answer" in problems


@pytest.mark.parametrize("begin", OUTAGES)
@pytest.mark.parametrize("name", ["postgres", "chroma"])
def test_job_waits_for_a_server_and_ends_when_it_returns(
    engine: Engine, on_servers: ServerSettings, barrier: EmbeddingBarrier, name: str, begin: Outage
) -> None:
    job = barrier.submit(engine, "b.pdf", PENGUINS)
    begin(on_servers.servers[name])
    barrier.release()
    if name != "postgres":
        wait_until(lambda: "Waiting for Chroma at 127.0.0.1" in engine.jobs.list()[0].reason)
        assert engine.jobs.list()[0].state is JobState.RUNNING
    else:
        time.sleep(3)
    on_servers.servers[name].resume()
    wait_until(lambda: has_ended(engine))
    (ended,) = engine.jobs.wait([job.job_id])
    assert (ended.result, ended.reason) == (DocumentStatus.INDEXED, "")
    assert_found(engine, budget=["a.pdf"], penguins=["b.pdf"])
    assert_in_agreement(engine)


def has_ended(engine: Engine) -> bool:
    try:
        return not engine.jobs.list(active=True)
    except ServerUnavailable:
        return False


def test_job_waits_for_the_files(engine: Engine, on_servers: ServerSettings) -> None:
    server = on_servers.servers["s3"]
    with before_call(FileStore, "local", server.freeze):
        job = engine.documents.submit("b.pdf", make_pdf(PENGUINS))
        wait_until(lambda: "Waiting" in engine.jobs.list()[0].reason)
    assert "Waiting for the server of the files at s3://" in engine.jobs.list()[0].reason
    server.resume()
    (ended,) = engine.jobs.wait([job.job_id])
    assert ended.result is DocumentStatus.INDEXED
    assert_found(engine, penguins=["b.pdf"])
    assert_in_agreement(engine)


def test_waiting_job_is_cancelled_and_reindexing_waits(
    engine: Engine, on_servers: ServerSettings, barrier: EmbeddingBarrier
) -> None:
    job = barrier.submit(engine, "b.pdf", PENGUINS)
    on_servers.servers["chroma"].freeze()
    barrier.release()
    wait_until(lambda: "Waiting for Chroma" in engine.jobs.list()[0].reason)
    engine.jobs.cancel(job.job_id)
    assert engine.jobs.wait([job.job_id])[0].state is JobState.CANCELLED
    rebuild = engine.index.rebuild(chunk_tokens=40)
    wait_until(lambda: "Waiting for Chroma" in engine.jobs.list()[0].reason)
    on_servers.servers["chroma"].resume()
    assert engine.jobs.wait([rebuild.job_id])[0].state is JobState.DONE
    assert_found(engine, budget=["a.pdf"], penguins=[])


@pytest.mark.parametrize("name", ["postgres", "chroma", "s3"])
def test_deletion_goes_on_when_the_server_returns(
    engine: Engine, on_servers: ServerSettings, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("rag_core.indexing.queue.REMOVE_EVERY_S", 0.0)
    deleted = indexed(engine, "gone.pdf", COPPER)
    on_servers.servers[name].freeze()
    with within(2 * LIMIT_S), pytest.raises(ServerUnavailable, match="does not answer"):
        engine.documents.delete([deleted])
    on_servers.servers[name].resume()
    if name == "postgres":
        # The database could not store that the document is to be deleted.
        wait_until(lambda: can_answer(engine))
        engine.documents.delete([deleted])
    wait_until(lambda: not engine._stores.documents.removals_in_progress())
    assert_found(engine, copper=[])
    assert_in_agreement(engine)


def test_long_statement_of_a_server_that_answers_is_not_ended(engine: Engine) -> None:
    with engine._stores.database.read() as connection:
        assert connection.execute(text("SELECT 1 FROM pg_sleep(3)")).scalar() == 1
