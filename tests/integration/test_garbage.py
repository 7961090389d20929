"""Garbage collection of long-lived objects."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from rag_core.embedding import load_embedder
from rag_core.settings import BUNDLED_EMBEDDER
from tests.support.engines import ASK_BUDGET, BUDGET, indexed, opened


def test_objects_of_first_search_are_frozen(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        early = [[0]]
        assert any(item is early for item in gc.get_objects())
        engine.search(ASK_BUDGET)
        assert not any(item is early for item in gc.get_objects())
        late = [[0]]
        engine.search(ASK_BUDGET)
        assert any(item is late for item in gc.get_objects())


def test_closed_engine_releases_its_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Bypass the models that the tests share.
    monkeypatch.setattr("rag_core.runtime.models.load_embedder", load_embedder)
    with opened(tmp_path / "data") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        assert engine.search(ASK_BUDGET).gate.answerable
        model = weakref.ref(engine._local_models.embedder(BUNDLED_EMBEDDER))
        assert model() is not None
    assert model() is None
