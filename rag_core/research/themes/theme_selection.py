"""Select the statements of an answer about a whole collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.answering.cited_sentences import Sentence
from rag_core.reading.summary_requests import is_generic_document_word, is_kind_of_document
from rag_core.text.proper_names import find_content_words
from rag_core.text.words import stem, tokenize

# Most statements that an answer cites without a language model.
_MAX_CITED = 12
# Lowest score of a cited statement, as a share of the best score.
_LEAST_SHARE = 0.7
# Deductions from the score of a statement: for each chosen statement of the same document, and of the same theme; the
# last one is multiplied by the highest cosine with a chosen statement.
_SAME_DOCUMENT, _SAME_THEME, _SIMILAR = 0.06, 0.02, 0.15
# Cosine from which two statements count as the same, for example in the reports of two years.
_SAME_STATEMENT = 0.9
# Stems of words that are not topics of a question.
_UNSPECIFIC = frozenset(
    map(
        stem,
        "main key major most important common general overall big large principal significant different various theme "
        "topic issue subject point thing aspect company firm business year describe discuss mention state say name "
        "list explain give show tell face deal cover collection library text".split(),
    )
)


@dataclass(frozen=True, slots=True)
class ThemeStatement:
    """A statement with the number of its theme, its score for the question, and its share of the question's topics.

    ``topic_share`` is the share of the topics that the statement or its heading mentions.
    """

    theme: int
    sentence: Sentence
    score: float
    topic_share: float


def find_topics(question: str) -> frozenset[str]:
    """Return the stems of the words that say what a question is about.

    >>> sorted(find_topics("What are the main risks over these reports?")), find_topics("What are the main themes?")
    (['risk'], frozenset())
    """
    return frozenset(map(stem, find_topic_words(question)))


def find_topic_words(question: str) -> list[str]:
    """Return the words that say what a question is about, in lower case and in order."""
    words = [word.casefold() for word in find_content_words(question)]
    return [
        word
        for word in words
        if len(word) > 1
        and stem(word) not in _UNSPECIFIC
        and not (is_generic_document_word(word) or is_kind_of_document(word))
    ]


def select_diverse(candidates: Sequence[ThemeStatement]) -> list[ThemeStatement]:
    """Return the statements of an answer, in the order in which they are chosen.

    The selection is greedy, as in maximal marginal relevance, and prefers other documents and themes than those of the
    statements that are chosen already. ``candidates`` are ordered by falling score.
    """
    if not candidates:
        return []
    left = [one for one in candidates if one.score >= _LEAST_SHARE * candidates[0].score]
    vectors = np.stack([one.sentence.vector for one in left])
    closest = np.zeros(len(left), np.float32)
    documents: Counter[str] = Counter()
    themes: Counter[int] = Counter()
    chosen: dict[int, ThemeStatement] = {}

    def gain(place: int) -> float:
        one = left[place]
        repeated = _SAME_DOCUMENT * documents[one.sentence.row.document_id] + _SAME_THEME * themes[one.theme]
        return one.score - repeated - _SIMILAR * float(closest[place])

    while len(chosen) < _MAX_CITED:
        new = [place for place in range(len(left)) if place not in chosen and closest[place] < _SAME_STATEMENT]
        if not new:
            break
        best = max(new, key=gain)
        chosen[best] = left[best]
        documents[left[best].sentence.row.document_id] += 1
        themes[left[best].theme] += 1
        closest = np.maximum(closest, vectors @ vectors[best])
    return list(chosen.values())


def find_stems(text: str) -> set[str]:
    """Return the stems of the words of a text."""
    return {word.stem for word in tokenize(text)}
