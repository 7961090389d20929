"""What tests of the engine share: documents with a fact each, and ways to stop the work half-way."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_core.embedding.bundled import BundledEmbedder
from rag_core.engine import Engine
from rag_core.parsing import PdfParser
from rag_core.settings import Settings
from rag_core.types import DocumentStatus, Job
from tests.support.pdfs import make_pdf

BUDGET = "The budget of the Zanzibar bridge is 42 million euros. Building ends in June of next year."
PENGUINS = "A colony of emperor penguins on Snow Hill island holds four thousand pairs. They breed in winter."
COPPER = "The Atacama mine yields copper of ninety percent purity. Its smelter burns natural gas."
ASK_BUDGET = "What is the budget of the Zanzibar bridge?"
ASK_PENGUINS = "How many pairs of emperor penguins live on Snow Hill island?"
ASK_COPPER = "How pure is the copper of the Atacama mine?"


def settings_in(folder: Path, **values: Any) -> Settings:
    return Settings(data_dir=folder, _env_file=None, **values)


def opened(folder: Path, **values: Any) -> Engine:
    return Engine(settings_in(folder, **values))


def add_document(engine: Engine, name: str, data: bytes, **options: Any) -> Job:
    """Submit a file, and wait until it is indexed or refused."""
    return engine.jobs.wait([engine.documents.submit(name, data, **options).job_id])[0]


def page_text(engine: Engine, document_id: str, page_index: int) -> str:
    """Return the text of a page."""
    return engine.documents.page(document_id, page_index).text


def indexed(engine: Engine, name: str, *pages: str | Sequence[str], **options: Any) -> str:
    """Add a document that must become searchable; returns its id."""
    job = add_document(engine, name, make_pdf(*pages), **options)
    assert job.result is DocumentStatus.INDEXED, job
    assert job.document_id is not None
    return job.document_id


def names_found(engine: Engine, question: str, **options: Any) -> list[str]:
    """Names of the documents with a passage that passes the gate, best first, each once."""
    found = engine.search(question, **options)
    good = [one.document for one in found.passages if (one.scores["answerable"] or 0.0) >= found.gate.threshold]
    assert bool(good) == found.gate.answerable
    return list(dict.fromkeys(good))


def idle(engine: Engine) -> Sequence[Job]:
    """Wait until nothing is queued or running; returns what ended."""
    return engine.jobs.wait([job.job_id for job in engine.jobs.list(active=True, limit=1000)])


def assert_in_agreement(engine: Engine) -> None:
    """Every store holds the same chunks, and nothing that no document owns."""
    idle(engine)
    status = engine.status()
    assert list(status.problems) == [], dict(status.stores)
    chunks = sum(document.chunks for document in engine.documents.list())
    stores = dict(status.stores)
    assert (stores["database"], stores["words"], stores["vectors"]) == (chunks, chunks, chunks)
    assert stores["token vectors"] <= chunks
    assert stores["files"] <= len(engine.documents.list())
    assert status.counts["documents"] == len(engine.documents.list())


def emptied(engine: Engine) -> None:
    """Take everything out again that a test has put in."""
    idle(engine)
    engine.documents.delete([document.document_id for document in engine.documents.list()])
    for conversation in engine.conversations.list():
        engine.conversations.delete(conversation.conversation_id)
    engine.preferences.set_threshold(None)
    engine.preferences.set_top_k(None)


class Hold:
    """Keeps the embedding stage waiting before it makes vectors, once `on`; questions are not kept."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.reached = threading.Event()
        self._go = threading.Event()
        self._go.set()
        real = BundledEmbedder.embed

        def embed(embedder: BundledEmbedder, texts: Any, **how: Any) -> Any:
            if threading.current_thread().name.startswith("embedding"):
                self.reached.set()
                assert self._go.wait(60)
            return real(embedder, texts, **how)

        patch.setattr(BundledEmbedder, "embed", embed)

    def on(self) -> None:
        self.reached.clear()
        self._go.clear()

    def until_reached(self) -> None:
        assert self.reached.wait(60)

    def release(self) -> None:
        self._go.set()


@contextmanager
def before(owner: type, name: str, do: Callable[[], None]) -> Iterator[None]:
    """Do something once, just before a method is called for the first time."""
    real, done = getattr(owner, name), []

    def wrapped(self: Any, *args: Any, **options: Any) -> Any:
        if not done:
            done.append(True)
            do()
        return real(self, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, wrapped)
        yield
    assert done, f"{owner.__name__}.{name} was never called"


def copied(folder: Path, copy: Path) -> Callable[[], None]:
    """Copies a data folder as it lies there: what an end of the process at that moment leaves."""

    def copy_it() -> None:
        shutil.copytree(folder, copy)

    return copy_it


class HoldReading:
    """Keeps the reading stage waiting after the first page of a file."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.reached = threading.Event()
        self._go = threading.Event()
        real = PdfParser.parse

        def parse(parser: PdfParser, *args: Any, **options: Any) -> Any:
            for number, item in enumerate(real(parser, *args, **options)):
                yield item
                if number == 1:
                    self.reached.set()
                    assert self._go.wait(60)

        patch.setattr(PdfParser, "parse", parse)

    def until_reached(self) -> None:
        assert self.reached.wait(60)

    def release(self) -> None:
        self._go.set()


def broken(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail
