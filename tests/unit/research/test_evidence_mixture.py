"""Mixtures of the answers that single passages give."""

from __future__ import annotations

import math

import pytest

from rag_core.research.evidence_mixture import mix_answers
from rag_core.research.worked_mixture import compute_worked_mixture
from rag_core.types.explanations import ScoredPassage, WeightedPassage, WeightingConfig
from rag_core.types.mixtures import MixtureVerdict


@pytest.mark.parametrize(
    ("k", "freshness_weight", "retrieved", "answers", "covered", "mass", "cited", "verdict"),
    [
        (
            *(1, 0.0, {"old_policy": 1.0}),
            {"30": 0.05, "14": 0.86, "45": 0.02, "unknown": 0.07},
            *(False, 0.0, "old_policy", MixtureVerdict.NOT_COVERED),
        ),
        (
            *(2, 0.0, {"old_policy": 0.5588, "current_policy": 0.4412}),
            {"30": 0.3897, "14": 0.5027, "45": 0.0244, "unknown": 0.0832},
            *(True, 0.4412, "old_policy", MixtureVerdict.STALE),
        ),
        (
            *(2, 0.12, {"current_policy": 0.5606, "old_policy": 0.4394}),
            {"30": 0.4817, "14": 0.4059, "45": 0.0256, "unknown": 0.0868},
            *(True, 0.5606, "current_policy", MixtureVerdict.RIGHT),
        ),
    ],
)
def test_worked_example(
    k: int,
    freshness_weight: float,
    retrieved: dict[str, float],
    answers: dict[str, float],
    covered: bool,
    mass: float,
    cited: str,
    verdict: MixtureVerdict,
) -> None:
    example = compute_worked_mixture(WeightingConfig(k=k, temperature=0.25, freshness_weight=freshness_weight))
    read = {one.candidate.chunk_id: one.weight for one in example.weighted[:k]}
    assert list(read) == list(retrieved)
    assert read == pytest.approx(retrieved, abs=1e-3)
    mixture = example.mixture
    assert dict(mixture.answers) == pytest.approx(answers, abs=1e-3)
    assert mixture.answer == max(answers, key=answers.__getitem__)
    assert (mixture.covered, mixture.cited, mixture.is_correct) == (covered, cited, mixture.answer == "30")
    assert mixture.mass == pytest.approx(mass, abs=1e-3)
    assert mixture.correct_probability == pytest.approx(answers["30"], abs=1e-3)
    assert mixture.is_supported
    assert mixture.verdict is verdict


def weighted(*rows: tuple[str, float, float]) -> list[WeightedPassage]:
    """Passages given as ``(chunk_id, weight, age in days)``."""
    return [
        WeightedPassage(ScoredPassage(one, 0.0, age), 0.0, 0.0, rank, weight)
        for rank, (one, weight, age) in enumerate(rows, 1)
    ]


WRONG_WINS = weighted(("wrong", 0.6, 1.0), ("right", 0.4, 1.0), ("unread", 0.0, 1.0))
PROBABILITIES = {"wrong": {"x": 0.9, "y": 0.1}, "right": {"x": 0.1, "y": 0.9}}


def test_covered_but_wrong_is_stale_if_the_cited_passage_is_labelled_or_older() -> None:
    def verdict(passages: list[WeightedPassage], **labels: list[str]) -> MixtureVerdict | None:
        return mix_answers(passages, PROBABILITIES, right=["right"], **labels).verdict

    assert verdict(WRONG_WINS, expected=["y"]) is MixtureVerdict.COVERED_BUT_WRONG
    assert verdict(WRONG_WINS, expected=["y"], stale=["wrong"]) is MixtureVerdict.STALE
    assert verdict(weighted(("wrong", 0.6, 9.0), ("right", 0.4, 1.0)), expected=["y"]) is MixtureVerdict.STALE
    assert verdict(weighted(("wrong", 0.4, 9.0), ("right", 0.6, 1.0)), expected=["y"]) is MixtureVerdict.RIGHT
    # A stale passage that gives the wrong answer with less weight than the right one does not outweigh it.
    lighter, unsure = (
        weighted(("right", 0.6, 1.0), ("wrong", 0.4, 9.0)),
        {"right": {"x": 0.5, "y": 0.5}, "wrong": {"x": 1.0}},
    )
    found = mix_answers(lighter, unsure, right=["right"], expected=["y"], stale=["wrong"])
    assert (found.cited, found.verdict) == ("wrong", MixtureVerdict.COVERED_BUT_WRONG)
    # Without an expected answer, the answer is right if the cited passage is.
    assert verdict(WRONG_WINS) is MixtureVerdict.COVERED_BUT_WRONG
    assert mix_answers(WRONG_WINS, PROBABILITIES, right=["unread"], expected=["x"]).verdict is (
        MixtureVerdict.WITHOUT_EVIDENCE
    )


def test_mixture_without_labels_has_no_verdict() -> None:
    mixture = mix_answers(WRONG_WINS, PROBABILITIES)
    assert mixture.answers == (("x", pytest.approx(0.58)), ("y", pytest.approx(0.42)))
    assert (mixture.verdict, mixture.is_correct, mixture.correct_probability) == (None, None, None)
    assert (mixture.covered, mixture.mass) == (False, 0.0)


def test_answer_is_unsupported_if_no_single_passage_prefers_it() -> None:
    probabilities = {"a": {"x": 0.5, "y": 0.4, "z": 0.1}, "b": {"z": 0.5, "y": 0.4, "x": 0.1}}
    mixture = mix_answers(weighted(("a", 0.5, 0.0), ("b", 0.5, 0.0)), probabilities)
    assert mixture.answer == "y"
    assert not mixture.is_supported


def test_mixture_needs_a_passage_with_a_weight() -> None:
    with pytest.raises(ValueError, match="No passage has a weight"):
        mix_answers([], {})


def test_worked_example_with_noise_still_sums_to_one() -> None:
    example = compute_worked_mixture(WeightingConfig(k=5, temperature=0.25, noise=0.1, seed=3))
    assert math.fsum(value for _, value in example.mixture.answers) == pytest.approx(1.0)
