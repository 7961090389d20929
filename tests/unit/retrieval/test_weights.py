from __future__ import annotations

import math

import pytest

from rag_core.retrieval.passage_weights import HALF_LIFE_DAYS, evidence_mass, freshness, softmax, weight_passages
from rag_core.types import EvidenceCase, EvidenceMass, ScoredPassage, WeightedPassage, WeightingConfig


def weighed(*rows: tuple[str, float, float], **values: float) -> tuple[WeightedPassage, ...]:
    """Candidates as ``(chunk_id, score, age in days)``, weighed."""
    return weight_passages([ScoredPassage(*row) for row in rows], WeightingConfig(**values))  # type: ignore[arg-type]


def ids(rows: tuple[WeightedPassage, ...]) -> list[str]:
    return [one.candidate.chunk_id for one in rows]


def test_softmax_by_hand() -> None:
    assert softmax([0.0, math.log(3.0)], 1.0) == pytest.approx([0.25, 0.75])
    assert softmax([0.0, 2 * math.log(3.0)], 2.0) == pytest.approx([0.25, 0.75])
    assert softmax([], 1.0).shape == (0,)


def test_freshness_halves_with_each_half_life() -> None:
    assert freshness([0, HALF_LIFE_DAYS, 2 * HALF_LIFE_DAYS, -5]) == pytest.approx([1, 0.5, 0.25, 1])


def test_only_the_first_k_have_weight() -> None:
    rows = weighed(("low", 0.1, 0), ("high", 0.9, 0), ("middle", 0.5, 0), k=2, temperature=0.4)
    assert ids(rows) == ["high", "middle", "low"]
    assert [one.rank for one in rows] == [1, 2, 3]
    assert [one.weight for one in rows] == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0])


def test_freshness_is_added_as_often_as_decay_says() -> None:
    rows = weighed(("old", 0.6, HALF_LIFE_DAYS), ("new", 0.5, 0), decay=0.4)
    assert ids(rows) == ["new", "old"]
    assert [one.adjusted for one in rows] == pytest.approx([0.9, 0.8])
    assert ids(weighed(("old", 0.6, HALF_LIFE_DAYS), ("new", 0.5, 0), decay=0.1)) == ["old", "new"]


def test_noise_is_the_same_for_the_same_seed() -> None:
    asked = [("a", 0.5, 0.0), ("b", 0.5, 0.0), ("c", 0.5, 0.0)]
    first, same, other = (weighed(*asked, noise=0.1, seed=seed) for seed in (1, 1, 2))
    assert first == same
    assert [one.adjusted for one in first] != [one.adjusted for one in other]


@pytest.mark.parametrize("values", [{"k": 0}, {"temperature": 0.0}, {"temperature": -1.0}])
def test_what_cannot_be_weighed_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not"):
        weighed(("a", 0.5, 0), **values)


def test_nothing_weighs_nothing() -> None:
    assert weighed() == ()


def test_the_right_passage_that_no_stage_found_is_absent() -> None:
    rows = weighed(("a", 0.9, 0))
    assert evidence_mass(rows, 5, None) == EvidenceMass(EvidenceCase.ABSENT, None, False, 0.0, None)
    assert evidence_mass(rows, 5, "gone").case is EvidenceCase.ABSENT


def test_below_the_first_k_it_is_too_low() -> None:
    rows = weighed(("a", 0.9, 0), ("b", 0.8, 0), ("right", 0.7, 0), k=2)
    assert evidence_mass(rows, 2, "right") == EvidenceMass(EvidenceCase.TOO_LOW, 3, False, 0.0, "a")


def test_below_others_of_the_first_k_it_is_ignored() -> None:
    rows = weighed(("a", 0.9, 0), ("right", 0.7, 0), k=2)
    mass = evidence_mass(rows, 2, "right")
    assert (mass.case, mass.rank, mass.covered, mass.rival) == (EvidenceCase.IGNORED, 2, True, "a")
    assert mass.mass == pytest.approx(1 / (1 + math.exp(4)))


def test_below_an_older_one_it_stands_beside_a_stale_one() -> None:
    rows = weighed(("same", 0.9, 10.5), ("older", 0.8, 400), ("right", 0.7, 10), k=3)
    mass = evidence_mass(rows, 3, "right")
    assert (mass.case, mass.rival) == (EvidenceCase.STALE, "older")
    # One added half a day before is no older edition.
    assert evidence_mass(rows, 3, "older").case is EvidenceCase.IGNORED


def test_above_all_others_it_leads() -> None:
    rows = weighed(("right", 0.9, 400), ("b", 0.7, 0), k=2)
    mass = evidence_mass(rows, 2, "right")
    assert (mass.case, mass.rank, mass.covered, mass.rival) == (EvidenceCase.LEADS, 1, True, None)
    assert mass.mass == pytest.approx(1 / (1 + math.exp(-4)))
