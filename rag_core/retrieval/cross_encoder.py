"""Rerank chunks with a cross-encoder, which reads a question and a chunk together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rag_core.types.protocols import PairScores
from rag_core.types.retrieval import Hit, Question


def cross_encode_chunks(
    scores: PairScores,
    question: Question,
    texts: Callable[[Sequence[int]], Mapping[int, str]],
    chunk_ids: Sequence[int],
) -> list[Hit]:
    """Rerank chunks with one forward pass for each pair of the question and a chunk.

    The method is that of Nogueira and Cho, "Passage re-ranking with BERT", 2019. This is slow, because nothing can be
    computed before the question is known. Pass only the best chunks of another ranking.

    Parameters
    ----------
    scores : PairScores
    question : Question
    texts : callable
        Function that returns the texts of those chunks that searches may find, by chunk id.
    chunk_ids : sequence of int

    Returns
    -------
    list of Hit
        The chunks with a text, best first; empty if the question has no tokens. Chunks with equal scores keep the given
        order.
    """
    by_id = texts(chunk_ids)
    present = [chunk_id for chunk_id in chunk_ids if chunk_id in by_id]
    if not present or not len(question.tokens):
        return []
    values = scores(question.text, [by_id[chunk_id] for chunk_id in present])
    order = np.argsort(-values, kind="stable")
    return [Hit(present[position], float(values[position])) for position in order]
