"""Rerank chunks with a cross-encoder, which reads question and chunk together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rag_core.types import Hit, Question
from rag_core.types.protocols import PairScores


def cross_encode_chunks(
    scores: PairScores,
    question: Question,
    texts: Callable[[Sequence[int]], Mapping[int, str]],
    chunk_ids: Sequence[int],
) -> list[Hit]:
    """Score chunks with one forward pass per pair of question and chunk.

    Nogueira and Cho, "Passage re-ranking with BERT", 2019. No score can be computed in advance, so callers should
    pass only the best chunks of another ranking.

    Parameters
    ----------
    scores : PairScores
    question : Question
    texts : callable
        Returns texts by chunk id for those of the chunks that are visible to searches.
    chunk_ids : sequence of int

    Returns
    -------
    list of Hit
        Best first; equal scores keep the given order.
    """
    by_id = texts(chunk_ids)
    present = [chunk_id for chunk_id in chunk_ids if chunk_id in by_id]
    if not present or not len(question.tokens):
        return []
    values = scores(question.text, [by_id[chunk_id] for chunk_id in present])
    order = np.argsort(-values, kind="stable")
    return [Hit(present[position], float(values[position])) for position in order]
