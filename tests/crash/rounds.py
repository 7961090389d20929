"""Kill an engine at random moments and check what the next engine recovers.

    python -m tests.crash.rounds FOLDER KILLS SEED

A first run without a kill records the final content of the stores. Then, for each kill: a new folder, a process
that adds, replaces, deletes and re-indexes documents until SIGKILL ends it at a random moment, and a second
process that completes the work. The final content must equal that of the first run. Heavy modules are imported
once, before any process is forked.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import chromadb  # noqa: F401 - imported before the fork, so that each process need not

from rag_core.embedding.answerability import UNREAD
from rag_core.engine import Engine
from rag_core.errors import UnknownDocument
from rag_core.indexing import parsing_stage
from rag_core.runtime import models
from rag_core.settings import Settings
from rag_core.system import freeze_garbage_collector
from rag_core.text.calendar_dates import find_asked_dates
from rag_core.text.dictionaries import load_words
from rag_core.types.retrieval import Reading
from tests.support.embedders import HashingEmbedder
from tests.support.engines import open_index
from tests.support.pdfs import make_pdf
from tests.support.sparse_encoders import HashingSparseEncoder

TOPICS = tuple(enumerate(("harbour", "orchard", "glacier", "foundry", "library", "vineyard", "observatory", "quarry")))
NEAREST = "doors of the observatory of a.pdf 2"


def content(name: str, version: int, pages: int) -> bytes:
    """Return a PDF whose sentences contain file name, version and page."""

    def page_text(page: int) -> str:
        sentences = (f"The {topic} of {name} {version} on page {page} has {page * 7 + n} doors." for n, topic in TOPICS)
        return " ".join(sentences)

    return make_pdf(*(page_text(page) for page in range(pages)))


def _delete(name: str) -> Callable[[Engine], None]:
    def run(engine: Engine) -> None:
        try:
            engine.documents.delete(engine.documents.find_ids([name]))
        except UnknownDocument:  # the killed process has already deleted it
            return

    return run


def _add(name: str, version: int, pages: int, *, wait: bool) -> Callable[[Engine], None]:
    def run(engine: Engine) -> None:
        job = engine.documents.submit(name, content(name, version, pages))
        if wait:
            engine.jobs.wait([job.job_id])

    return run


def _reindex(engine: Engine) -> None:
    engine.jobs.wait([engine.index.rebuild(chunk_tokens=64).job_id])


def _settle(engine: Engine) -> None:
    engine.jobs.wait([job.job_id for job in engine.jobs.list(active=True, limit=1000)])


STEPS: tuple[Callable[[Engine], None], ...] = (
    _add("a.pdf", 1, 2, wait=False),
    _add("b.pdf", 1, 3, wait=False),
    _add("c.pdf", 1, 1, wait=True),
    _add("a.pdf", 2, 2, wait=True),
    _delete("c.pdf"),
    _reindex,
    _add("d.pdf", 1, 2, wait=False),
    _delete("b.pdf"),
    _settle,
)


def work(folder: Path) -> None:
    """Do the steps that are not recorded as done; record the final content of the stores."""
    vars(parsing_stage).update(FIRST_PAGES_AFTER_S=0.0)
    # What is stored, and in which order, does not depend on the models, which would take most of the time of a process.
    vars(models).update(
        load_embedder=lambda *_: HashingEmbedder(),
        SparseEncoder=HashingSparseEncoder,
        AnswerabilityModel=lambda _: _read_nothing,
    )
    with Engine(Settings(data_dir=folder / "data", sparse="hashing", _env_file=None)) as engine:
        # Complete the jobs in the queue of the former process first, as without the kill.
        _settle(engine)
        record = folder / "done"
        done = len(record.read_text()) if record.exists() else 0
        for step in STEPS[done:]:
            step(engine)
            with record.open("a") as file:
                file.write(".")
                file.flush()
                os.fsync(file.fileno())
        (folder / "end.json").write_text(json.dumps(stored(engine), sort_keys=True))


def _read_nothing(pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
    return itertools.repeat(UNREAD, len(pairs))


def stored(engine: Engine) -> dict[str, Any]:
    """Return the content of all stores, without ids and times, which differ from run to run."""
    stores = engine._stores
    chunk_ids = set(stores.documents.all_chunk_ids())
    states = ("active", "building", "retired")
    generations = [generation for state in states for generation, _ in stores.documents.generations(state)]
    nearest = engine.search(NEAREST, top_k=1).passages
    return {
        "documents": sorted(
            (document.name, document.status.value, document.pages, document.chunks)
            for document in engine.documents.list()
        ),
        "texts": sorted(
            (document.name, span.page_index, span.text)
            for document in engine.documents.list()
            for span in engine.documents.chunks(document.document_id)
        ),
        "generations": len(generations),
        "chunks": len(chunk_ids),
        "words": sorted(stores.word_index.ids()) == sorted(chunk_ids),
        "vectors": sorted(open_index(stores, "dense", generations[0]).ids()) == sorted(chunk_ids),
        "sparse": sorted(open_index(stores, "sparse", generations[0]).ids()) == sorted(chunk_ids),
        "linked": all(stores.embeddings.is_fully_linked(document.version_id) for document in engine.documents.list()),
        "embeddings": stores.embeddings.count(),
        "files": len(stores.files.digests()),
        "versions": len(stores.documents.find_versions()),
        "found": [passage.document for passage in nearest],
        "problems": list(engine.status().problems),
    }


def forked(folder: Path) -> int:
    """Start a process that works in a folder; return its id."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        sys.stderr = (folder / "errors").open("a")
        work(folder)
        code = 0
    except BaseException:  # noqa: BLE001 - a forked child must end here, whatever happened
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)


def finish(folder: Path) -> dict[str, Any]:
    """Run the work to its end; return the content of the stores."""
    _, status = os.waitpid(forked(folder), 0)
    if status:
        raise SystemExit(f"{folder} ended with {status}: {(folder / 'errors').read_text()[-3000:]}")
    content: dict[str, Any] = json.loads((folder / "end.json").read_text())
    return content


def _ended_within(process: int, seconds: float) -> bool:
    """Wait so long for a process; return whether it has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.waitpid(process, os.WNOHANG)[0]:
            return True
        time.sleep(0.005)
    return False


def main() -> None:
    root, kills, moments = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    # What each process needs to make and search documents, loaded before the fork.
    content("a.pdf", 1, 1)
    load_words("")
    find_asked_dates(NEAREST)
    # Otherwise, each process would collect the garbage among the objects of this one, and copy their memory.
    freeze_garbage_collector()
    seconds = 0.0
    for clean in (root / "clean-1", root / "clean-2"):  # the first one also fills the caches of the machine
        clean.mkdir(parents=True)
        started = time.monotonic()
        expected = finish(clean)
        seconds = time.monotonic() - started
    assert expected["words"], expected
    assert expected["vectors"], expected
    assert expected["sparse"], expected
    assert expected["linked"], expected
    assert len(expected["documents"]) == 2, expected
    assert expected["files"] == expected["versions"] == 3, expected  # a.pdf has a replaced version
    cut = number = 0
    while cut < kills and number < 3 * kills:  # a process that ends before its kill does not count
        number += 1
        folder = root / f"kill-{number}"
        folder.mkdir()
        process, started = forked(folder), time.monotonic()
        ended = _ended_within(process, max(0.02, 0.9 * seconds * (cut + moments.random()) / kills))
        if ended:
            # The load of the machine changes the duration of a run: adapt it, or later kills would miss, too.
            seconds = time.monotonic() - started
        else:
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            cut += os.WIFSIGNALED(status)
        actual = finish(folder)
        if actual != expected:
            differing = {key: (actual[key], expected[key]) for key in expected if actual[key] != expected[key]}
            raise SystemExit(f"after kill {number}: {json.dumps(differing)[:3000]}")
    print(f"{cut} of {number} processes were killed at work; a run takes {seconds:.1f} s")
    if cut < kills:
        raise SystemExit("too few kills hit a process at work")


if __name__ == "__main__":
    main()
