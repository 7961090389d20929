"""Claims whose values the sources lack or contradict, by parsed values.

A wrong mark is worse than a missing one. A value that no source states is reported, unless it follows from stated
values or counts things. A value that a source states elsewhere is contradicted only by the cell of its row for the year
of the claim, or by a sentence that says otherwise what the claim says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year
from rag_core.text.numbers import Number, numbers_equal
from rag_core.text.values import Value, find_values, is_same_value
from rag_core.verification.support import ScoredSentence, SourceSentence, SplitPassage

# A sentence contradicts a value that no source states if it has at least this share of the claim's other words, and a
# value that is stated elsewhere if it has ``_MIN_SHARE_ELSEWHERE`` and ``_MARGIN`` more than any that states the value.
_MIN_SHARE = 0.5
_MIN_SHARE_ELSEWHERE = 0.6
_MARGIN = 0.3
# A row states the claim's value in the column of another year only if hardly a sentence has more of the claim's words.
_ROW_MARGIN = 0.15
# Up to this number, a model may have counted what the sources list.
_MAX_COUNTED = 12
# The sentences from whose values a calculation may be made.
_CALCULATED_FROM = 3
# Values that differ by more powers of ten are of different things.
_MAX_FACTOR = 40
# The sentences above a row among which the years of its columns are looked for.
_MAX_ABOVE = 60
_SECTION_NUMBER = re.compile(r"(?:^|\n)\s*\(?\Z")


@dataclass(frozen=True, slots=True)
class ValueMark:
    """A value of a claim that the sources lack, or contradict with ``source_value`` in a sentence."""

    value: Value
    sentence: SourceSentence
    source_value: str = ""


def find_wrong_value(
    claim: AnnotatedText,
    question: AnnotatedText,
    scored: Sequence[ScoredSentence],
    sources: Sequence[SplitPassage],
    foreign: bool,
) -> ValueMark | None:
    """Return the first value of a claim that the sources contradict, or else lack; ``None`` in doubt.

    Parameters
    ----------
    claim : AnnotatedText
    question : AnnotatedText
        A claim may repeat its values.
    scored : sequence of ScoredSentence
        The sentences that were compared with the claim.
    sources : sequence of SplitPassage
        All passages in the prompt.
    foreign : bool
        Whether the claim is in another language than the sources; their words are then not compared.
    """
    ranked = sorted(scored, key=lambda one: -one.words)
    best = ranked[0]
    lacking: Value | None = None
    for value in claim.values:
        if any(is_same_value(value, one) for one in question.values):
            continue
        is_stated = any(source.states(value) for source in sources)
        if not is_stated and (_is_count(value) or _is_derived(value, claim, ranked[:_CALCULATED_FROM])):
            continue
        if not is_stated:
            lacking = lacking or value
        if foreign:
            continue
        if is_stated and (found := _find_other_cell(value, claim, ranked)):
            return found
        if found := _find_other_sentence(value, claim, ranked, is_stated):
            return found
    return ValueMark(lacking, best.sentence) if lacking else None


def _find_other_sentence(
    value: Value, claim: AnnotatedText, ranked: Sequence[ScoredSentence], is_stated: bool
) -> ValueMark | None:
    """Return the contradiction of a value by the sentence that has most words of its claim."""
    best = ranked[0]
    if best.words < (_MIN_SHARE_ELSEWHERE if is_stated else _MIN_SHARE):
        return None
    if is_stated:
        if best.sentence.source.states_near(best.sentence, value):
            return None
        if best.words - max((one.words for one in ranked if one.sentence.states(value)), default=0) < _MARGIN:
            return None
    rivals = list(_find_rivals(value, claim, best.sentence))
    return ValueMark(value, best.sentence, rivals[0]) if len(rivals) == 1 else None


def _find_other_cell(value: Value, claim: AnnotatedText, ranked: Sequence[ScoredSentence]) -> ValueMark | None:
    """Return the contradiction of a value by the cell of its row in the column of the claim's year."""
    stating = next((one.sentence for one in ranked if one.sentence.states(value)), None)
    share = next((one.words for one in ranked if one.sentence is stating), 0)
    if stating is None or value.number is None or is_year(value.text) or share < ranked[0].words - _ROW_MARGIN:
        return None
    wanted = _find_nearest_years(claim, value)
    cells = [one for one in stating.reading.values if one.number and _find_kind(one) == _find_kind(value)]
    columns = _find_columns(stating, len(cells))
    of_year = [cell for cell, years in zip(cells, columns, strict=False) if years & wanted]
    if len(of_year) != 1 or any(is_same_value(one, of_year[0], stating.source.scales) for one in claim.values):
        return None
    return ValueMark(value, stating, stating.reading.text[of_year[0].start : of_year[0].end])


def _find_columns(row: SourceSentence, count: int) -> list[frozenset[str]]:
    """Return the years of each of so many columns of a row, by the row itself or the nearest line above; or nothing."""
    if count < 2:  # noqa: PLR2004
        return []
    own = [years for one in row.reading.values if (years := _find_years(one))]
    if own:
        return own if len(own) == count else []
    above = [one for one in row.source.sentences if one.end <= row.start][-_MAX_ABOVE:]
    for sentence in reversed(above):
        for line in reversed(sentence.reading.text.splitlines()):
            years = [found for one in find_values(line) if (found := _find_years(one))]
            if len(years) >= count:
                return years[:count]
            if len(years) > 1:
                return [years[column * len(years) // count] for column in range(count)] if count % len(years) == 0 else []
    return []


def _find_years(value: Value) -> frozenset[str]:
    if value.dates:
        return frozenset(str(one.year) for one in value.dates if one.year)
    return frozenset([value.text.strip()] if value.number and is_year(value.text) else [])


def _find_nearest_years(claim: AnnotatedText, value: Value) -> frozenset[str]:
    dated = [(max(one.start - value.end, value.start - one.end), years) for one in claim.values if (years := _find_years(one))]
    return min(dated, key=lambda one: one[0])[1] if dated else frozenset()


def _find_rivals(value: Value, claim: AnnotatedText, sentence: SourceSentence) -> Iterator[str]:
    """Yield the values of a sentence that stand in the place of a claim's value: of its kind, and of no other value."""
    reading, scales = sentence.reading, sentence.source.scales
    of_kind = [one for one in reading.values if _is_same_kind(value, one, claim, reading)]
    free = [one for one in of_kind if not any(is_same_value(other, one, scales) for other in claim.values)]
    if len(free) > 1:
        beside = _find_adjacent(claim, value)
        free = [one for one in free if beside & _find_adjacent(reading, one)]
    yield from (" ".join(reading.text[one.start : _find_unit_end(reading, one)].split()) for one in free)


def _find_kind(value: Value) -> str:
    if value.number is None:
        return value.kind
    return "year" if is_year(value.text) else f"number {value.number.kind}"


def _is_same_kind(value: Value, other: Value, claim: AnnotatedText, sentence: AnnotatedText) -> bool:
    one, two = value.number, other.number
    if _find_kind(value) != _find_kind(other) or _SECTION_NUMBER.search(sentence.text, 0, other.start):
        return False
    if one is None or two is None:
        return True
    if one.currency != two.currency or len({claim.unit(one), sentence.unit(two)} - {""}) > 1:
        return False
    largest, smallest = sorted((max(one.values), max(two.values)), reverse=True)
    return not smallest or largest / smallest <= _MAX_FACTOR


def _find_adjacent(text: AnnotatedText, value: Value) -> frozenset[tuple[str, str]]:
    """Return the nearest content words before and after a value."""
    words = [word for word in text.content if not any(one.start <= word.start < one.end for one in text.values)]
    before = next((word.stem for word in reversed(words) if word.end <= value.start), "")
    behind = next((word.stem for word in words if word.start >= value.end), "")
    return frozenset([("before", before), ("behind", behind)]) - {("before", ""), ("behind", "")}


def _find_unit_end(text: AnnotatedText, value: Value) -> int:
    """Return the end of a value with the word for its unit."""
    if value.number and text.unit(value.number):
        return next(word.end for word in text.words if word.start >= value.end)
    return value.end


def _is_count(value: Value) -> bool:
    """Return whether a value is a small whole number without unit, which may count what the sources list."""
    number = value.number
    if number is None or number.kind or number.currency or number.power:
        return False
    return any(one == one.to_integral_value() and 0 < one <= _MAX_COUNTED for one in number.values)


def _is_derived(value: Value, claim: AnnotatedText, near: Sequence[ScoredSentence]) -> bool:
    """Return whether a number is the sum, difference, quotient or relative change of two stated ones."""
    if value.number is None or is_year(value.text):
        return False
    wanted = value.number
    groups = [claim.values, *(one.sentence.reading.values for one in near)]
    for group in groups:
        operands = {one for other in [*claim.values, *group] if _is_operand(other, value) for one in other.number.values}
        if any(_equals(wanted, result) for a, b in permutations(operands, 2) for result in _calculate(a, b)):
            return True
    return False


def _is_operand(one: Value, value: Value) -> bool:
    return one.number is not None and one is not value and not is_year(one.text)


def _calculate(a: Decimal, b: Decimal) -> Iterator[Decimal]:
    yield a - b
    if a > b:
        yield a + b
    if b:
        yield a / b * 100
        yield (a - b) / b * 100
        yield a / b


def _equals(wanted: Number, result: Decimal) -> bool:
    derived = Number(0, 0, "", frozenset({abs(result)}), wanted.kind, wanted.currency)
    return numbers_equal(wanted, derived, frozenset((3, 6)), rounded=True)
