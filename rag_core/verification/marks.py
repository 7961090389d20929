"""Detection of claims whose value differs from that of the source, by parsed values.

Frequent wrong marks would be worse than no marks. So a difference is reported only if the claim has exactly one number
that no passage contains, a sentence contains most other words of the claim, and that sentence has exactly one other
number of the same kind, in the same position.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import YEAR
from rag_core.text.numbers import Number, numbers_equal

# The sentence must contain at least this share and this number of the claim's words.
_MIN_SHARE = 0.8
_MIN_WORDS = 3
_YEAR = re.compile(YEAR)


def is_same_number(said: Number, source: Number, scales: frozenset[int] = frozenset()) -> bool:
    """Return whether a claim's number equals a number of the source, or is a rounded form of it."""
    return numbers_equal(said, source, scales, rounded=True)


def find_differing_value(
    claim: AnnotatedText,
    sentence: AnnotatedText,
    context: AnnotatedText,
    scales: frozenset[int],
    passages: Sequence[tuple[AnnotatedText, frozenset[int]]],
    question: AnnotatedText,
) -> str:
    """Return the value that a sentence states where a claim states a different one; empty in doubt.

    Parameters
    ----------
    claim : AnnotatedText
    sentence : AnnotatedText
        The sentence that supports the claim best.
    context : AnnotatedText
        The document's name, the heading and the previous sentence, which may contain the names of the claim.
    scales : frozenset of int
        Powers of ten of the tables in the sentence's passage.
    passages : sequence of (AnnotatedText, frozenset of int)
        All passages in the prompt, each with its table scales. A claim may take a number from any passage.
    question : AnnotatedText
        The question, whose numbers a claim may repeat.
    """
    known = [(number, of) for text, of in ((question, scales), *passages) for number in text.possible_numbers]
    wrong = [number for number in claim.numbers if not any(is_same_number(number, other, of) for other, of in known)]
    if len(wrong) != 1:
        return ""
    [number] = wrong
    said = [word for word in claim.content if claim.number_at(word) is None]
    names = {word.start for word in claim.names}
    same = [
        word for word in said if word.stem in sentence.stems or (word.start in names and word.stem in context.stems)
    ]
    if len(same) < max(_MIN_WORDS, _MIN_SHARE * len(said)):
        return ""
    rivals = [
        candidate
        for candidate in sentence.numbers
        if _is_same_kind(claim, number, sentence, candidate)
        and not any(is_same_number(other, candidate, scales) for other in claim.numbers)
    ]
    if len(rivals) != 1 or not _is_same_position(claim, number, sentence, rivals[0]):
        return ""
    return _add_unit(sentence, rivals[0])


def has_common_fact(
    claim: AnnotatedText, source: AnnotatedText, scales: frozenset[int], question: AnnotatedText
) -> bool:
    """Return whether a source contains a number or name of a claim that is not in the question."""
    if any(
        is_same_number(number, other, scales)
        for number in claim.numbers
        if not any(is_same_number(number, question_number) for question_number in question.numbers)
        for other in source.possible_numbers
    ):
        return True
    return any(word.stem in source.stems for word in claim.names if word.stem not in question.stems)


def _add_unit(text: AnnotatedText, number: Number) -> str:
    """Return a number as written in a text, including the word for its unit."""
    end = number.end
    if text.unit(number):
        end = next(word.end for word in text.words if word.start >= number.end)
    return " ".join(text.text[number.start : end].split())


def _is_same_kind(claim: AnnotatedText, number: Number, sentence: AnnotatedText, other: Number) -> bool:
    if (number.kind, number.currency) != (other.kind, other.currency):
        return False
    if bool(_YEAR.fullmatch(number.text)) != bool(_YEAR.fullmatch(other.text)):
        return False
    units = {claim.unit(number), sentence.unit(other)} - {""}
    return len(units) < 2


def _is_same_position(claim: AnnotatedText, number: Number, sentence: AnnotatedText, other: Number) -> bool:
    """Return whether two numbers have the same nearest content word before them, or the same one after them."""
    return bool(_find_adjacent_words(claim, number) & _find_adjacent_words(sentence, other))


def _find_adjacent_words(text: AnnotatedText, number: Number) -> frozenset[tuple[str, str]]:
    words = [word for word in text.content if text.number_at(word) is None]
    before = next((word.stem for word in reversed(words) if word.end <= number.start), "")
    behind = next((word.stem for word in words if word.start >= number.end), "")
    return frozenset([("before", before), ("behind", behind)]) - {("before", ""), ("behind", "")}
