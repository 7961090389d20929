"""Reranking by a cross-encoder: question and passage are read together, which is slow and exact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.types import Hit, Question
from rag_core.types.protocols import PairScores, Texts


class CrossEncoderReranker:
    """A forward pass for each pair of question and chunk; a reranker named ``cross_encoder``.

    Nogueira and Cho, "Passage re-ranking with BERT", 2019. It reads question and chunk together, so
    that nothing can be computed before the question is asked: it is given the few best chunks of another
    ranking only.

    Parameters
    ----------
    scores : PairScores
    texts : Texts
        What of a chunk is put before the model.
    """

    name = "cross_encoder"

    def __init__(self, scores: PairScores, texts: Texts) -> None:
        self._scores = scores
        self._texts = texts

    def rerank(self, question: Question, chunk_ids: Sequence[int]) -> list[Hit]:
        texts = self._texts(chunk_ids)
        present = [chunk_id for chunk_id in chunk_ids if chunk_id in texts]
        if not present or not len(question.tokens):
            return []
        scores = self._scores(question.text, [texts[chunk_id] for chunk_id in present])
        order = np.argsort(-scores, kind="stable")
        return [Hit(present[position], float(scores[position])) for position in order]
