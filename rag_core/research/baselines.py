"""Textbook rankers, as baselines for the search stages.

Formulas and notation are those of Jurafsky and Martin, "Speech and Language Processing", 3rd edition draft, chapter 14.
``tf`` is the count of a word in a text, ``N`` the number of texts, ``df`` the number of texts that contain the word;
logarithms are to base 10. For dense retrieval, the third ranker of that chapter, use ``RetrievalConfig("dense")``.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from rag_core.types.evaluation import Baseline
from rag_core.types.retrieval import Hit

_WORD = re.compile(r"[^\W_]+")


def tokenize_words(text: str) -> list[str]:
    """Return the words in lower case and without punctuation. Words are not stemmed, and stop words are kept."""
    return _WORD.findall(text.lower())


class _InvertedIndex:
    """Maps each word to the texts that contain it, with its count in each text.

    Parameters
    ----------
    texts : sequence of str
        The ``chunk_id`` of a hit is the position of a text in this sequence.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._lengths = [0] * len(texts)
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for position, text in enumerate(texts):
            counts = Counter(tokenize_words(text))
            self._lengths[position] = counts.total()
            for word, count in counts.items():
                self._postings[word].append((position, count))

    @property
    def size_bytes(self) -> int:
        """Size of the index if each posting is stored as two numbers of four bytes, and each word with its letters."""
        return sum(8 * len(postings) + len(word.encode()) for word, postings in self._postings.items())

    def _compute_idf(self, word: str) -> float:
        """Return ``log(N / df)``; 0 if no text contains the word."""
        postings = self._postings.get(word)
        return math.log10(len(self._lengths) / len(postings)) if postings else 0.0

    def _rank(self, query: str, weight: Callable[[str, int, int, int], float]) -> list[Hit]:
        """Return the texts with a score above 0, best first.

        The score is the sum of ``weight(word, count in query, position of the text, tf)`` over the words that the query
        and the text have in common.
        """
        sums: dict[int, float] = defaultdict(float)
        for word, count in Counter(tokenize_words(query)).items():
            for position, tf in self._postings.get(word, ()):
                sums[position] += weight(word, count, position, tf)
        return _sort_hits(Hit(position, score) for position, score in sums.items() if score > 0)


class TfIdf(_InvertedIndex):
    """Cosine similarity of tf-idf vectors, with word weights ``(1 + log tf) * log(N / df)``."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(texts)
        squares = [0.0] * len(texts)
        for word, postings in self._postings.items():
            for position, tf in postings:
                squares[position] += self._weight(word, tf) ** 2
        self._norms = [math.sqrt(square) for square in squares]

    def rank(self, query: str) -> list[Hit]:
        """Return the texts with a cosine above 0, best first."""
        norm = math.sqrt(sum(self._weight(word, count) ** 2 for word, count in Counter(tokenize_words(query)).items()))
        products = self._rank(query, lambda word, count, _, tf: self._weight(word, count) * self._weight(word, tf))
        return _sort_hits(Hit(one.chunk_id, one.score / (norm * self._norms[one.chunk_id])) for one in products)

    def _weight(self, word: str, tf: int) -> float:
        return (1 + math.log10(tf)) * self._compute_idf(word)


class Bm25(_InvertedIndex):
    """BM25: each query word adds ``log(N / df) * tf / (k * (1 - b + b * length / mean length) + tf)``.

    Parameters
    ----------
    texts : sequence of str
        The ``chunk_id`` of a hit is the position of a text in this sequence.
    k : float
        Saturation of the term frequency: the lower ``k`` is, the less a repetition of a word adds to the score.
    b : float
        Length normalization, from 0 (none) to 1 (full).
    """

    def __init__(self, texts: Sequence[str], k: float = 1.2, b: float = 0.75) -> None:
        super().__init__(texts)
        self._mean = sum(self._lengths) / max(1, len(texts))
        self._k, self._b = k, b

    def rank(self, query: str) -> list[Hit]:
        """Return the texts with a score above 0, best first."""
        return self._rank(query, self._weight)

    def _weight(self, word: str, count: int, position: int, tf: int) -> float:
        length = self._lengths[position] / self._mean
        return count * self._compute_idf(word) * tf / (self._k * (1 - self._b + self._b * length) + tf)


def build_ranker(baseline: Baseline, texts: Sequence[str]) -> TfIdf | Bm25:
    """Return the ranker of a baseline for these texts."""
    return TfIdf(texts) if baseline.name == "tf-idf" else Bm25(texts, baseline.k, baseline.b)


def _sort_hits(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))
