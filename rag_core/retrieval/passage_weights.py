"""Weight passages by their scores, and check whether the right passage has the highest weight.

Even if a search finds the right passage, the answer can be wrong, because other passages with a higher weight can
influence the answer more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rag_core.types.arrays import FloatArray
from rag_core.types.explanations import EvidenceCase, EvidenceMass, ScoredPassage, WeightedPassage, WeightingConfig

# Age in days at which the freshness of a document is one half.
HALF_LIFE_DAYS = 365.0
# A document is stale compared with another document if it is older by at least this number of days.
STALE_DAYS = 1.0


def compute_freshness(age_days: npt.ArrayLike) -> FloatArray:
    """Return the freshness ``2 ** (-age / half-life)``: 1 for new documents, 0.5 after one half-life.

    The freshness decays exponentially with age, as in Li and Croft, "Time-based language models", CIKM 2003. A negative
    age, which results from a date in the future, counts as 0.
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
    # The maximum is subtracted so that the exponential function cannot overflow. The weights do not change.
    shares = np.exp((values - values.max(initial=-np.inf)) / temperature)
    weights: FloatArray = (shares / shares.sum()).astype(np.float32)
    return weights


def weight_passages(candidates: Sequence[ScoredPassage], weighting: WeightingConfig) -> tuple[WeightedPassage, ...]:
    """Rank passages by the adjusted score ``score + λ · ρ + σ · ε``, and give a weight to the first k passages.

    λ is ``weighting.freshness_weight``, ρ is the result of `compute_freshness`, σ is ``weighting.noise``, and ε is a
    standard normal random number, drawn with ``weighting.seed``. The weights are the `softmax` of the k highest
    adjusted scores; passages with lower ranks get the weight 0. For comparison, Lewis et al., "Retrieval-augmented
    generation for knowledge-intensive NLP tasks", NeurIPS 2020, use the temperature 1 and the unadjusted scores. The
    result is ordered from the best passage to the worst. Passages with equal adjusted scores keep the given order.

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
        WeightedPassage(candidates[at], float(freshnesses[at]), float(adjusted[at]), rank, float(weight))
        for rank, (at, weight) in enumerate(zip(order, weights, strict=True), 1)
    )


def compute_evidence_mass(weighed: Sequence[WeightedPassage], k: int, right: str | None) -> EvidenceMass:
    """Return the weight of the right passage, and the passage that competes with it.

    Parameters
    ----------
    weighed : sequence of WeightedPassage
        The passages with their weights, best first, as `weight_passages` returns them.
    k : int
        Number of passages that have a weight. The right passage is covered if its rank is at most k.
    right : str, optional
        Chunk id of the right passage. If no stage of the search finds the right passage, it is ``None`` or an id that
        ``weighed`` does not contain.

    Returns
    -------
    EvidenceMass
        There is no rival if no stage finds the right passage, or if the right passage has the highest rank. Otherwise,
        the rival is the passage with the highest rank, with one exception: if the right passage has a weight and a
        passage above it is from a document that is older by `STALE_DAYS` or more, the case is ``STALE`` and the rival
        is the first such passage.
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
