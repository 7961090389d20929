"""Reranking by a cross-encoder: question and passage are read together, which is slow and exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rag_core.types import Hit, Question
from rag_core.types.protocols import PairScores


def read_chunks(
    scores: PairScores,
    question: Question,
    texts: Callable[[Sequence[int]], Mapping[int, str]],
    chunk_ids: Sequence[int],
) -> list[Hit]:
    """Score chunks by a forward pass for each pair of question and chunk.

    Nogueira and Cho, "Passage re-ranking with BERT", 2019. Nothing can be computed before the question is asked, so
    only the few best chunks of another ranking are given to it.

    Parameters
    ----------
    scores : PairScores
    question : Question
    texts : callable
        Returns the texts to read by chunk id, of those that may be seen.
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
