"""Choose the threshold that answers answerable questions and refuses the others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from rag_core.types import RiskPoint, ThresholdAdvice

# The largest share of unanswerable questions that may be answered.
MAX_UNANSWERABLE_SHARE = 0.05
# Confidence level of the upper bound of a share.
CONFIDENCE = 0.95
# Shares below this count as 0.
EPSILON = 1e-9
# Decimals of a threshold; the fewest are tried first.
DECIMALS = (2, 3, 4)


def risk_coverage(scores: Sequence[float], wrong: Sequence[bool]) -> tuple[RiskPoint, ...]:
    """Return the share of questions answered, and the share of wrong answers, for each distinct threshold.

    El-Yaniv and Wiener, "On the foundations of noise-free selective classification", JMLR 2010.

    Parameters
    ----------
    scores : sequence of float
        The gate's score of each question; minus infinity if it is refused at any threshold.
    wrong : sequence of bool
        Whether the answer is wrong, or would be.

    Returns
    -------
    tuple of RiskPoint
        In order of falling threshold and rising coverage.
    """
    points: list[RiskPoint] = []
    ordered = sorted(zip(scores, wrong, strict=True), key=lambda pair: -pair[0])
    mistakes = 0
    for answered, (score, is_wrong) in enumerate(ordered, 1):
        if math.isinf(score):
            break
        mistakes += is_wrong
        point = RiskPoint(score, answered / len(ordered), mistakes / answered)
        # Questions with the same score are answered at the same threshold.
        if points and points[-1].threshold == score:
            points[-1] = point
        else:
            points.append(point)
    return tuple(points)


def advise_threshold(
    answerable: Sequence[float], unanswerable: Sequence[float], most: float = MAX_UNANSWERABLE_SHARE
) -> ThresholdAdvice | None:
    """Return the lowest threshold that answers at most a given share of the unanswerable questions.

    It is between 0 and 1, as the setting requires, and rounded up to hundredths, or to more decimals if
    hundredths would refuse more answerable questions: scores are dense near 1. ``None`` if there are no
    answerable or no unanswerable questions, or if every such threshold refuses all answerable questions.

    Parameters
    ----------
    answerable, unanswerable : sequence of float
        The gate's score of each question.
    most : float
        The share, from 0 to 1.
    """
    if not answerable or not unanswerable:
        return None
    allowed = math.floor(most * len(unanswerable) + EPSILON)
    falling = sorted(unanswerable, reverse=True)
    threshold = _lowest_above(falling[allowed], answerable) if allowed < len(falling) else 0.0
    if threshold > 1 or not _share(answerable, threshold):
        return None
    return ThresholdAdvice(
        threshold=threshold,
        most=most,
        unanswerable_answered=_share(unanswerable, threshold),
        answerable_answered=_share(answerable, threshold),
        unanswerable=len(unanswerable),
        unanswerable_possible=upper_bound(sum(score >= threshold for score in unanswerable), len(unanswerable)),
        unanswerable_needed=questions_needed(most),
    )


def upper_bound(answered: int, asked: int) -> float:
    """Return the one-sided 95 % upper confidence bound of the share of questions that are answered.

    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
    Biometrika 1934. If no question was answered, it is about 3 divided by the number of questions: Hanley and
    Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 1983.

    Parameters
    ----------
    answered, asked : int
        Number of answered questions out of ``asked``, which is at least 1.
    """
    if answered == asked:
        return 1.0
    low, high = answered / asked, 1.0
    # Bisection, far beyond the precision that is shown.
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _binomial_cdf(answered, asked, middle) < 1 - CONFIDENCE else (middle, high)
    return high


def questions_needed(most: float) -> int | None:
    """Return how many questions must all be refused to know, with 95 % confidence, that the share is at most this.

    ``None`` if the share is 0 or too small to be measured.
    """
    if most < EPSILON:
        return None
    return 1 if most >= CONFIDENCE else math.ceil(math.log(1 - CONFIDENCE) / math.log1p(-most))


def _binomial_cdf(successes: int, trials: int, share: float) -> float:
    """Return the binomial probability of at most so many successes; logarithms prevent an overflow."""
    return sum(
        math.exp(
            math.lgamma(trials + 1)
            - math.lgamma(one + 1)
            - math.lgamma(trials - one + 1)
            + one * math.log(share)
            + (trials - one) * math.log1p(-share)
        )
        for one in range(successes + 1)
    )


def _lowest_above(refused: float, answerable: Sequence[float]) -> float:
    """Return the threshold above a score with the fewest decimals that refuse no more answerable questions."""
    answered = sum(score > max(refused, 0.0) for score in answerable)
    threshold = 0.0
    for places in DECIMALS:
        step = 10**places
        # Searched from below, because the product of score and step can be rounded in either direction.
        steps = itertools.count(math.floor(max(refused, 0.0) * step))
        threshold = next(one / step for one in steps if one / step > refused)
        if sum(score >= threshold for score in answerable) == answered:
            break
    return threshold


def _share(scores: Sequence[float], threshold: float) -> float:
    return sum(score >= threshold for score in scores) / len(scores)
