"""Engines share loaded models: loading them takes longer than most tests."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from rag_core.embedding import Answerability, Expander, load_embedder
from rag_core.engine import Engine
from tests.unit.engines import Hold, emptied, opened


@pytest.fixture(autouse=True, scope="session")
def _models_are_loaded_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_core.services.models.load_embedder", functools.cache(load_embedder))
        patch.setattr("rag_core.services.models.Expander", functools.cache(Expander))
        patch.setattr("rag_core.services.models.Answerability", functools.cache(Answerability))
        yield


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
