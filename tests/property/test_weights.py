"""Weights of passages sum to one and follow the order of the scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.retrieval.passage_weights import compute_evidence_mass, softmax, weight_passages
from rag_core.types.explanations import ScoredPassage, WeightingConfig

SCORES = st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=30)
TEMPERATURE = st.floats(1e-6, 1e6)
CANDIDATES = st.lists(st.tuples(st.floats(-1, 1), st.floats(-10, 10_000)), min_size=1, max_size=30).map(
    lambda rows: [ScoredPassage(str(at), score, age) for at, (score, age) in enumerate(rows)]
)
WEIGHTINGS = st.builds(
    WeightingConfig,
    k=st.integers(1, 40),
    temperature=TEMPERATURE,
    freshness_weight=st.floats(0, 2),
    noise=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)


@given(SCORES, TEMPERATURE)
def test_softmax_sums_to_one_and_keeps_the_order(scores: list[float], temperature: float) -> None:
    weights = softmax(scores, temperature)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-5)
    assert (np.diff(weights[np.argsort(scores, kind="stable")]) >= 0).all()


@given(CANDIDATES, WEIGHTINGS)
def test_every_candidate_is_weighed_once_best_first(
    candidates: list[ScoredPassage], weighting: WeightingConfig
) -> None:
    rows = weight_passages(candidates, weighting)
    assert sorted(row.candidate.chunk_id for row in rows) == sorted(candidate.chunk_id for candidate in candidates)
    assert [row.rank for row in rows] == list(range(1, len(rows) + 1))
    for name in ("adjusted", "weight"):
        values = [getattr(row, name) for row in rows]
        assert values == sorted(values, reverse=True)
    assert sum(row.weight for row in rows[: weighting.k]) == pytest.approx(1, abs=1e-5)
    assert all(row.weight == 0 for row in rows[weighting.k :])
    assert rows == weight_passages(candidates, weighting)


@given(CANDIDATES, WEIGHTINGS)
def test_evidence_within_k_is_covered_with_its_weight(
    candidates: list[ScoredPassage], weighting: WeightingConfig
) -> None:
    rows = weight_passages(candidates, weighting)
    for row in rows:
        mass = compute_evidence_mass(rows, weighting.k, row.candidate.chunk_id)
        assert mass.covered == (row.rank <= weighting.k)
        assert (mass.rank, mass.mass) == (row.rank, row.weight)
        assert (mass.rival is None) == (row.rank == 1)
