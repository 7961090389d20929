"""RAG-Token: each token of an answer can come from another passage."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from rag_core.research.marginalization.beam_search import search_beams
from rag_core.research.marginalization.predictions import MarginalCandidate, Predictions
from rag_core.types.arrays import Float64Array
from rag_core.types.marginalization import TokenDistribution


def decode_token(
    predictions: Predictions, log_weights: Float64Array, *, beams: int, max_tokens: int, min_ratio: float = 0.0
) -> Generator[None, None, list[MarginalCandidate]]:
    """Return answers by ``p(y|x) = Π_i Σ_z p(z|x) p(y_i | x, z, y_1 … y_(i-1))``, most probable first.

    One beam search runs on the mixture of the passages' distributions (Lewis et al., "Retrieval-augmented generation
    for knowledge-intensive NLP tasks", NeurIPS 2020, section 2.5). The generator yields after each token.

    Parameters
    ----------
    predictions : Predictions
    log_weights : Float64Array, shape (passages,)
        ``log p(z|x)``.
    beams, max_tokens, min_ratio
        As in `search_beams`.
    """

    def predict(answers: Sequence[tuple[int, ...]]) -> list[TokenDistribution]:
        rows = [predictions.predict(passage, answers) for passage in range(len(predictions))]
        return [mix_distributions(one, log_weights) for one in zip(*rows, strict=True)]

    found = yield from search_beams(predict, predictions.end_tokens, beams, max_tokens, min_ratio)
    candidates = []
    for one in found:
        scores = np.stack([predictions.score(passage, one.tokens) for passage in range(len(predictions))], axis=1)
        candidates.append(MarginalCandidate(one.tokens, one.log_probability, scores))
    return candidates


def mix_distributions(distributions: Sequence[TokenDistribution], log_weights: Float64Array) -> TokenDistribution:
    """Return the mixture ``Σ_z p(z|x) p(y_i | …)`` of the distributions, one for each passage."""
    tokens = np.unique(np.concatenate([one.tokens for one in distributions]))
    values = np.stack([one.find(tokens) for one in distributions], axis=1)
    rest = np.array([one.rest for one in distributions])
    mixed = np.logaddexp.reduce(log_weights + values, axis=-1)
    return TokenDistribution(tokens, mixed, float(np.logaddexp.reduce(log_weights + rest)))
