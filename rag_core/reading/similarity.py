"""Late interaction between a question and spans of passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from rag_core.types import FloatArray, Passage, Question
from rag_core.types.documents import PageKey
from rag_core.types.searches import PassageTokens

# A span with fewer tokens is not compared.
MIN_TOKENS = 2


class SpanSimilarity:
    """Compares spans of pages with a question by the token vectors of passages.

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        Weights of the question's tokens; their sum is 1.
    passages : sequence of Passage
    tokens : mapping of int to PassageTokens
        Tokens by chunk id.
    """

    def __init__(
        self,
        question: Question,
        weights: FloatArray,
        passages: Sequence[Passage],
        tokens: Mapping[int, PassageTokens],
    ) -> None:
        self._question = question
        self._weights = weights
        self._passages = passages
        self._tokens = tokens

    @cached_property
    def _by_passage(self) -> list[tuple[Passage, FloatArray, PassageTokens]]:
        """For each passage, the weighted cosine of each of its tokens with each token of the question."""
        found = []
        for passage in self._passages:
            tokens = self._tokens.get(int(passage.chunk_id))
            if tokens is not None and len(self._question.tokens):
                cosines = self._question.tokens @ tokens.vectors.to_float().T
                found.append((passage, cosines * self._weights[:, None], tokens))
        return found

    def compare(self, page: PageKey, start: int, end: int) -> float | None:
        """Return the similarity (MaxSim) of a span; ``None`` if no passage with token vectors contains it.

        It is the weighted mean, over the question's tokens, of the highest cosine with a token of the span.
        """
        scores = []
        for passage, cosines, tokens in self._by_passage:
            if passage.page_key != page:
                continue
            first = tokens.offsets[:, 0]
            inside = (first >= 0) & (first >= start - passage.start) & (tokens.offsets[:, 1] <= end - passage.start)
            if np.count_nonzero(inside) >= MIN_TOKENS:
                scores.append(float(cosines[:, inside].max(axis=1).sum()))
        return max(scores, default=None)
