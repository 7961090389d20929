"""Answer a question as of two snapshots, and find the differences between the answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from rag_core.answering.follow_up import FollowUps
from rag_core.types.answer_markup import remove_formatting
from rag_core.types.answers import MARKER, Answer
from rag_core.types.conversations import Scope
from rag_core.types.retrieval import Passage
from rag_core.types.searches import Writer
from rag_core.types.snapshots import SnapshotComparison, SnapshotSide

# Lowest ratio of `SequenceMatcher`, over words, at which two passages are compared word by word.
MIN_SIMILARITY = 0.5
# A word with the punctuation inside it, such as 1,500.7 or long-term, or a single character that is not a space.
_WORD = re.compile(r"\w+(?:[^\w\s]\w+)*|\S")


class SnapshotComparisons:
    """Answers questions as of two snapshots.

    Parameters
    ----------
    follow_ups : FollowUps
        Answers the questions.
    """

    def __init__(self, follow_ups: FollowUps) -> None:
        self._follow_ups = follow_ups

    def compare(
        self,
        question: str,
        first: str,
        second: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        model: str | None = None,
    ) -> SnapshotComparison:
        """Answer a question as of two times, and mark the passages and words that only one of the answers has.

        Parameters
        ----------
        question : str
        first, second : str
            Names of snapshots or dates, as in `Engine.ask`; empty for the present.
        documents, collections, model
            As in `Engine.ask`.

        Raises
        ------
        SnapshotError
            A snapshot does not exist. `Engine.ask` lists the other exceptions.
        """
        answers = [
            self._answer(question, Scope.of(documents, collections, as_of), Writer(model)) for as_of in (first, second)
        ]
        return SnapshotComparison(question, _find_differences(*answers), _find_differences(*reversed(answers)))

    def _answer(self, question: str, scope: Scope, writer: Writer) -> Answer:
        events = self._follow_ups.ask(question, scope, None, (), writer=writer)
        return next(event for event in events if isinstance(event, Answer))


def _find_differences(answer: Answer, other: Answer) -> SnapshotSide:
    """Return an answer with the passages and words that the other answer lacks."""
    others = {(one.document_id, one.text) for one in other.passages}
    own = [one for one in answer.passages if (one.document_id, one.text) not in others]
    words = {one.chunk_id: _find_unmatched_words_of_passage(one, other.passages) for one in own}
    text, other_text = remove_formatting(answer.text), remove_formatting(other.text)
    return SnapshotSide(answer.as_of, answer, text, find_unmatched_words(text, other_text), words)


def _find_unmatched_words_of_passage(passage: Passage, others: Sequence[Passage]) -> tuple[tuple[int, int], ...]:
    """Return the spans of the words that the most similar of the other passages of the same document lacks.

    Return no spans if none of these passages has the similarity `MIN_SIMILARITY`.
    """
    of_document = [one.text for one in others if one.document_id == passage.document_id]
    ratios = {text: SequenceMatcher(None, text.split(), passage.text.split(), False).ratio() for text in of_document}
    nearest = max(ratios, key=ratios.__getitem__, default="")
    return find_unmatched_words(passage.text, nearest) if ratios.get(nearest, 0.0) >= MIN_SIMILARITY else ()


def find_unmatched_words(text: str, other: str) -> tuple[tuple[int, int], ...]:
    """Return the character spans of the words of a text that another text does not have at the same place.

    Citation markers are ignored. Adjacent words are one span.

    >>> find_unmatched_words("It costs 57 million euros [1].", "It costs 42 million euros [2].")
    ((9, 11),)
    """
    words, others = _split_words(text), _split_words(other)
    matcher = SequenceMatcher(None, [text[start:end] for start, end in words], [other[s:e] for s, e in others], False)
    return tuple(
        (words[first][0], words[last - 1][1])
        for operation, first, last, _, _ in matcher.get_opcodes()
        if operation in ("replace", "delete")
    )


def _split_words(text: str) -> list[tuple[int, int]]:
    markers = [match.span() for match in MARKER.finditer(text)]
    spans = [match.span() for match in _WORD.finditer(text)]
    return [span for span in spans if not any(start <= span[0] < end for start, end in markers)]
