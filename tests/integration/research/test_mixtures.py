"""Mixtures of the answers that the passages of a search give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import SettingsError
from rag_core.types.explanations import Explanation, WeightingConfig
from rag_core.types.mixtures import UNKNOWN, MixtureVerdict
from rag_core.types.retrieval import RetrievalConfig
from tests.support.engines import ASK_BUDGET, open_library, scripted_engine

OLD = "The yearly fee of the Kestrel club is 30 crowns. The yearly fee is due in May."
NEW = "Notice to members: the Kestrel club now asks for 50 crowns a year."
QUESTION = "What is the yearly fee of the Kestrel club?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("mixtures") / "data", {"old.pdf": [OLD], "new.pdf": [NEW]}) as engine:
        yield engine


@pytest.fixture(scope="module")
def explanation(library: Engine) -> Explanation:
    return library.explain(QUESTION)


def find_answer(probabilities: dict[str, float], words: str) -> str:
    return next(answer for answer in probabilities if words in answer)


def test_each_passage_gives_its_own_answer(library: Engine, explanation: Explanation) -> None:
    by_document = {one.document: one.chunk_id for one in explanation.passages}
    probabilities = library.mixtures.read_answers(QUESTION, explanation.passages)
    assert probabilities.keys() == set(by_document.values())
    for one in probabilities.values():
        assert sum(one.values()) == pytest.approx(1.0)
        assert UNKNOWN in one
    old, new = (probabilities[by_document[name]] for name in ("old.pdf", "new.pdf"))
    assert "30" in max(old, key=old.__getitem__)
    assert any("50" in answer for answer in new)


def test_stale_passage_outweighs_the_right_one_at_a_low_temperature(library: Engine, explanation: Explanation) -> None:
    by_document = {one.document: one.chunk_id for one in explanation.passages}
    probabilities = library.mixtures.read_answers(QUESTION, explanation.passages)
    weighted = library.explanations.weight_passages(explanation, WeightingConfig(k=2, temperature=0.02))
    mixture = library.mixtures.mix(
        weighted,
        probabilities,
        right=[by_document["new.pdf"]],
        expected=[find_answer(probabilities[by_document["new.pdf"]], "50")],
        stale=[by_document["old.pdf"]],
    )
    assert sum(value for _, value in mixture.answers) == pytest.approx(1.0)
    assert (mixture.covered, mixture.is_supported, mixture.is_correct) == (True, True, False)
    assert mixture.cited == by_document["old.pdf"]
    assert mixture.verdict is MixtureVerdict.STALE


def test_single_tokens_need_a_gguf_file(library: Engine, explanation: Explanation, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="The probability of an answer needs a language model, and none is set"):
        library.mixtures.score_answers(QUESTION, explanation.passages, ["30"])
    with pytest.raises(SettingsError, match="The strategy “rag-token” needs a language model"):
        library.answer(QUESTION, configuration=RetrievalConfig(strategy="rag-token"))
    with (
        scripted_engine(tmp_path / "data") as (engine, endpoint),
        pytest.raises(SettingsError, match="only a model in a GGUF file gives"),
    ):
        engine.answer(ASK_BUDGET, configuration=RetrievalConfig(strategy="rag-sequence"))
    assert endpoint.requests == []
