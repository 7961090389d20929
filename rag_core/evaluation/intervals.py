"""Bootstrap confidence intervals of metrics, and tests of their differences.

Questions are resampled, and the intervals are percentile intervals (Efron and Tibshirani, "An Introduction to the
Bootstrap", 1993). The seed is fixed, so that the same outcomes always give the same interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from rag_core.types.evaluation import Interval

RESAMPLES = 10_000
LEVEL = 0.95
# Most values that are drawn at a time, over all resamples. The limit keeps the memory independent of the number of
# questions.
_BLOCK = 2_000_000

Values = npt.NDArray[np.float64]


def compute_mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean of the values with its 95 % interval; for a single value, the interval has no width.

    Raises
    ------
    ValueError
        There are no values.
    """
    array = np.asarray(values, float)
    if not len(array):
        raise ValueError("a mean needs values")
    return Interval(float(array.mean()), *_compute_percentiles(_resample_means(array)))


def compute_auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the area under the ROC curve: the probability that a positive has a higher score than a negative.

    A tie counts as one half; see Hanley and McNeil, Radiology 143, 1982.
    """
    return float(_compare_pairs(positive, negative).mean())


def compute_auroc_interval(positive: Sequence[float], negative: Sequence[float]) -> Interval:
    """Return `compute_auroc` with its 95 % interval; positives and negatives are resampled separately."""
    wins = _compare_pairs(positive, negative)
    random = np.random.default_rng(0)
    rows, columns = wins.shape
    areas = []
    for size in _split_resamples(rows + columns):
        # The areas depend only on how often each value is drawn, so one matrix product gives all of them.
        drawn_rows = random.multinomial(rows, np.full(rows, 1 / rows), size)
        drawn_columns = random.multinomial(columns, np.full(columns, 1 / columns), size)
        areas.append(((drawn_rows @ wins) * drawn_columns).sum(axis=1) / wins.size)
    return Interval(float(wins.mean()), *_compute_percentiles(np.concatenate(areas)))


def compute_paired_difference(first: Sequence[float], second: Sequence[float]) -> tuple[Interval, float]:
    """Return the mean of ``second - first`` with its interval, and a two-sided p-value.

    ``first`` and ``second`` have one value per question, in the same order. For the p-value, the means of all
    resamples are shifted so that they vary around 0. The p-value is the share of shifted means that are at least as far
    from 0 as the measured difference; Berg-Kirkpatrick, Burkett and Klein, "An empirical investigation of statistical
    significance in NLP", EMNLP 2012.
    """
    differences = np.asarray(second, float) - np.asarray(first, float)
    mean = float(differences.mean())
    means = _resample_means(differences)
    # Count the measured sample as one more resample, so that no p-value is 0. The margin allows for rounding errors.
    extreme = int((np.abs(means - mean) >= abs(mean) - 1e-12).sum())
    return Interval(mean, *_compute_percentiles(means)), (extreme + 1) / (RESAMPLES + 1)


def _resample_means(array: Values) -> Values:
    """Return the mean of each resample, shape (RESAMPLES,)."""
    random = np.random.default_rng(0)
    return np.concatenate(
        [
            array[random.integers(0, len(array), (size, len(array)))].mean(axis=1)
            for size in _split_resamples(len(array))
        ]
    )


def _split_resamples(width: int) -> Iterator[int]:
    """Yield the numbers of resamples to draw at a time, if each resample has ``width`` values."""
    most = max(1, _BLOCK // width)
    for first in range(0, RESAMPLES, most):
        yield min(most, RESAMPLES - first)


def _compute_percentiles(values: Values) -> tuple[float, float]:
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)


def _compare_pairs(positive: Sequence[float], negative: Sequence[float]) -> Values:
    """Return 1 if the positive scores higher, 0.5 for a tie and else 0, shape (positives, negatives)."""
    rows, columns = np.asarray(positive, float)[:, None], np.asarray(negative, float)[None, :]
    # Compare the scores instead of subtracting them: two scores of minus infinity are a tie, but have no difference.
    won: Values = (rows > columns) + 0.5 * (rows == columns)
    return won
