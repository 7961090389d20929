"""Compare a question with spans of pages by late interaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Question
from rag_core.types.searches import PassageTokens
from rag_core.types.tables import Span

# Minimum number of tokens of a text that is compared.
MIN_TOKENS = 2
# A function that takes a page and spans of its text, and returns the similarity of the question and the text of these
# spans; ``None`` if the page has no token vectors or the spans have too few tokens.
Compare = Callable[[PageKey, Sequence[Span]], float | None]


def skip_comparison(page: PageKey, spans: Sequence[Span]) -> None:
    """Return ``None`` instead of a similarity. This is the `Compare` function if there are no token vectors."""


class PageSimilarity:
    """Compares texts on pages with a question by the token vectors of the chunks of the pages.

    Parameters
    ----------
    questions : mapping of PageKey to (Question, FloatArray)
        The question for each page, and the weights of its tokens, which sum to 1.
    chunks : sequence of (PageKey, int, PassageTokens)
        The page of each chunk, the start of the chunk in the text of the page, and its tokens.
    slope, intercept : float
        Linear map of the embedder's cosines; see `Calibration`.
    """

    def __init__(
        self,
        questions: Mapping[PageKey, tuple[Question, FloatArray]],
        chunks: Sequence[tuple[PageKey, int, PassageTokens]],
        slope: float = 1.0,
        intercept: float = 0.0,
    ) -> None:
        self._slope, self._intercept = slope, intercept
        self._pages: dict[PageKey, tuple[IntArray, FloatArray]] = {}
        for page in dict.fromkeys(page for page, *_ in chunks):
            question, weights = questions[page]
            if not len(question.tokens):
                continue
            spans, cosines = [], []
            for _, start, tokens in (one for one in chunks if one[0] == page):
                is_text = tokens.offsets[:, 1] > np.maximum(tokens.offsets[:, 0], 0)
                spans.append(tokens.offsets[is_text] + start)
                cosines.append((question.tokens @ tokens.vectors.to_float().T)[:, is_text])
            self._pages[page] = np.concatenate(spans), weights[:, None] * np.concatenate(cosines, axis=1)

    def compare(self, page: PageKey, spans: Sequence[Span]) -> float | None:
        """Return the calibrated similarity of the question and some spans of a page; see `Compare`."""
        cosine = self.compute_mean_cosine(page, spans)
        return None if cosine is None else self._slope * cosine + self._intercept

    def compute_mean_cosine(self, page: PageKey, spans: Sequence[Span]) -> float | None:
        """Return the weighted mean, over the question's tokens, of the highest cosine to any token in some spans.

        This is MaxSim (see `compute_max_sim`) without neighbours. The result is ``None`` if the page has no token
        vectors, or if fewer than `MIN_TOKENS` tokens are in the spans.
        """
        if page not in self._pages:
            return None
        offsets, cosines = self._pages[page]
        inside = np.zeros(len(offsets), bool)
        for start, end in spans:
            inside |= (offsets[:, 0] >= start) & (offsets[:, 1] <= end)
        return float(cosines[:, inside].max(axis=1).sum()) if np.count_nonzero(inside) >= MIN_TOKENS else None
