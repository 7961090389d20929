"""A cross-encoder over the best passages, and what is said where there is none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.embedding import bundled
from rag_core.embedding.sentence_transformer import CrossEncoder
from rag_core.engine import Engine
from rag_core.errors import RerankerMissing
from rag_core.types import Evaluation, LabelledPage, RetrievalConfig, Stage
from tests.support.cross_encoders import make_cross_encoder
from tests.support.engines import ASK_BUDGET, BUDGET, COPPER, PENGUINS, indexed, opened


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(autouse=True)
def two_chunks_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.retrieval.pipeline.CROSS_ENCODER_CHUNKS", 2)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Iterator[Engine]:
    """Three passages, two of which the cross-encoder reads."""
    with opened(tmp_path_factory.mktemp("reranking") / "data", reranker=str(model)) as made:
        for name, text in (("bridge.pdf", BUDGET), ("birds.pdf", PENGUINS), ("mine.pdf", COPPER)):
            indexed(made, name, text)
        yield made


def test_the_cross_encoder_orders_the_best_and_the_rest_follow(library: Engine, model: Path) -> None:
    found = library.search(ASK_BUDGET)
    read, rest = found.passages[:2], found.passages[2:]
    scores = [one.scores["cross_encoder"] for one in read]
    (bridge,) = (one for one in read if one.document == "bridge.pdf")
    # What is read is what was embedded: the document's name before the text.
    expected = CrossEncoder(str(model))(ASK_BUDGET, [f"bridge\n{bridge.text}"])
    assert bridge.scores["cross_encoder"] == pytest.approx(float(expected[0]), abs=1e-6)
    assert scores == sorted(scores, key=lambda score: -(score or 0.0))
    assert [one.scores["cross_encoder"] for one in rest] == [None]
    assert min(one.scores["rerank"] or 0.0 for one in read) >= (rest[0].scores["rerank"] or 0.0)
    assert "cross_encoder" in found.timings_ms


def test_the_gate_keeps_to_late_interaction(library: Engine) -> None:
    found, without = library.search(ASK_BUDGET), library.search(ASK_BUDGET, configuration=RetrievalConfig("rerank"))
    assert found.gate == without.gate
    assert without.passages[0].document == "bridge.pdf"
    assert "cross_encoder" not in without.passages[0].scores


def test_its_stage_is_told(library: Engine) -> None:
    stages = [event.name for event in library.ask(ASK_BUDGET) if isinstance(event, Stage) and event.done]
    assert stages[:5] == ["embed", "lexical", "dense", "rerank", "cross_encoder"]
    assert [stage.name for stage in library.explain(ASK_BUDGET).stages][-2:] == ["rerank", "cross_encoder"]


def test_an_evaluation_as_set_names_what_it_ordered_by(library: Engine) -> None:
    label = library.labels.add(ASK_BUDGET, evidence=[LabelledPage("bridge.pdf", 0)])
    names = []
    for configuration in (None, RetrievalConfig("rerank")):
        *_, last = library.evaluations.run([label], configuration, answers=False)
        assert isinstance(last, Evaluation)
        names.append(last.configuration)
    assert names == ["cross_encoder", "rerank"]


def test_it_is_warmed_up_with_the_embedder(tmp_path: Path) -> None:
    with opened(tmp_path / "data", reranker="/no/such/model") as engine:
        engine.warm_up()
        deadline = time.monotonic() + 60
        while not engine.readiness().error and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "RAG_RERANKER" in engine.readiness().error


@pytest.mark.parametrize("name", ["/no/such/model", "nobody/no-such-model"])
def test_weights_that_are_not_here_are_told_by_name_with_what_to_do(tmp_path: Path, name: str) -> None:
    with opened(tmp_path / "data", reranker=name) as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        with pytest.raises(RerankerMissing, match="is not on this machine") as missing:
            engine.search(ASK_BUDGET)
        assert repr(name) in str(missing.value)
        assert "set RAG_RERANKER to its folder, or remove RAG_RERANKER" in str(missing.value)
        assert engine.search(ASK_BUDGET, configuration=RetrievalConfig("rerank")).gate.answerable


def test_a_model_that_scores_no_pairs_is_refused(tmp_path: Path) -> None:
    for folder in (bundled.folder(), make_cross_encoder(tmp_path / "three", labels=3)):
        with pytest.raises(RerankerMissing, match=r"is not a cross-encoder.*RAG_RERANKER"):
            CrossEncoder(str(folder))


def test_to_order_by_a_cross_encoder_without_one_is_refused(engine: Engine) -> None:
    with pytest.raises(RerankerMissing, match="Set RAG_RERANKER"):
        engine.search(ASK_BUDGET, configuration=RetrievalConfig("cross_encoder"))
