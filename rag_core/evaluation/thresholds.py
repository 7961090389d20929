"""Which threshold answers what can be answered and refuses the rest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from rag_core.types import RiskPoint, ThresholdAdvice

# The share of questions without an answer that may be answered all the same.
MOST_ANSWERED = 0.05
# How sure an upper bound of a share is meant to be.
CONFIDENCE = 0.95
# A share that counts as none.
NO_SHARE = 1e-9
# Decimals of a threshold, the fewest first.
PLACES = (2, 3, 4)


def risk_coverage(scores: Sequence[float], wrong: Sequence[bool]) -> tuple[RiskPoint, ...]:
    """For each threshold that changes anything, how much is answered and how much of that is wrong.

    El-Yaniv and Wiener, "On the foundations of noise-free selective classification", JMLR 2010.

    Parameters
    ----------
    scores : sequence of float
        The gate's score of each question; minus infinity where none answers at any threshold.
    wrong : sequence of bool
        Whether answering the question is, or would be, wrong.

    Returns
    -------
    tuple of RiskPoint
        By falling threshold, so by rising coverage.
    """
    points: list[RiskPoint] = []
    ordered = sorted(zip(scores, wrong, strict=True), key=lambda pair: -pair[0])
    mistakes = 0
    for answered, (score, is_wrong) in enumerate(ordered, 1):
        if math.isinf(score):
            break
        mistakes += is_wrong
        point = RiskPoint(score, answered / len(ordered), mistakes / answered)
        # Questions of one score are answered together.
        if points and points[-1].threshold == score:
            points[-1] = point
        else:
            points.append(point)
    return tuple(points)


def advise_threshold(
    answerable: Sequence[float], unanswerable: Sequence[float], most: float = MOST_ANSWERED
) -> ThresholdAdvice | None:
    """The lowest threshold at which at most a share of the unanswerable questions is answered.

    Kept within 0..1, which is what the setting takes, and rounded up to hundredths, or to more decimals
    where that would refuse questions with an answer: scores crowd near 1. ``None`` where there are no
    questions of one of the two sorts, or where every such threshold refuses all that have an answer.

    Parameters
    ----------
    answerable, unanswerable : sequence of float
        The gate's score of each question.
    most : float
        The share, in 0..1.
    """
    if not answerable or not unanswerable:
        return None
    allowed = math.floor(most * len(unanswerable) + NO_SHARE)
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
    """The largest share that would still answer so few of the questions asked in one case of twenty.

    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
    Biometrika 1934, one-sided. Where none was answered it is about three divided by the number asked: Hanley
    and Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 1983.

    Parameters
    ----------
    answered, asked : int
        ``answered`` of ``asked`` questions; at least one was asked.
    """
    if answered == asked:
        return 1.0
    low, high = answered / asked, 1.0
    # Halved until the two are neighbours as far as anybody can see.
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _at_most(answered, asked, middle) < 1 - CONFIDENCE else (middle, high)
    return high


def questions_needed(most: float) -> int | None:
    """Of how many questions none may be answered before the share of further ones is known to be at most this.

    ``None`` where that share is none, or so small that nobody can ask so many.
    """
    if most < NO_SHARE:
        return None
    return 1 if most >= CONFIDENCE else math.ceil(math.log(1 - CONFIDENCE) / math.log1p(-most))


def _at_most(successes: int, trials: int, share: float) -> float:
    """The probability of so many successes or fewer, in logarithms: the coefficients exceed any float."""
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
    """The shortest threshold above a score that refuses no more questions with an answer than it must."""
    answered = sum(score > max(refused, 0.0) for score in answerable)
    threshold = 0.0
    for places in PLACES:
        step = 10**places
        # Counted on from below, for the product of a score and the step may be rounded either way.
        steps = itertools.count(math.floor(max(refused, 0.0) * step))
        threshold = next(one / step for one in steps if one / step > refused)
        if sum(score >= threshold for score in answerable) == answered:
            break
    return threshold


def _share(scores: Sequence[float], threshold: float) -> float:
    return sum(score >= threshold for score in scores) / len(scores)
