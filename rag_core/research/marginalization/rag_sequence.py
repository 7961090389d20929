"""RAG-Sequence: the whole answer comes from one passage."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

import numpy as np

from rag_core.research.marginalization.beam_search import search_beams
from rag_core.research.marginalization.predictions import MarginalCandidate, Predictions
from rag_core.types.arrays import Float64Array
from rag_core.types.marginalization import Decoding


def decode_sequence(
    predictions: Predictions,
    log_weights: Float64Array,
    *,
    beams: int,
    max_tokens: int,
    decoding: Decoding,
    min_ratio: float = 0.0,
) -> Generator[None, None, list[MarginalCandidate]]:
    """Return answers by ``p(y|x) = Σ_z p(z|x) Π_i p(y_i | x, z, y_1 … y_(i-1))``, most probable first.

    A beam search for each passage finds candidates. Thorough decoding then scores every candidate given every passage.
    Fast decoding assumes the probability 0 given a passage whose beams do not contain the candidate. Both are described
    in Lewis et al., "Retrieval-augmented generation for knowledge-intensive NLP tasks", NeurIPS 2020, section 2.5. The
    generator yields after each token of a beam search, and for each pair of a candidate and a passage.

    Parameters
    ----------
    predictions : Predictions
    log_weights : Float64Array, shape (passages,)
        ``log p(z|x)``.
    beams, max_tokens, min_ratio
        As in `search_beams`, for each passage.
    decoding : {"thorough", "fast"}
    """
    found: dict[tuple[int, ...], set[int]] = {}
    for passage in range(len(predictions)):
        predict = partial(predictions.predict, passage)
        for one in (yield from search_beams(predict, predictions.end_tokens, beams, max_tokens, min_ratio)):
            found.setdefault(one.tokens, set()).add(passage)
    candidates = []
    for answer, passages in found.items():
        columns = []
        for passage in range(len(predictions)):
            is_scored = decoding == "thorough" or passage in passages
            columns.append(predictions.score(passage, answer) if is_scored else np.full(len(answer), -np.inf))
            yield
        scores = np.stack(columns, axis=1)
        total = float(np.logaddexp.reduce(log_weights + scores.sum(axis=0)))
        candidates.append(MarginalCandidate(answer, total, scores))
    return sorted(candidates, key=lambda one: (-one.log_probability, one.tokens))
