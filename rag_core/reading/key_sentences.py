"""Select the most important sentences of a text, by LexRank with maximal marginal relevance.

LexRank is the algorithm of Erkan and Radev, "LexRank: Graph-based lexical centrality as salience in text
summarization", JAIR 2004, here with cosines of sentence vectors instead of words. Maximal marginal relevance is that of
Carbonell and Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing summaries",
SIGIR 1998.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rag_core.text.injection import contains_instructions
from rag_core.text.words import LETTERS
from rag_core.types.arrays import FloatArray

# Minimum and maximum number of words of a complete sentence, and minimum share of letters in its characters.
MIN_WORDS, MAX_WORDS, LETTER_SHARE = 8, 40, 0.7
# Damping factor and number of iterations of LexRank, and the weight of relevance (from 0 to 1) against novelty.
_DAMPING, _ITERATIONS, _RELEVANCE = 0.85, 30, 0.7
_COMPLETE = re.compile(r"^[\"'“‘«(]?[^\W_a-z].*[.!…][\"'”’»)]?$", re.DOTALL)
# The first words of a caption, or of a sentence that continues the previous sentence.
_CONTINUES = re.compile(
    r"(?:Fig(?:ure|\.)|Table|Note|However|Therefore|Thus|Hence|Moreover|Furthermore|In addition|Additionally|"
    r"For example|For instance|In this case|Otherwise|Consequently|As a result|Similarly|Likewise|Instead|Then)\b",
    re.IGNORECASE,
)
# A sentence that refers to another part of the document.
_CROSS_REFERENCE = re.compile(
    r"\b(?:see|refer to|(?:set forth|included|described|discussed|contained|found|presented) (?:in|under|below))"
    r"\b.{0,60}?(?:\b(?:Item|Note|Part|Section|Exhibit|Annual Report|Form|Appendix|Chapter|Table|page)\b|[“\"])|"
    r"\bincorporated (?:herein )?by reference\b|^For (?:additional|more|further) (?:information|detail)",
    re.IGNORECASE,
)
# The first words of a sentence that refers to the previous sentence.
_REFERENCE = re.compile(r"(?:He|She|It|They|This|These|His|Her|Its|Their|That|Those|Such|The (?:former|latter))\b")
_ADDRESS = re.compile(r"\bwww\.|https?:|@|\.{4,}|\. \. \.")


def is_complete_sentence(text: str) -> bool:
    """Return whether a text is a complete sentence of prose that can be understood without the previous sentence."""
    words = text.split()
    letters = sum(map(len, LETTERS.findall(text)))
    return (
        MIN_WORDS <= len(words) <= MAX_WORDS
        and letters >= LETTER_SHARE * len("".join(words))
        and _COMPLETE.match(text) is not None
        and not (_CONTINUES.match(text) or _REFERENCE.match(text) or text.endswith((":", "?", "？", "：")))
        and _ADDRESS.search(text) is None
        and not contains_instructions(text)
    )


def is_cross_reference(text: str) -> bool:
    """Return whether a sentence refers to another part of the document, such as "See Note 5"."""
    return _CROSS_REFERENCE.search(text) is not None


def rank_sentences(vectors: FloatArray) -> FloatArray:
    """Return the LexRank of each sentence, shape (n,), scaled so that the highest rank is 1.

    Parameters
    ----------
    vectors : FloatArray, shape (n, dimension)
        Vectors of the sentences, of unit length; at least one.
    """
    similar = np.maximum(vectors @ vectors.T, 0.0)
    transitions = similar / similar.sum(axis=1, keepdims=True)
    ranks: FloatArray = np.full(len(vectors), 1 / len(vectors), np.float32)
    for _ in range(_ITERATIONS):
        ranks = ((1 - _DAMPING) / len(vectors) + _DAMPING * (ranks @ transitions)).astype(np.float32)
    scaled: FloatArray = ranks / ranks.max()
    return scaled


def select_sentences(
    vectors: FloatArray, ranks: FloatArray, words: Sequence[int], max_words: int, among: Sequence[int] | None = None
) -> list[int]:
    """Select sentences by maximal marginal relevance, and return their indices in ascending order.

    In turn, the sentence with the highest rank is selected, reduced by its similarity to the sentences selected before.

    Parameters
    ----------
    vectors : FloatArray, shape (n, dimension)
        Vectors of the sentences, of unit length.
    ranks : FloatArray, shape (n,)
        See `rank_sentences`.
    words : sequence of int
        Number of words of each sentence.
    max_words : int
        Maximum number of words of all selected sentences together. The first sentence is selected even if it has more.
    among : sequence of int, optional
        Indices of the sentences to select from; by default all.
    """
    left = list(range(len(words)) if among is None else among)
    selected: list[int] = []
    closest = np.zeros(len(words), np.float32)
    room = max_words
    while left:
        best = max(left, key=lambda one: _RELEVANCE * ranks[one] - (1 - _RELEVANCE) * closest[one])
        if selected and words[best] > room:
            left.remove(best)
            continue
        selected.append(best)
        left.remove(best)
        room -= words[best]
        closest = np.maximum(closest, vectors @ vectors[best])
    return sorted(selected)
