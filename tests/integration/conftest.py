"""An engine that the tests of a module share, and a brake on what it does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from tests.support.engines import Hold, emptied, opened


@pytest.fixture(scope="module")
def _module_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("engine") / "data") as made:
        yield made


@pytest.fixture
def engine(_module_engine: Engine) -> Iterator[Engine]:
    """An empty engine, opened once for all tests of a module."""
    yield _module_engine
    emptied(_module_engine)


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hold]:
    """The embedding stage's brake."""
    made = Hold(monkeypatch)
    yield made
    made.release()
