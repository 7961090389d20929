"""Fixtures of all tests: small PDFs, settings independent of the machine, and shared models."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from xdist.scheduler import LoadFileScheduling

from rag_core.embedding import load_embedder
from rag_core.embedding.answerability import AnswerabilityModel
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.engine import Engine
from rag_core.parsing.parser import DocumentParser
from rag_core.settings import Settings
from tests.support.environment import INDEPENDENT
from tests.support.pdfs import MakePdf, make_pdf

# How long an example takes depends on the machine more than on the code.
hypothesis_settings.register_profile("footnote", deadline=None)
hypothesis_settings.load_profile("footnote")
# The marker of each folder of tests.
MARKERS = {
    "unit": "unit",
    "property": "integration",
    "integration": "integration",
    "contract": "integration",
    "app": "integration",
    "browser": "browser",
    "crash": "slow",
    "servers": "servers",
}
TESTS = Path(__file__).parent
LONGEST = ("crash", "browser")
# A file system in memory, and the bytes that must be free in it for the folders of a run.
MEMORY, MEMORY_BYTES = Path("/dev/shm"), 4_000_000_000


def pytest_configure() -> None:
    """Keep the folders of tests in memory if there is room: most tests wait longer for the disk than they compute."""
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    state = os.statvfs(MEMORY)
    if state.f_bavail * state.f_frsize >= MEMORY_BYTES and not state.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import the tests without collections of garbage, which would look through all modules, although these stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start a worker for each processor; for ``auto``, one more, because tests with a browser wait for its pages."""
    return len(os.sched_getaffinity(0)) + (config.getvalue("numprocesses") == "auto")


class WithOneBrowser(LoadFileScheduling):
    """Gives each file to one worker, and all files with a browser to the same, which starts the servers for them."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return WithOneBrowser(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by its folder, and start the longest tests first, so that no worker waits for them at the end."""
    folders = {item: item.path.relative_to(TESTS).parts[0] for item in items}
    for item, folder in folders.items():
        item.add_marker(MARKERS[folder])
    items.sort(key=lambda item: LONGEST.index(folders[item]) if folders[item] in LONGEST else len(LONGEST))


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep settings of the machine and of .env away from tests."""
    for name in list(os.environ):
        if name.startswith(("RAG_", "OPENAI_", "CHROMA_")) or name == "DATABASE_URL":
            monkeypatch.delenv(name)
    for name, value in INDEPENDENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RAG_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture(autouse=True)
def _enough_disk_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report 100 GB of free disk space, so that no test depends on the disk of the machine."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100_000_000_000))


@pytest.fixture(autouse=True, scope="session")
def _models_are_loaded_once() -> Iterator[None]:
    """Share models between engines, since loading them takes longer than most tests."""
    load_once = functools.cache(load_embedder)
    with pytest.MonkeyPatch.context() as patch:
        # Most tests of a file have the same questions and passages.
        patch.setattr("rag_core.embedding.bundled.MAX_CACHED", 1000)
        patch.setattr("rag_core.runtime.models.load_embedder", lambda name, *_: load_once(name))
        patch.setattr("rag_core.runtime.models.AnswerabilityModel", functools.cache(AnswerabilityModel))
        # The shared models have seen every length after a few tests; the search of a warm-up uses them once more.
        for name in ("QUESTION_LENGTHS", "PASSAGE_LENGTHS"):
            patch.setattr(f"rag_core.runtime.warm_up.{name}", (0,))
        # On a busy machine, a chunk may take longer than a question waits.
        patch.setattr("rag_core.retrieval.chunk_data.EMBED_WITHIN_S", 30.0)
        yield


@pytest.fixture(autouse=True, scope="session")
def _pauses_are_short() -> Iterator[None]:
    """Let background threads look for work more often, so that tests of failures do not wait for the next attempt."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_core.indexing.queue.PAUSE_S", 0.2)
        patch.setattr("rag_core.research.themes.theme_building._POLL_S", 0.2)
        yield


class SharedParser(DocumentParser):
    """A parser whose worker processes outlive the engine that uses it."""

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True, scope="session")
def _parser_processes_are_started_once() -> Iterator[None]:
    """Share parsers between engines, since starting their processes takes longer than most tests."""
    parsers: list[SharedParser] = []

    @functools.cache
    def shared(**options: Any) -> SharedParser:
        parsers.append(SharedParser(**options))
        return parsers[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_core.indexing.parsing_stage.DocumentParser", shared)
        yield
    for parser in parsers:
        DocumentParser.close(parser)


@pytest.fixture(name="make_pdf", scope="session")
def _make_pdf() -> MakePdf:
    return make_pdf


@pytest.fixture(scope="session")
def embedder() -> BundledEmbedder:
    """Return the bundled embedder, loaded once."""
    return BundledEmbedder()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", _env_file=None)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    with Engine(settings) as engine:
        yield engine
