"""Documents with one fact each, engines that contain them, and ways to pause or break the engine's work."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from rag_core.embedding.bundled import BundledEmbedder
from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable
from rag_core.index import RETRIEVERS
from rag_core.index.retriever import ChunkIndex
from rag_core.parsing.parser import DocumentParser
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.store.schema import versions
from rag_core.types.answers import Answer
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import Job
from tests.support.pdfs import make_pdf
from tests.support.servers import Play, ScriptedEndpoint

BUDGET = "The budget of the Zanzibar bridge is 42 million euros. Building ends in June of next year."
PENGUINS = "A colony of emperor penguins on Snow Hill island holds four thousand pairs. They breed in winter."
COPPER = "The Atacama mine yields copper of ninety percent purity. Its smelter burns natural gas."
LONG = " ".join(
    f"Clause {number} binds the tenant of house {number} to pay the rent in advance." for number in range(20)
)
ASK_BUDGET = "What is the budget of the Zanzibar bridge?"
ASK_PENGUINS = "How many pairs of emperor penguins live on Snow Hill island?"
ASK_COPPER = "How pure is the copper of the Atacama mine?"
QUESTIONS = {"budget": ASK_BUDGET, "penguins": ASK_PENGUINS, "copper": ASK_COPPER}
LIBRARY = {"bridge.pdf": [BUDGET], "birds.pdf": [PENGUINS], "mine.pdf": [COPPER]}
# The retrievers of an index without an encoder besides the embedder, and the names of their scores.
USUAL_RETRIEVERS = tuple(one for one in RETRIEVERS if one.reads != "encoding")
USUAL_SCORES = tuple(one.score.name for one in USUAL_RETRIEVERS)


def settings_in(folder: Path, **values: Any) -> Settings:
    return Settings(data_dir=folder, _env_file=None, **values)


def opened(folder: Path, **values: Any) -> Engine:
    return Engine(settings_in(folder, **values))


def built_chunk_tokens(engine: Engine) -> int:
    built_with = engine.status().built_with
    assert built_with is not None
    return built_with.chunk_tokens


def open_index(stores: Stores, name: str, generation: int) -> ChunkIndex:
    """Return the index of a retriever for a generation."""
    return next(index for one, index in stores.open_indexes(generation) if one.score.name == name)


@contextmanager
def open_library(
    folder: Path, documents: Mapping[str, Sequence[str | Sequence[str]]] = LIBRARY, **values: Any
) -> Iterator[Engine]:
    """Open an engine and index documents, given as their pages by name."""
    with opened(folder, **values) as engine:
        for name, pages in documents.items():
            indexed(engine, name, *pages)
        yield engine


@contextmanager
def scripted_engine(folder: Path, *script: Play, **values: Any) -> Iterator[tuple[Engine, ScriptedEndpoint]]:
    """Open an engine whose language model is an endpoint that plays a script."""
    model = {"openai_model": "scripted", "openai_api_key": "k", "openai_retries": 0}
    with (
        ScriptedEndpoint(*script) as endpoint,
        opened(folder, **({"openai_base_url": endpoint.url} | model | values)) as engine,
    ):
        yield engine, endpoint


def add_document(engine: Engine, name: str, data: bytes, **options: Any) -> Job:
    """Submit a file and wait until it is indexed or rejected."""
    return engine.jobs.wait([engine.documents.submit(name, data, **options).job_id])[0]


def page_text(engine: Engine, document_id: str, page_index: int) -> str:
    """Return the text of a page."""
    return engine.documents.page(document_id, page_index).text


def indexed(engine: Engine, name: str, *pages: str | Sequence[str], **options: Any) -> str:
    """Index a document; return its id."""
    job = add_document(engine, name, make_pdf(*pages), **options)
    assert job.result is DocumentStatus.INDEXED, job
    assert job.document_id is not None
    return job.document_id


def retry_document(engine: Engine, document_id: str, **options: Any) -> Job:
    """Retry a document and wait for the job to end."""
    return engine.jobs.wait([engine.documents.retry(document_id, **options).job_id])[0]


def rebuild_index(engine: Engine, *args: Any, **options: Any) -> Job:
    """Re-index and wait for the job to end."""
    return engine.jobs.wait([engine.index.rebuild(*args, **options).job_id])[0]


def read_by_older_parser(engine: Engine, *document_ids: str) -> None:
    """Mark the documents and the index as read by an older version of the parser."""
    with engine._stores.database.begin() as connection:
        for document_id in document_ids:
            connection.execute(
                update(versions).where(versions.c.document_id == document_id).values(extractor="pypdfium2 4, layout 1")
            )
    generation_id, _ = engine._stores.documents.generations("active")[-1]
    engine._stores.documents.set_generation_parser(generation_id, "pypdfium2 4, layout 1")


def store_answer(engine: Engine, answer: Answer) -> Answer | None:
    """Add an answer to a new conversation; return the stored answer."""
    conversation_id = engine.conversations.create().conversation_id
    engine.conversations.add_message(conversation_id, "assistant", answer.text, answer)
    return engine.conversations.messages(conversation_id)[0].answer


def names_found(engine: Engine, question: str, **options: Any) -> list[str]:
    """Return the names of the documents with a passage that passes the gate, best first, without duplicates."""
    result = engine.search(question, **options)
    threshold = result.gate.threshold
    names = [passage.document for passage in result.passages if (passage.scores["answerable"] or 0.0) >= threshold]
    assert bool(names) == result.gate.answerable
    return list(dict.fromkeys(names))


def assert_found(engine: Engine, **expected: list[str]) -> None:
    """Compare the documents found for the question about each topic with the expected names."""
    assert {topic: names_found(engine, QUESTIONS[topic]) for topic in expected} == expected


def idle(engine: Engine) -> Sequence[Job]:
    """Wait until no job is queued or running; return the jobs that ended."""
    return engine.jobs.wait([job.job_id for job in engine.jobs.list(active=True, limit=1000)])


def wait_until(condition: Callable[[], bool], timeout_s: float = 30.0) -> None:
    """Wait for something that happens in the background; fail after ``timeout_s``."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def assert_stores_agree(engine: Engine) -> None:
    """Check that the stores contain the same chunks, only of documents; settings may differ from the index."""
    idle(engine)
    status = engine.status()
    assert [problem for problem in status.problems if "other settings" not in problem] == [], dict(status.stores)
    chunks = sum(document.chunks for document in engine.documents.list())
    stores = dict(status.stores)
    assert (stores["database"], stores["words"], stores["vectors"]) == (chunks, chunks, chunks)
    assert stores["token vectors"] <= chunks
    assert stores["files"] <= sum(len(engine.documents.versions(one.document_id)) for one in engine.documents.list())


def assert_in_agreement(engine: Engine) -> None:
    """Check that the stores contain the same chunks, only of documents, and that no problem is reported."""
    assert_stores_agree(engine)
    status = engine.status()
    assert list(status.problems) == [], dict(status.stores)
    assert status.counts["documents"] == len(engine.documents.list())


def emptied(engine: Engine) -> None:
    """Remove all documents, conversations and preferences."""
    idle(engine)
    engine.documents.delete([document.document_id for document in engine.documents.list()])
    for conversation in engine.conversations.list():
        engine.conversations.delete(conversation.conversation_id)
    engine.preferences.set_threshold(None)
    engine.preferences.set_top_k(None)


class Barrier:
    """Blocks threads at a point of the work until it is released."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._released = threading.Event()

    def block(self) -> None:
        self._reached.clear()
        self._released.clear()

    def release(self) -> None:
        self._released.set()

    def wait(self) -> None:
        """Wait for the release; the work calls this."""
        self._reached.set()
        assert self._released.wait(60)

    def wait_until_reached(self) -> None:
        assert self._reached.wait(60)

    def submit(self, engine: Engine, name: str, *pages: str | Sequence[str]) -> Job:
        """Submit a document and wait until its work is blocked."""
        self.block()
        job = engine.documents.submit(name, make_pdf(*pages))
        self.wait_until_reached()
        return job

    def rebuild(self, engine: Engine, *args: Any, **options: Any) -> Job:
        """Start to re-index and wait until the work is blocked."""
        self.block()
        job = engine.index.rebuild(*args, **options)
        self.wait_until_reached()
        return job


class EmbeddingBarrier(Barrier):
    """Blocks the embedding stage before it computes vectors; questions are not blocked."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.release()
        embed = BundledEmbedder.embed

        def blocked(embedder: BundledEmbedder, texts: Any, **options: Any) -> Any:
            if threading.current_thread().name.startswith("embedding"):
                self.wait()
            return embed(embedder, texts, **options)

        patch.setattr(BundledEmbedder, "embed", blocked)


class ReadingBarrier(Barrier):
    """Blocks the reading stage after the first pages of a file."""

    def __init__(self, patch: pytest.MonkeyPatch, pages: int = 1) -> None:
        super().__init__()
        parse = DocumentParser.parse

        def blocked(parser: DocumentParser, *args: Any, **options: Any) -> Any:
            for number, item in enumerate(parse(parser, *args, **options)):
                yield item
                if number == pages:
                    self.wait()

        patch.setattr(DocumentParser, "parse", blocked)


@contextmanager
def before_call(owner: type, name: str, action: Callable[[], object]) -> Iterator[None]:
    """Run an action once, just before the first call of a method."""
    method, calls = getattr(owner, name), []

    def wrapped(self: Any, *args: Any, **options: Any) -> Any:
        if not calls:
            calls.append(name)
            action()
        return method(self, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, wrapped)
        yield
    assert calls, f"{owner.__name__}.{name} was never called"


def copy_folder(folder: Path, copy: Path) -> Callable[[], object]:
    """Return an action that copies a data folder in its current state, as an abrupt end of the process leaves it."""
    return lambda: shutil.copytree(folder, copy)


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@contextmanager
def failing(owner: type, *names: str) -> Iterator[None]:
    """Let methods of a store fail."""
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.setattr(owner, name, raising(StoreUnavailable("The disk is on fire.")))
        yield


@contextmanager
def failing_once(owner: type, name: str, *, calls: int = 1, threads: tuple[str, ...] = ("",)) -> Iterator[None]:
    """Let the first calls of a method fail, in threads whose names start with one of the given texts."""
    method, failed = getattr(owner, name), []

    def fail(*args: Any, **options: Any) -> Any:
        if len(failed) < calls and threading.current_thread().name.startswith(threads):
            failed.append(name)
            raise StoreUnavailable("The disk is on fire.")
        return method(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, fail)
        yield
    assert len(failed) == calls


def run_in_threads(*actions: Callable[[], object]) -> None:
    """Run actions at the same time and wait for all of them."""
    threads = [threading.Thread(target=action) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def close_at_each_event(start: Callable[[], Iterator[Any]], number: int) -> None:
    """Start a stream several times, and close it after 0, 1, ... events."""
    for count in range(number):
        stream = start()
        for _ in range(count):
            next(stream)
        stream.close()  # type: ignore[attr-defined]


def assert_cited(engine: Engine, answer: Answer) -> None:
    """Check that each citation quotes its page and refers to a passage of the answer."""
    ranks = {one.rank: one for one in answer.passages}
    assert sorted(ranks) == list(range(1, len(ranks) + 1))
    for one in answer.citations:
        assert page_text(engine, one.document_id, one.page_index)[one.start : one.end] == one.quote
        assert f"[{one.marker}]" in answer.text
        assert (ranks[one.marker].chunk_id, ranks[one.marker].document) == (one.chunk_id, one.document)
