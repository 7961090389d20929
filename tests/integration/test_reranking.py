"""Reranking of the best passages with a cross-encoder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.embedding import bundled
from rag_core.embedding.sentence_transformer import CrossEncoder
from rag_core.engine import Engine
from rag_core.errors import RerankerMissing
from rag_core.types.answers import Stage
from rag_core.types.evaluation import Evaluation, LabelledPage
from rag_core.types.retrieval import RetrievalConfig
from tests.support.cross_encoders import make_cross_encoder
from tests.support.engines import ASK_BUDGET, BUDGET, USUAL_RETRIEVERS, indexed, open_library, opened


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(autouse=True)
def two_chunks_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.retrieval.pipeline.CROSS_ENCODER_CHUNKS", 2)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Iterator[Engine]:
    """Three passages, two of which the cross-encoder reads."""
    with open_library(tmp_path_factory.mktemp("reranking") / "data", reranker=str(model)) as engine:
        yield engine


def test_cross_encoder_orders_the_best_passages(library: Engine, model: Path) -> None:
    result = library.search(ASK_BUDGET)
    read, rest = result.passages[:2], result.passages[2:]
    scores = [passage.scores["cross_encoder"] for passage in read]
    (bridge,) = (passage for passage in read if passage.document == "bridge.pdf")
    # The cross-encoder reads the embedded text, which begins with the name of the document.
    expected = CrossEncoder(str(model))(ASK_BUDGET, [f"bridge\n{bridge.text}"])
    assert bridge.scores["cross_encoder"] == pytest.approx(float(expected[0]), abs=1e-6)
    assert scores == sorted(scores, key=lambda score: -(score or 0.0))
    assert [passage.scores["cross_encoder"] for passage in rest] == [None]
    assert min(passage.scores["rerank"] or 0.0 for passage in read) >= (rest[0].scores["rerank"] or 0.0)
    assert "cross_encoder" in result.timings_ms


def test_gate_uses_late_interaction(library: Engine) -> None:
    result, without = library.search(ASK_BUDGET), library.search(ASK_BUDGET, configuration=RetrievalConfig("rerank"))
    assert result.gate == without.gate
    assert without.passages[0].document == "bridge.pdf"
    assert "cross_encoder" not in without.passages[0].scores


def test_stage_of_cross_encoder_is_reported(library: Engine) -> None:
    stages = [event.name for event in library.ask(ASK_BUDGET) if isinstance(event, Stage) and event.done]
    first = ["embed", *(one.stage.name for one in USUAL_RETRIEVERS), "rerank", "cross_encoder"]
    assert stages[: len(first)] == first
    assert [stage.name for stage in library.explain(ASK_BUDGET).stages][-2:] == ["rerank", "cross_encoder"]


def test_evaluation_is_named_after_the_cross_encoder(library: Engine) -> None:
    label = library.labels.add(ASK_BUDGET, evidence=[LabelledPage("bridge.pdf", 0)])
    names = []
    for configuration in (None, RetrievalConfig("rerank")):
        *_, last = library.evaluations.run([label], configuration, answers=False)
        assert isinstance(last, Evaluation)
        names.append(last.configuration)
    assert names == ["cross_encoder", "rerank"]


@pytest.mark.parametrize("name", ["/no/such/model", "nobody/no-such-model"])
def test_missing_cross_encoder_is_reported_with_its_setting(tmp_path: Path, name: str) -> None:
    with opened(tmp_path / "data", reranker=name) as engine:
        engine.warm_up()
        engine._warm_up.join()
        assert "RAG_RERANKER" in engine.readiness().error
        indexed(engine, "bridge.pdf", BUDGET)
        with pytest.raises(RerankerMissing, match="is not on this machine") as error:
            engine.search(ASK_BUDGET)
        assert repr(name) in str(error.value)
        assert "set RAG_RERANKER to its folder, or remove RAG_RERANKER" in str(error.value)
        assert engine.search(ASK_BUDGET, configuration=RetrievalConfig("rerank")).gate.answerable


def test_model_that_is_no_cross_encoder_is_rejected(tmp_path: Path) -> None:
    for folder in (bundled.find_weights_folder(), make_cross_encoder(tmp_path / "three", labels=3)):
        with pytest.raises(RerankerMissing, match=r"is not a cross-encoder.*RAG_RERANKER"):
            CrossEncoder(str(folder))


def test_ranking_by_missing_cross_encoder_is_rejected(engine: Engine) -> None:
    with pytest.raises(RerankerMissing, match="Set RAG_RERANKER"):
        engine.search(ASK_BUDGET, configuration=RetrievalConfig("cross_encoder"))
