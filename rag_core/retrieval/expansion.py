"""Chunks that have the words which an answer is likely to have, those a question leaves out among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rag_core.retrieval.protocols import InverseDocumentFrequency, Texts
from rag_core.types import Hit, plain

EXPANDED: Final = "expanded"
# The first chunks of the reranker's order, whose words are looked at.
READ = 20
# What a chunk with all of the words gains on the reranker's score. Chosen on benchmarks/gate_questions.jsonl:
# recall@1 is 0.961 without, 0.965 with half of it, 0.969 with it and with twice as much.
EXPANSION_WEIGHT = 0.1
_WORD = re.compile(r"[^\W_]+")


def word_weights(expansion: Mapping[str, float], idf: InverseDocumentFrequency) -> dict[str, float]:
    """How much each word of an expanded question counts, summing to 1: its weight times how rare it is."""
    rarity = idf(sorted(expansion))
    weights = {word: weight * rarity[word] for word, weight in expansion.items() if rarity[word] > 0}
    total = sum(weights.values())
    return {word: weight / total for word, weight in weights.items()}


class Expansion:
    """Adds to the reranker's scores what share of an expanded question's words a chunk has.

    The reranker compares each token of the question with those of the chunk; that "explore" and
    "territory" go with "expedition" and "colony", it knows only as far as the embedder does. A model trained
    on what people asked and found adds such words.

    Parameters
    ----------
    weights : callable
        The words in small letters, without accents, and how much each counts; they sum to 1.
    texts : Texts
        Chunks' own texts.
    """

    def __init__(self, weights: Callable[[], Mapping[str, float]], texts: Texts) -> None:
        self._weights = weights
        self._texts = texts

    @property
    def words(self) -> Mapping[str, float]:
        """The words and how much each counts, waited for."""
        return self._weights()

    def expand(self, reranked: Sequence[Hit]) -> list[Hit]:
        """The chunks of the reranker's order by both, best first; those after the first `READ` gain nothing."""
        weights = self.words
        texts = self._texts([hit.chunk_id for hit in reranked[:READ]])

        def gained(hit: Hit) -> Hit:
            words = set(_WORD.findall(plain(texts.get(hit.chunk_id, ""))))
            share = sum(weight for word, weight in weights.items() if word in words)
            return Hit(hit.chunk_id, hit.score + EXPANSION_WEIGHT * share)

        return [*sorted(map(gained, reranked[:READ]), key=lambda hit: -hit.score), *reranked[READ:]]
