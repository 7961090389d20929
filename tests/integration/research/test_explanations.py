"""Explanations of a search: stages, scores, token matches and weights."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rag_core.engine import Engine
from rag_core.errors import QuestionError, UnknownDocument
from rag_core.research.explanations import find_scored_passages
from rag_core.retrieval.late_interaction import MAX_TOKENS
from rag_core.types.explanations import WeightingConfig
from rag_core.types.retrieval import RetrievalConfig
from tests.support.engines import ASK_BUDGET, BUDGET, COPPER, PENGUINS, USUAL_RETRIEVERS, USUAL_SCORES, indexed


@pytest.fixture
def library(engine: Engine) -> Engine:
    indexed(engine, "bridge.pdf", BUDGET, "The bridge of Zanzibar is painted green.")
    indexed(engine, "penguins.pdf", PENGUINS)
    indexed(engine, "copper.pdf", COPPER)
    return engine


def test_stages_have_ranks_and_the_scores_of_the_search(library: Engine) -> None:
    explanation = library.explain(ASK_BUDGET)
    assert [stage.name for stage in explanation.stages] == [*USUAL_SCORES, "rrf", "rerank"]
    for stage in explanation.stages:
        scores = [hit.score for hit in stage.hits]
        assert scores == sorted(scores, reverse=True)
        assert list(stage.ranks.values()) == list(range(1, len(scores) + 1))
        by_chunk = {int(passage.chunk_id): passage.scores[stage.name] for passage in explanation.passages}
        assert {hit.chunk_id: hit.score for hit in stage.hits}.items() <= by_chunk.items()
    result = library.search(ASK_BUDGET)
    assert explanation.passages[: len(result.passages)] == result.passages
    assert explanation.gate == result.gate
    timed = {"embed", *(one.stage.name for one in USUAL_RETRIEVERS), "rerank", "total"}
    assert timed <= explanation.timings_ms.keys()


def test_passages_follow_the_configuration(library: Engine) -> None:
    explanation = library.explain(ASK_BUDGET, configuration=RetrievalConfig(rank_by="bm25"))
    assert [stage.name for stage in explanation.stages] == ["bm25", "rerank"]
    order = [int(passage.chunk_id) for passage in explanation.passages]
    assert order == [hit.chunk_id for hit in explanation.stages[0].hits]


def test_only_chosen_documents_are_explained(library: Engine) -> None:
    explanation = library.explain(ASK_BUDGET, documents=["copper.pdf"])
    assert {passage.document for passage in explanation.passages} == {"copper.pdf"}
    assert list(explanation.added_at) == [explanation.passages[0].document_id]
    with pytest.raises(UnknownDocument, match=r"none\.pdf"):
        library.explain(ASK_BUDGET, documents=["none.pdf"])


def test_empty_library_and_empty_question(engine: Engine) -> None:
    explanation = engine.explain(ASK_BUDGET)
    assert (explanation.passages, explanation.stages) == ((), ())
    assert not explanation.gate.answerable
    with pytest.raises(QuestionError):
        engine.explain("  ")


@pytest.mark.parametrize("more", ["", f" It is for the board, {', '.join(f'of group {n}' for n in range(9))}."])
def test_token_matches_sum_to_the_score(library: Engine, more: str) -> None:
    question = f"{ASK_BUDGET}{more}"
    best = library.explain(question).passages[0]
    matches = library.explanations.token_matches(question, best.chunk_id)
    assert len(matches.matches) <= MAX_TOKENS
    assert matches.text.endswith(best.text)
    assert sum(match.weight for match in matches.matches) == pytest.approx(1)
    assert sum(match.weight * match.similarity for match in matches.matches) == pytest.approx(matches.whole, abs=1e-5)
    assert matches.score == pytest.approx(best.scores["rerank"], abs=1e-5)


def test_equal_words_match_each_other(library: Engine) -> None:
    best = library.explain(ASK_BUDGET).passages[0]
    matches = library.explanations.token_matches(ASK_BUDGET, best.chunk_id)
    pairs = {
        ASK_BUDGET[match.start : match.end]: matches.text[match.chunk_start : match.chunk_end]
        for match in matches.matches
    }
    assert pairs["budget"] == "budget"
    weights = {ASK_BUDGET[match.start : match.end]: match.weight for match in matches.matches}
    assert weights["budget"] > weights["the"] > weights["?"] == 0


def test_deleted_passage_raises_error(library: Engine) -> None:
    best = library.explain(ASK_BUDGET).passages[0]
    library.documents.delete([best.document_id])
    with pytest.raises(UnknownDocument, match="Ask the question again"):
        library.explanations.token_matches(ASK_BUDGET, best.chunk_id)


def test_passages_are_weighted_by_score_and_age(library: Engine) -> None:
    explanation = library.explain(ASK_BUDGET)
    later = max(explanation.added_at.values()) + timedelta(days=10)
    ages = {candidate.age_days for candidate in find_scored_passages(explanation, later)}
    assert all(10 <= age < 11 for age in ages)
    assert max(explanation.added_at.values()) <= datetime.now(UTC)
    weighed = library.explanations.weight_passages(explanation, WeightingConfig(k=2))
    assert [candidate.candidate.score for candidate in weighed] == [
        passage.scores["rerank"] for passage in explanation.passages
    ]
    mass = library.explanations.evidence_mass(weighed, 2, explanation.passages[0].chunk_id)
    assert (mass.rank, mass.covered) == (1, True)
