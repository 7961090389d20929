"""Compute the effect of thresholds of the gate, and advise one that refuses most unanswerable questions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from rag_core.types.evaluation import RiskPoint, ThresholdAdvice

# The largest share of unanswerable questions that may be answered, unless the user chooses another share.
MAX_UNANSWERABLE_SHARE = 0.05
# Confidence level of the upper bound on the share of unanswerable questions that are answered.
CONFIDENCE = 0.95
# Margin for rounding errors; shares below this value count as 0.
EPSILON = 1e-9
# Numbers of decimals to which a threshold is rounded, in the order in which they are tried.
DECIMALS = (2, 3, 4)


def compute_risk_points(scores: Sequence[float], wrong: Sequence[bool]) -> tuple[RiskPoint, ...]:
    """Return the coverage (share of questions answered) and risk (share of answers that are wrong) by threshold.

    See El-Yaniv and Wiener, "On the foundations of noise-free selective classification", JMLR 2010.

    Parameters
    ----------
    scores : sequence of float
        The gate's score of each question; minus infinity if the question is refused at every threshold.
    wrong : sequence of bool
        Whether the answer to each question is wrong, or would be wrong if the question were answered.

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
        # Questions with the same score are answered at the same threshold, so they share one point.
        if points and points[-1].threshold == score:
            points[-1] = point
        else:
            points.append(point)
    return tuple(points)


def advise_threshold(
    answerable: Sequence[float], unanswerable: Sequence[float], most: float = MAX_UNANSWERABLE_SHARE
) -> ThresholdAdvice | None:
    """Return the lowest threshold that answers at most a given share of the unanswerable questions.

    The threshold is between 0 and 1 and is rounded up to hundredths, or to more decimals if hundredths would refuse
    more answerable questions. Return ``None`` if there are no answerable or no unanswerable questions, or if every such
    threshold refuses all answerable questions.

    Parameters
    ----------
    answerable, unanswerable : sequence of float
        The gate's score of each question.
    most : float
        Largest share of unanswerable questions that may be answered, from 0 to 1.
    """
    if not answerable or not unanswerable:
        return None
    allowed = math.floor(most * len(unanswerable) + EPSILON)
    falling = sorted(unanswerable, reverse=True)
    threshold = _round_up_threshold(falling[allowed], answerable) if allowed < len(falling) else 0.0
    if threshold > 1 or not _compute_answered_share(answerable, threshold):
        return None
    return ThresholdAdvice(
        threshold=threshold,
        most=most,
        unanswerable_answered=_compute_answered_share(unanswerable, threshold),
        answerable_answered=_compute_answered_share(answerable, threshold),
        unanswerable=len(unanswerable),
        unanswerable_possible=compute_upper_bound(sum(score >= threshold for score in unanswerable), len(unanswerable)),
        unanswerable_needed=count_questions_needed(most),
    )


def compute_upper_bound(answered: int, asked: int) -> float:
    """Return the one-sided 95 % upper confidence bound of the share of questions that are answered.

    The bound is that of Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika 1934. If no question was answered, the bound is about 3 divided by the number of questions:
    Hanley and Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 1983.

    Parameters
    ----------
    answered, asked : int
        Number of answered questions out of ``asked``, which is at least 1.
    """
    if answered == asked:
        return 1.0
    low, high = answered / asked, 1.0
    # 40 bisections give far more digits than are displayed.
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _compute_binomial_cdf(answered, asked, middle) < 1 - CONFIDENCE else (middle, high)
    return high


def count_questions_needed(most: float) -> int | None:
    """Return how many unanswerable questions must be asked, and all be refused, to confirm the share ``most``.

    The share is confirmed if, with 95 % confidence, at most this share of unanswerable questions is answered. Return
    ``None`` if the share is 0 or too small to be measured.
    """
    if most < EPSILON:
        return None
    return 1 if most >= CONFIDENCE else math.ceil(math.log(1 - CONFIDENCE) / math.log1p(-most))


def _compute_binomial_cdf(successes: int, trials: int, share: float) -> float:
    """Return the binomial probability of at most ``successes`` successes. Logarithms avoid an overflow."""
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


def _round_up_threshold(refused: float, answerable: Sequence[float]) -> float:
    """Return a threshold slightly above the score ``refused``.

    The threshold is rounded up to as few decimals as possible without refusing more answerable questions.
    """
    answered = sum(score > max(refused, 0.0) for score in answerable)
    threshold = 0.0
    for places in DECIMALS:
        step = 10**places
        # Start below the score, because the product of score and step may be rounded up or down.
        steps = itertools.count(math.floor(max(refused, 0.0) * step))
        threshold = next(one / step for one in steps if one / step > refused)
        if sum(score >= threshold for score in answerable) == answered:
            break
    return threshold


def _compute_answered_share(scores: Sequence[float], threshold: float) -> float:
    return sum(score >= threshold for score in scores) / len(scores)
