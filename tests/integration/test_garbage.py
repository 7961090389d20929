"""The garbage collector leaves alone what is there for as long as the program runs."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from rag_core.embedding import load_embedder
from rag_core.settings import BUNDLED_EMBEDDER
from tests.support.engines import ASK_BUDGET, BUDGET, indexed, opened


def test_what_the_first_search_loaded_is_not_looked_through_again(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        loaded = [[0]]
        assert any(one is loaded for one in gc.get_objects())
        engine.search(ASK_BUDGET)
        assert not any(one is loaded for one in gc.get_objects())
        later = [[0]]
        engine.search(ASK_BUDGET)
        assert any(one is later for one in gc.get_objects())


def test_a_closed_engine_keeps_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not those that the tests share.
    monkeypatch.setattr("rag_core.runtime.models.load_embedder", load_embedder)
    with opened(tmp_path / "data") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        assert engine.search(ASK_BUDGET).gate.answerable
        model = weakref.ref(engine._local_models.embedder(BUNDLED_EMBEDDER))
        assert model() is not None
    assert model() is None
