"""An engine that the tests of a module share, and a barrier in its embedding stage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from tests.support.engines import EmbeddingBarrier, ReadingBarrier, emptied, opened


@pytest.fixture(scope="module")
def _module_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("engine") / "data") as engine:
        yield engine


@pytest.fixture
def engine(_module_engine: Engine) -> Iterator[Engine]:
    """Return an empty engine that the tests of a module share."""
    yield _module_engine
    emptied(_module_engine)


@pytest.fixture
def fresh_engine(tmp_path: Path) -> Iterator[Engine]:
    """Return an engine with a new data folder, `tmp_path / "data"`."""
    with opened(tmp_path / "data") as engine:
        yield engine


@pytest.fixture
def barrier(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingBarrier]:
    """Return a barrier in the embedding stage, open at first."""
    barrier = EmbeddingBarrier(monkeypatch)
    yield barrier
    barrier.release()


@pytest.fixture
def reading_barrier(monkeypatch: pytest.MonkeyPatch) -> ReadingBarrier:
    return ReadingBarrier(monkeypatch)
