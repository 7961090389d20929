"""The library agrees with a dict after any sequence of operations on documents."""

from __future__ import annotations

import functools
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from rag_core.embedding import load_embedder
from rag_core.engine import Engine
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState
from tests.support.engines import add_document, assert_in_agreement, emptied, opened
from tests.support.pdfs import make_pdf

WORDS = ["zarquon", "blimfark", "quxolite", "vornadine"]
NAMES = st.sampled_from(["a.pdf", "b.pdf", "c.pdf"])
CONTENTS = st.sampled_from(range(len(WORDS)))
PDFS = [make_pdf(f"The {word} ledger lists forty entries for the year.") for word in WORDS]


@dataclass
class Expected:
    """A document: its names, of which the first is listed, and the word of its content."""

    names: list[str]
    word: str


class Library(RuleBasedStateMachine):
    """``expected`` maps each document id to the document."""

    folder: Path
    engine: Engine

    @initialize()
    def begin(self) -> None:
        emptied(type(self).engine)
        self.expected: dict[str, Expected] = {}

    def find(self, name: str) -> Expected | None:
        return next((one for one in self.expected.values() if name in one.names), None)

    def has(self, content: int) -> bool:
        return any(one.word == WORDS[content] for one in self.expected.values())

    def store(self, name: str, content: int, document_id: str) -> None:
        """Give a name new content; a document with other names keeps its content under them."""
        former = self.find(name)
        if former and len(former.names) > 1:
            former.names.remove(name)
        self.expected[document_id] = Expected([name], WORDS[content])

    @rule(name=NAMES, content=CONTENTS)
    def add(self, name: str, content: int) -> None:
        former = self.find(name)
        job = add_document(type(self).engine, name, PDFS[content])
        if former is None and self.has(content):
            assert job.result is DocumentStatus.DUPLICATE
            self.expected[str(job.document_id)].names.append(name)
        elif former is None or former.word != WORDS[content]:
            assert job.result is DocumentStatus.INDEXED
            self.store(name, content, str(job.document_id))
        else:
            # If another document has the same content, the file may be indexed again.
            holders = sum(one.word == WORDS[content] for one in self.expected.values())
            assert job.result is DocumentStatus.DUPLICATE or (job.result is DocumentStatus.INDEXED and holders > 1)
            if job.result is DocumentStatus.INDEXED:
                self.store(name, content, str(job.document_id))

    @rule(name=NAMES, contents=st.lists(CONTENTS, min_size=2, max_size=3, unique=True))
    def replace_in_quick_succession(self, name: str, contents: list[int]) -> None:
        engine = type(self).engine
        fresh = [content for content in contents if not self.has(content)]
        jobs = engine.jobs.wait([engine.documents.submit(name, PDFS[content]).job_id for content in fresh])
        if fresh:
            self.store(name, fresh[-1], str(jobs[-1].document_id))

    @rule(name=NAMES)
    def try_to_replace_by_invalid_file(self, name: str) -> None:
        engine = type(self).engine
        former = self.find(name)
        job = add_document(engine, name, b"no pdf")
        assert job.result is DocumentStatus.REJECTED
        if former is None or len(former.names) > 1:
            engine.documents.delete([str(job.document_id)])
        if former and len(former.names) > 1:
            former.names.remove(name)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        engine = type(self).engine
        if self.find(name):
            (document_id,) = engine.documents.find_ids([name])
            (receipt,) = engine.documents.delete([document_id])
            assert (receipt.chunks_removed, receipt.chunks_remaining) == (1, 0)
            del self.expected[document_id]

    @rule(name=NAMES)
    def reindex_one(self, name: str) -> None:
        engine = type(self).engine
        if self.find(name):
            job = engine.jobs.wait([engine.index.rebuild(engine.documents.find_ids([name])).job_id])[0]
            assert job.state is JobState.DONE
            assert job.details["embeddings_computed"] == 0

    @rule(chunk_tokens=st.sampled_from([None, 200, 64]))
    def reindex_all(self, chunk_tokens: int | None) -> None:
        engine = type(self).engine
        job = engine.jobs.wait([engine.index.rebuild(chunk_tokens=chunk_tokens).job_id])[0]
        assert job.state is JobState.DONE
        assert job.details["embeddings_computed"] == 0
        if chunk_tokens == 64:
            engine.jobs.wait([engine.index.rebuild().job_id])

    @rule()
    def close_and_open(self) -> None:
        type(self).engine.close()
        type(self).engine = opened(type(self).folder)

    @invariant()
    def library_agrees_with_dict(self) -> None:
        if not hasattr(self, "expected"):
            return
        engine = type(self).engine
        # A document whose first name was given to other content is indexed again.
        engine.jobs.wait([job.job_id for job in engine.jobs.list(active=True)])
        listed = {document.name: document.status for document in engine.documents.list()}
        assert listed == dict.fromkeys((one.names[0] for one in self.expected.values()), DocumentStatus.INDEXED)
        words = {one.word for one in self.expected.values()}
        for word in WORDS:
            passages = engine.search(f"What does the {word} ledger list?", top_k=50).passages
            matching = [passage.document for passage in passages if word in passage.text]
            # A search shows one of several documents with the same content.
            assert len(matching) == (word in words)
            assert set(matching) <= {one.names[0] for one in self.expected.values() if one.word == word}
            assert len(passages) == len(words)
        assert_in_agreement(engine)


@pytest.mark.usefixtures("_models_are_loaded_once")
def test_library_agrees_with_a_dict() -> None:
    Library.folder = Path(tempfile.mkdtemp()) / "data"
    Library.engine = opened(Library.folder)
    try:
        run_state_machine_as_test(Library, settings=settings(max_examples=8, stateful_step_count=7, deadline=None))
    finally:
        Library.engine.close()
        shutil.rmtree(Library.folder.parent)


@pytest.fixture
def _models_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    load_once = functools.cache(load_embedder)
    monkeypatch.setattr("rag_core.runtime.models.load_embedder", lambda name, *_: load_once(name))
