"""Compute weights of passages from their scores, and the weight of the right passage.

An answer can be wrong although a search finds the right passage, if other passages have a higher weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rag_core.types.arrays import FloatArray
from rag_core.types.explanations import EvidenceCase, EvidenceMass, ScoredPassage, WeightedPassage, WeightingConfig

# Age in days at which the freshness of a document is one half.
HALF_LIFE_DAYS = 365.0
# Minimum difference between the ages of two documents, in days, from which one counts as older.
STALE_DAYS = 1.0


def compute_freshness(age_days: npt.ArrayLike) -> FloatArray:
    """Return the freshness ``2 ** (-age / half-life)`` of documents: 1 for new ones, 0.5 after one half-life.

    The freshness decays exponentially with age, as in Li and Croft, "Time-based language models", CIKM 2003. Negative
    ages, which result from dates in the future, count as 0.
    """
    ages = np.maximum(np.asarray(age_days, np.float64), 0.0)
    return np.exp2(-ages / HALF_LIFE_DAYS).astype(np.float32)


def softmax(scores: npt.ArrayLike, temperature: float) -> FloatArray:
    """Return ``exp(s(i) / τ) / Σ exp(s(j) / τ)`` with the temperature τ, shape (n,), with sum 1.

    If τ approaches 0, the weight of the highest score approaches 1. If τ grows, all weights approach 1 / n.

    Raises
    ------
    ValueError
        ``temperature`` is not above 0.
    """
    if temperature <= 0:
        raise ValueError(f"A temperature must be above 0, not {temperature}.")
    values = np.asarray(scores, np.float64)
    # Subtracting the maximum prevents an overflow and does not change the weights.
    shares = np.exp((values - values.max(initial=-np.inf)) / temperature)
    weights: FloatArray = (shares / shares.sum()).astype(np.float32)
    return weights


def weight_passages(candidates: Sequence[ScoredPassage], weighting: WeightingConfig) -> tuple[WeightedPassage, ...]:
    """Return passages with their weights, best first.

    Passages are ranked by the adjusted score ``score + λ · ρ + σ · ε``, where λ is ``weighting.freshness_weight``, ρ
    the freshness (see `compute_freshness`), σ ``weighting.noise``, and ε a standard normal random number, drawn with
    ``weighting.seed``. The weights are the `softmax` of the k highest adjusted scores; other passages have the weight
    0. Passages with equal adjusted scores keep the given order. For comparison, Lewis et al., "Retrieval-augmented
    generation for knowledge-intensive NLP tasks", NeurIPS 2020, use the temperature 1 and the unadjusted scores.

    Raises
    ------
    ValueError
        ``weighting.k`` is below 1, or ``weighting.temperature`` is not above 0.
    """
    if weighting.k < 1:
        raise ValueError(f"At least one passage must be weighed, not {weighting.k}.")
    freshnesses = compute_freshness([one.age_days for one in candidates])
    noise = np.random.default_rng(weighting.seed).standard_normal(len(candidates))
    scores = np.array([one.score for one in candidates], np.float64)
    adjusted = scores + weighting.freshness_weight * freshnesses + weighting.noise * noise
    order = np.argsort(-adjusted, kind="stable")
    weights = np.zeros(len(candidates), np.float32)
    weights[: weighting.k] = softmax(adjusted[order[: weighting.k]], weighting.temperature)
    return tuple(
        WeightedPassage(candidates[index], float(freshnesses[index]), float(adjusted[index]), rank, float(weight))
        for rank, (index, weight) in enumerate(zip(order, weights, strict=True), 1)
    )


def compute_evidence_mass(weighed: Sequence[WeightedPassage], k: int, right: str | None) -> EvidenceMass:
    """Return the weight of the right passage, and a passage that ranks higher (the rival), if there is one.

    Parameters
    ----------
    weighed : sequence of WeightedPassage
        The result of `weight_passages`.
    k : int
        Number of passages with a weight.
    right : str, optional
        Chunk id of the right passage. It is ``None``, or is not in ``weighed``, if no stage of the search found the
        right passage.

    Returns
    -------
    EvidenceMass
        The rival is the first passage above the right passage. If the right passage has a weight, and passages above
        it are from documents that are older by `STALE_DAYS` or more, the rival is the first of these instead. There is
        no rival if the right passage was not found or ranks first.
    """
    right_passage = next((one for one in weighed if one.candidate.chunk_id == right), None)
    if right_passage is None:
        return EvidenceMass(EvidenceCase.ABSENT, None, False, 0.0, None)
    above = weighed[: right_passage.rank - 1]
    if right_passage.rank > k:
        return EvidenceMass(EvidenceCase.TOO_LOW, right_passage.rank, False, 0.0, above[0].candidate.chunk_id)
    if not above:
        return EvidenceMass(EvidenceCase.LEADS, right_passage.rank, True, right_passage.weight, None)
    older = [one for one in above if one.candidate.age_days >= right_passage.candidate.age_days + STALE_DAYS]
    case = EvidenceCase.STALE if older else EvidenceCase.IGNORED
    rival = (older or above)[0].candidate.chunk_id
    return EvidenceMass(case, right_passage.rank, True, right_passage.weight, rival)
