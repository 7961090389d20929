"""Beam search."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.types.marginalization import TokenDistribution

# A function of sequences of tokens, which returns the distribution of the next token after each of them.
Predict = Callable[[Sequence[tuple[int, ...]]], Sequence[TokenDistribution]]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A sequence of tokens with its log-probability. A complete sequence ends with an end token."""

    tokens: tuple[int, ...]
    log_probability: float
    is_complete: bool


def search_beams(
    predict: Predict, end_tokens: Collection[int], beams: int, max_tokens: int, min_ratio: float = 0.0
) -> Generator[None, None, list[Hypothesis]]:
    """Return the most probable sequences that a beam search finds, best first; yield after each token.

    The log-probability of a sequence is the sum over its tokens, without normalization by length. The first end token
    completes a sequence. The search ends when ``beams`` sequences are complete and no incomplete sequence is more
    probable than the last of them: further tokens can only lower the probability of a sequence.

    Parameters
    ----------
    predict : callable
    end_tokens : collection of int
    beams : int
        Number of sequences that are continued in each step, and that are returned at the end.
    max_tokens : int
        Largest number of tokens of a sequence, including its end token. Incomplete sequences are returned only if none
        is complete.
    min_ratio : float
        Lowest probability of a sequence, as a share of the probability of the best complete sequence.
    """
    active = [Hypothesis((), 0.0, is_complete=False)]
    complete: list[Hypothesis] = []
    for _ in range(max_tokens):
        distributions = predict([one.tokens for one in active])
        extended = [
            Hypothesis((*one.tokens, token), one.log_probability + value, is_complete=token in end_tokens)
            for one, distribution in zip(active, distributions, strict=True)
            for token, value in _select_best(distribution, beams + len(end_tokens))
        ]
        complete = _keep_best([*complete, *(one for one in extended if one.is_complete)], beams)
        active = _keep_best([one for one in extended if not one.is_complete], beams)
        if complete and min_ratio:
            least = complete[0].log_probability + math.log(min_ratio)
            complete = [one for one in complete if one.log_probability >= least]
            active = [one for one in active if one.log_probability >= least]
        yield
        is_full = len(complete) == beams
        if not active or (is_full and active[0].log_probability <= complete[-1].log_probability):
            break
    return complete or active


def _select_best(distribution: TokenDistribution, count: int) -> list[tuple[int, float]]:
    """Return the most probable tokens with their log-probabilities; impossible tokens are left out."""
    order = np.argsort(-distribution.log_probabilities, kind="stable")[:count]
    pairs = zip(distribution.tokens[order].tolist(), distribution.log_probabilities[order].tolist(), strict=True)
    return [(token, value) for token, value in pairs if value > -np.inf]


def _keep_best(hypotheses: Sequence[Hypothesis], count: int) -> list[Hypothesis]:
    # Order equally probable sequences by their tokens, so that the result does not depend on the order of the input.
    return sorted(hypotheses, key=lambda one: (-one.log_probability, one.tokens))[:count]
