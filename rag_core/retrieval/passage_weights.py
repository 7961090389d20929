"""How much each passage counts with a reader that weighs by score, and whether the right one leads.

To retrieve the right passage is not yet to answer from it: what is read beside it competes with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rag_core.types import EvidenceCase, EvidenceMass, FloatArray, ScoredPassage, WeightedPassage, WeightingConfig

# After so many days a document counts as half as fresh.
HALF_LIFE_DAYS = 365.0
# By how much a document must be older than another for its words to be called stale beside it.
STALE_DAYS = 1.0


def freshness(age_days: npt.ArrayLike, half_life_days: float = HALF_LIFE_DAYS) -> FloatArray:
    """Freshness ``2 ** (-age / half-life)``: 1 for what is new, 0.5 after one half-life, nearing 0.

    Exponential decay of documents' dates as in Li and Croft, "Time-based language models", CIKM 2003.
    An age below 0, that of a date in the future, counts as 0.
    """
    ages = np.maximum(np.asarray(age_days, np.float64), 0.0)
    return np.exp2(-ages / half_life_days).astype(np.float32)


def softmax(scores: npt.ArrayLike, temperature: float) -> FloatArray:
    """``exp(s(i) / τ) / Σ exp(s(j) / τ)``, shape (n,), summing to 1.

    As the temperature τ nears 0 the highest score takes all; as it grows, each gets 1 / n.

    Raises
    ------
    ValueError
        ``temperature`` is not above 0.
    """
    if temperature <= 0:
        raise ValueError(f"A temperature must be above 0, not {temperature}.")
    values = np.asarray(scores, np.float64)
    # Relative to the highest, so that no temperature makes the exponential overflow.
    shares = np.exp((values - values.max(initial=-np.inf)) / temperature)
    weights: FloatArray = (shares / shares.sum()).astype(np.float32)
    return weights


def weight_passages(candidates: Sequence[ScoredPassage], weighting: WeightingConfig) -> tuple[WeightedPassage, ...]:
    """Rank passages by ``score + λ · ρ + σ · ε`` and weigh the first k; best first.

    λ is ``weighting.decay``, ρ the `freshness`, σ ``weighting.noise`` and ε standard normal, drawn from
    ``weighting.seed``. The weights are the `softmax` of the k highest sums, 0 below them: so Lewis et
    al., "Retrieval-augmented generation for knowledge-intensive NLP tasks", NeurIPS 2020, weigh
    passages, for whom τ is 1 and nothing is added. Equal sums keep the given order.

    Raises
    ------
    ValueError
        ``weighting.k`` is below 1, or its temperature not above 0.
    """
    if weighting.k < 1:
        raise ValueError(f"At least one passage must be weighed, not {weighting.k}.")
    fresh = freshness([one.age_days for one in candidates])
    noise = np.random.default_rng(weighting.seed).standard_normal(len(candidates))
    scores = np.array([one.score for one in candidates], np.float64)
    adjusted = scores + weighting.decay * fresh + weighting.noise * noise
    order = np.argsort(-adjusted, kind="stable")
    weights = np.zeros(len(candidates), np.float32)
    weights[: weighting.k] = softmax(adjusted[order[: weighting.k]], weighting.temperature)
    return tuple(
        WeightedPassage(candidates[at], float(fresh[at]), float(adjusted[at]), rank, float(weight))
        for rank, (at, weight) in enumerate(zip(order, weights, strict=True), 1)
    )


def evidence_mass(weighed: Sequence[WeightedPassage], k: int, right: str | None) -> EvidenceMass:
    """What becomes of the right passage among those that are weighed.

    Parameters
    ----------
    weighed : sequence of WeightedPassage
        Best first; see `weight_passages`.
    k : int
        How many of them are weighed: the right one is covered if it is among them.
    right : str, optional
        Its chunk id; ``None``, or one that is not there, where no stage found it.

    Returns
    -------
    EvidenceMass
        The rival is the heaviest passage above the right one. Where any of those above comes from a
        document that is older by a day or more, the heaviest of these is, and the case is ``STALE``.
    """
    own = next((one for one in weighed if one.candidate.chunk_id == right), None)
    if own is None:
        return EvidenceMass(EvidenceCase.ABSENT, None, False, 0.0, None)
    above = weighed[: own.rank - 1]
    if own.rank > k:
        return EvidenceMass(EvidenceCase.TOO_LOW, own.rank, False, 0.0, above[0].candidate.chunk_id)
    if not above:
        return EvidenceMass(EvidenceCase.LEADS, own.rank, True, own.weight, None)
    older = [one for one in above if one.candidate.age_days >= own.candidate.age_days + STALE_DAYS]
    case = EvidenceCase.STALE if older else EvidenceCase.IGNORED
    rival = (older or above)[0].candidate.chunk_id
    return EvidenceMass(case, own.rank, True, own.weight, rival)
