"""Weights of passages and the evidence of an expected passage."""

from __future__ import annotations

import math

import pytest

from rag_core.retrieval.passage_weights import (
    HALF_LIFE_DAYS,
    compute_evidence_mass,
    compute_freshness,
    softmax,
    weight_passages,
)
from rag_core.types.explanations import EvidenceCase, EvidenceMass, ScoredPassage, WeightedPassage, WeightingConfig


def weigh(*rows: tuple[str, float, float], **values: float) -> tuple[WeightedPassage, ...]:
    """Weigh candidates given as ``(chunk_id, score, age in days)``."""
    return weight_passages([ScoredPassage(*row) for row in rows], WeightingConfig(**values))  # type: ignore[arg-type]


def ids(rows: tuple[WeightedPassage, ...]) -> list[str]:
    return [row.candidate.chunk_id for row in rows]


def test_softmax_matches_manual_calculation() -> None:
    assert softmax([0.0, math.log(3.0)], 1.0) == pytest.approx([0.25, 0.75])
    assert softmax([0.0, 2 * math.log(3.0)], 2.0) == pytest.approx([0.25, 0.75])
    assert softmax([], 1.0).shape == (0,)


def test_freshness_halves_with_each_half_life() -> None:
    assert compute_freshness([0, HALF_LIFE_DAYS, 2 * HALF_LIFE_DAYS, -5]) == pytest.approx([1, 0.5, 0.25, 1])


def test_only_the_first_k_have_weight() -> None:
    rows = weigh(("low", 0.1, 0), ("high", 0.9, 0), ("middle", 0.5, 0), k=2, temperature=0.4)
    assert ids(rows) == ["high", "middle", "low"]
    assert [row.rank for row in rows] == [1, 2, 3]
    assert [row.weight for row in rows] == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0])


def test_freshness_is_multiplied_by_its_weight() -> None:
    rows = weigh(("old", 0.6, HALF_LIFE_DAYS), ("new", 0.5, 0), freshness_weight=0.4)
    assert ids(rows) == ["new", "old"]
    assert [row.adjusted for row in rows] == pytest.approx([0.9, 0.8])
    assert ids(weigh(("old", 0.6, HALF_LIFE_DAYS), ("new", 0.5, 0), freshness_weight=0.1)) == ["old", "new"]


def test_noise_depends_on_the_seed() -> None:
    candidates = [("a", 0.5, 0.0), ("b", 0.5, 0.0), ("c", 0.5, 0.0)]
    first, same, other = (weigh(*candidates, noise=0.1, seed=seed) for seed in (1, 1, 2))
    assert first == same
    assert [row.adjusted for row in first] != [row.adjusted for row in other]


@pytest.mark.parametrize("values", [{"k": 0}, {"temperature": 0.0}, {"temperature": -1.0}])
def test_invalid_weighting_is_rejected(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not"):
        weigh(("a", 0.5, 0), **values)


def test_expected_passage_that_was_not_found_is_absent() -> None:
    rows = weigh(("a", 0.9, 0))
    assert compute_evidence_mass(rows, 5, None) == EvidenceMass(EvidenceCase.ABSENT, None, False, 0.0, None)
    assert compute_evidence_mass(rows, 5, "gone").case is EvidenceCase.ABSENT


def share(*leads: float) -> object:
    """Return the weight of a passage behind others by these multiples of the temperature."""
    return pytest.approx(1 / (1 + sum(math.exp(lead) for lead in leads)))


@pytest.mark.parametrize(
    ("candidates", "k", "expected"),
    [
        ([("a", 0.9, 0), ("b", 0.8, 0), ("right", 0.7, 0)], 2, EvidenceMass(EvidenceCase.TOO_LOW, 3, False, 0.0, "a")),
        ([("a", 0.9, 0), ("right", 0.7, 0)], 2, EvidenceMass(EvidenceCase.IGNORED, 2, True, share(4), "a")),
        # A difference of half a day is not an older edition.
        ([("same", 0.9, 10.5), ("right", 0.8, 10)], 2, EvidenceMass(EvidenceCase.IGNORED, 2, True, share(2), "same")),
        (
            [("newer", 0.9, 10.5), ("right", 0.8, 400)],
            2,
            EvidenceMass(EvidenceCase.IGNORED, 2, True, share(2), "newer"),
        ),
        (
            [("same", 0.9, 10.5), ("older", 0.8, 400), ("right", 0.7, 10)],
            3,
            EvidenceMass(EvidenceCase.STALE, 3, True, share(2, 4), "older"),
        ),
        ([("right", 0.9, 400), ("b", 0.7, 0)], 2, EvidenceMass(EvidenceCase.LEADS, 1, True, share(-4), None)),
    ],
    ids=[
        "below the first k",
        "below another",
        "same age",
        "below a newer one",
        "below an older one",
        "above all others",
    ],
)
def test_evidence_of_expected_passage(
    candidates: list[tuple[str, float, float]], k: int, expected: EvidenceMass
) -> None:
    assert compute_evidence_mass(weigh(*candidates, k=k), k, "right") == expected
