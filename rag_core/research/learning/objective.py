"""The training objective of the query adapter, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag_core.types.arrays import FloatArray

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MappedExample:
    """A question and its candidates, for the fit of one matrix.

    The score of candidate ``c`` is the sum of the inner products of the mapped rows of ``vectors`` with the rows of
    ``targets[c]``. For dense vectors, ``vectors`` has one row, and the targets are the vectors of the candidates. For
    late interaction, the targets are the matching tokens of the candidates; see `rag_core.research.learning.alignment`.

    Attributes
    ----------
    vectors : FloatArray, shape (m, dimension)
        Vectors of the question before the map.
    targets : FloatArray, shape (c, m, dimension)
    log_likelihood : FloatArray, shape (c,)
        The logarithm of p(y|x,z), the probability of the right answer given the candidate. For labelled pages, it is 0
        for candidates on these pages and minus infinity for others. At least one is finite.
    """

    vectors: FloatArray
    targets: FloatArray
    log_likelihood: FloatArray


def compute_marginal_loss(scores: Values, log_likelihood: Values) -> tuple[float, Values]:
    """Return the negative log marginal likelihood of the answer, and its gradient with respect to the scores.

    The loss is ``-log sum_z p(z|x) p(y|x,z)``, where ``p(z|x)`` is the softmax of the scores over the candidates (Lewis
    et al., "Retrieval-augmented generation for knowledge-intensive NLP tasks", NeurIPS 2020). The probabilities of the
    answer are constants, so the gradient passes through the retrieval distribution only. The gradient of a score is
    ``p(z|x) - p(z|x,y)``: the score rises if the candidate explains the answer better than average.

    If ``log_likelihood`` is 0 for one candidate and minus infinity for the others, this is the loss of Karpukhin et
    al., "Dense passage retrieval for open-domain question answering", EMNLP 2020 (InfoNCE).

    Parameters
    ----------
    scores, log_likelihood : float64, shape (c,)
    """
    prior = scores - np.logaddexp.reduce(scores)
    joint = prior + log_likelihood
    total = float(np.logaddexp.reduce(joint))
    return -total, np.exp(prior) - np.exp(joint - total)


def compute_loss(examples: Sequence[MappedExample], matrix: Values, temperature: float) -> float:
    """Return the mean loss of the examples, without the weight decay of `compute_gradient`."""
    mapped = _MappedVectors(examples, matrix)
    losses = []
    for one, unit in zip(examples, np.split(mapped.unit, mapped.starts), strict=True):
        scores = np.tensordot(one.targets, unit, 2) / temperature
        losses.append(compute_marginal_loss(scores, one.log_likelihood.astype(np.float64))[0])
    return float(np.mean(losses))


def compute_gradient(examples: Sequence[MappedExample], matrix: Values, temperature: float, decay: float) -> Values:
    """Return the gradient of the mean loss of the examples plus ``decay`` times the squared norm of the matrix.

    Parameters
    ----------
    examples : sequence of MappedExample
    matrix : float64, shape (dimension, dimension)
        The matrix of the residual map; see `QueryAdapter`.
    temperature : float
        Divisor of the scores before the softmax.
    decay : float
    """
    mapped = _MappedVectors(examples, matrix)
    gradients = []
    for one, unit in zip(examples, np.split(mapped.unit, mapped.starts), strict=True):
        scores = np.tensordot(one.targets, unit, 2) / temperature
        _, by_score = compute_marginal_loss(scores, one.log_likelihood.astype(np.float64))
        gradients.append(np.tensordot(by_score, one.targets, 1) / temperature)
    by_unit, unit = np.concatenate(gradients), mapped.unit
    by_mapped = (by_unit - (by_unit * unit).sum(axis=1, keepdims=True) * unit) / mapped.norms
    gradient: Values = mapped.vectors.T @ by_mapped / len(examples) + 2 * decay * matrix
    return gradient


class _MappedVectors:
    """The vectors of several examples, mapped by one product with the matrix, since a product for each takes longer.

    Attributes
    ----------
    vectors, unit : float64, shape (n, dimension)
        The vectors before the map, and the mapped vectors of unit length.
    norms : float64, shape (n, 1)
        The lengths of the mapped vectors before the division.
    starts : list of int
        The first rows of all examples except the first one.
    """

    def __init__(self, examples: Sequence[MappedExample], matrix: Values) -> None:
        self.vectors: Values = np.concatenate([one.vectors for one in examples]).astype(np.float64)
        self.starts: list[int] = np.cumsum([len(one.vectors) for one in examples[:-1]]).tolist()
        mapped = self.vectors + self.vectors @ matrix
        self.norms: Values = np.maximum(np.linalg.norm(mapped, axis=1, keepdims=True), 1e-9)
        self.unit: Values = mapped / self.norms
