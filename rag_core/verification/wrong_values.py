"""Find values of claims that the sources lack or contradict.

A wrong mark is worse than a missing one. A value that no source states is reported, unless it follows from stated
values or counts things. A value is contradicted by one of these:

- the cell of its row in the column of the claim's year, or the cell of its column in the row that the claim names;
- the same number with another unit of the same dimension;
- the sentence with most words of the claim, if it has only one value that may stand in this place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year
from rag_core.text.languages import LANGUAGES, detect_language
from rag_core.text.measures import Measure, find_measure, find_unit_after
from rag_core.text.normalize import normalize
from rag_core.text.numbers import Number, numbers_equal
from rag_core.text.values import Value, is_same_value
from rag_core.text.words import LETTERS, Word
from rag_core.verification.claims import TableHeader
from rag_core.verification.derived_values import find_calculation, is_count
from rag_core.verification.other_cells import find_other_cell
from rag_core.verification.support import ScoredSentence, SourceSentence, SplitPassage
from rag_core.verification.table_rows import find_wrong_cell, is_cell_stated, is_table_row, list_headed_cells
from rag_core.verification.value_marks import ValueMark, find_kind, write_value

# Minimum share of the claim's other words in a sentence that contradicts a value: if no source states the value, and if
# another sentence states it. In the second case, that sentence must have a share that is lower by ``_MARGIN``.
_MIN_SHARE, _MIN_SHARE_ELSEWHERE, _MARGIN = 0.75, 0.6, 0.4
# Minimum number of words of a claim whose value a sentence may contradict although another sentence states the value.
_MIN_WORDS = 3
# Minimum share of the claim's words in a sentence that has its number in another unit.
_MIN_SHARE_OF_UNIT = 0.75
# Minimum number of digits of a number whose rounded form can be recognized without its unit.
_ROUNDED_DIGITS = 3
# A name of one or several words, first letters, and a word in lower case after a name.
_NAME = re.compile(r"\b[^\W\d_a-zß-ÿ]\w*(?:(?: |-| of | and | & |['’])[^\W\d_a-zß-ÿ]\w*)*")
_INITIAL, _LOWER_CASE_WORD = (
    re.compile(r"\b[A-Z]"),
    re.compile(r"\s+(?!of\b|and\b|or\b|in\b|at\b|for\b|to\b|is\b|was\b|by\b|with\b|on\b|as\b|from\b)[a-z]{4,}"),
)
_SEASONS = frozenset("spring summer autumn fall winter".split())
# Maximum number of letters at the end of a name that may differ in a source, and minimum number of letters before them.
_ENDING, _MIN_STEM = 2, 4
_TIME = re.compile(r"([01]?\d|2[0-4])(?:\.([0-5]\d))?")
# Maximum hour for which "h" in a source, as in "6 h", is not read as a time of day.
_MAX_HOURS = 6
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\b")
# Maximum number of sentences whose values are operands of calculations, and their minimum share of the best support.
_CALCULATED_FROM, _MIN_SHARE_OF_BEST = 6, 0.5

# Words before an amount that is a limit, such as "over". A stated amount differs from it by at most ``_NEARLY``.
_LIMIT = re.compile(
    r"(?<!\w)(?:over|above|under|below|nearly|almost|(?:more|less|fewer) than|at (?:least|most)|über|unter|fast|knapp|"
    r"gut|mehr als|weniger als|mindestens|höchstens|plus de|moins de|près de|au moins|más de|menos de|casi|al menos)"
    r"\s+\Z",
    re.IGNORECASE,
)
_NEARLY = Decimal("1.3")
# Maximum factor between values of the same thing.
_MAX_FACTOR = 40
# The number of a section at the start of a line.
_SECTION_NUMBER = re.compile(r"(?:^|(?<=\n))\s*\(?\d[\d.]*(?:[.)]|\s+[A-Z])")


def find_wrong_value(
    claim: AnnotatedText,
    question: AnnotatedText,
    scored: Sequence[ScoredSentence],
    sources: Sequence[SplitPassage],
    foreign: bool,
    header: TableHeader | None = None,
) -> tuple[ValueMark | None, str]:
    """Return the mark of the first value of a claim that the sources contradict, or else lack, and a calculation.

    - The mark is ``None`` if no value is certainly wrong. Names count as values that the sources may lack.
    - The calculation is that of the first value that is calculated from stated values; empty if there is none.

    Parameters
    ----------
    claim : AnnotatedText
    question : AnnotatedText
        The values of the question are not checked, because a claim may repeat them.
    scored : sequence of ScoredSentence
        The sentences that were compared with the claim.
    sources : sequence of SplitPassage
        All passages in the prompt.
    foreign : bool
        Whether the claim is in another language than the sources, so that words are not compared.
    header : TableHeader, optional
        The header of the table of which the claim is a row.
    """
    ranked = sorted(scored, key=lambda one: -one.words)
    values = _sort_values(claim, question, ranked, sources, header)
    if is_table_row(claim):
        found = None if foreign else find_wrong_cell(claim, sources)
        if found is None and header and not foreign:
            cells = (
                (value, cell) for cell, known in list_headed_cells(claim.text, header) for value in cell.values[known:]
            )
            found = _get_first(find_other_cell(value, cell, ranked, sources) for value, cell in cells)
    else:
        found = _find_difference(claim, values, ranked, sources, foreign)
    lacking = values.lacking
    if not (found or lacking or foreign or is_table_row(claim)):
        lacking = [name for name in [_find_unknown_name(claim, question, sources)] if name]
    if not found and lacking:
        found = ValueMark(write_value(claim, lacking[0]), ranked[0].sentence)
    return found, next(iter(values.calculations), "")


@dataclass(frozen=True, slots=True)
class _SortedValues:
    """The values of a claim that the sources state, those that the sources lack, and calculations of other values."""

    stated: Sequence[Value]
    lacking: Sequence[Value]
    calculations: Sequence[str]


def _sort_values(
    claim: AnnotatedText,
    question: AnnotatedText,
    ranked: Sequence[ScoredSentence],
    sources: Sequence[SplitPassage],
    header: TableHeader | None,
) -> _SortedValues:
    """Return the values of a claim by whether sources state them.

    Values of the question are left out, and so are counts and vague values that no source states.
    """
    near = [one.sentence for one in ranked[:_CALCULATED_FROM] if one.words >= ranked[0].words * _MIN_SHARE_OF_BEST]
    stated, lacking, calculations = [], [], []
    for value in claim.values:
        if any(is_same_value(value, one) for one in question.values):
            continue
        if _is_stated(value, claim, sources, header):
            stated.append(value)
        elif is_count(value):
            continue
        elif found := find_calculation(value, claim, near, sources):
            calculations.append(f"{found} = {write_value(claim, value)}")
        elif not _is_vague(value, claim, near):
            lacking.append(value)
    return _SortedValues(stated, lacking, calculations)


def _find_difference(
    claim: AnnotatedText,
    values: _SortedValues,
    ranked: Sequence[ScoredSentence],
    sources: Sequence[SplitPassage],
    foreign: bool,
) -> ValueMark | None:
    """Return the mark of the first value that a sentence or cell contradicts, for a claim that is no row of a table."""
    compared = (*values.stated, *values.lacking)
    if found := _get_first(_find_other_measure(one, claim, ranked, sources) for one in compared):
        return found
    # A claim with a calculated value does not repeat a cell or a sentence.
    if values.calculations:
        return None
    if found := _get_first(find_other_cell(one, claim, ranked, sources) for one in values.stated):
        return found
    if foreign:
        return None
    near = [one.sentence for one in ranked[:_CALCULATED_FROM]]
    for value in compared:
        is_stated = value in values.stated
        found = _find_other_sentence(value, claim, ranked, is_stated)
        # A value that is stated elsewhere may be calculated nevertheless.
        if found and not (is_stated and not is_count(value) and find_calculation(value, claim, near, sources)):
            return found
    return None


def _get_first(marks: Iterable[ValueMark | None]) -> ValueMark | None:
    return next((one for one in marks if one), None)


def _is_stated(value: Value, claim: AnnotatedText, sources: Sequence[SplitPassage], header: TableHeader | None) -> bool:
    return (
        any(source.states(value) for source in sources)
        or (is_table_row(claim) and is_cell_stated(value, claim, sources, header))
        or _is_time_of_day(value, claim, sources)
        or (value.kind == "identifier" and any(_contains_text(one.reading.text, value.text) for one in sources))
    )


def _contains_text(text: str, identifier: str) -> bool:
    """Return whether a text contains an identifier, also as a part of a longer one such as "A55/A483"."""
    return re.search(rf"(?<!\w){re.escape(identifier)}(?!\w)", text) is not None


def _is_time_of_day(value: Value, claim: AnnotatedText, sources: Sequence[SplitPassage]) -> bool:
    """Return whether a number is a time that a source writes in another form, as in "11.30" and "17 heures"."""
    time = _TIME.fullmatch(value.text)
    # The word "in" after a time is read as a unit.
    if time is None or find_unit_after(claim.text, value.end) not in ("", "length-inch", "duration-hour"):
        return False
    hour, minutes = int(time[1]), time[2] or "00"
    # An hour without minutes is often a count.
    hours = r"|\s?h\b" if hour > _MAX_HOURS and not time[2] else ""
    written = re.compile(rf"(?<![\d.,:])0?{hour}(?:[:.]{minutes}(?!\d){hours})")
    return any(written.search(source.reading.text) for source in sources)


def _is_vague(value: Value, claim: AnnotatedText, near: Sequence[SourceSentence]) -> bool:
    """Return whether a value may be right although no source states it.

    This is the case for a month, a decade or an ordinal, for the month of a date that a near sentence states, and for a
    limit, such as "over 50", that a near sentence nearly states.
    """
    number = value.number
    if value.kind == "month" or any(_states_month_and_year(one, value) for one in near):
        return True
    if number is None:
        return False
    if number.kind == "decade" or _ORDINAL.match(value.text):
        return True
    limit = _LIMIT.search(claim.text, 0, value.start)
    known = [one.number for sentence in near for one in sentence.reading.values if one.number]
    largest, smallest = max(number.values), min(number.values)
    return limit is not None and any(
        one.kind == number.kind and smallest / _NEARLY <= amount <= largest * _NEARLY
        for one in known
        for amount in one.values
    )


def _states_month_and_year(sentence: SourceSentence, value: Value) -> bool:
    """Return whether a value is a month with a year, of which a sentence states the month and its passage the year."""
    months = {one.key for one in sentence.reading.values if one.kind == "month"}
    text = f"{sentence.source.title.text} {sentence.source.reading.text}"
    # The month may be part of a German compound.
    is_named = normalize(value.text.split()[0]) in normalize(sentence.reading.text)
    return any(not one.day and (is_named or str(one.month) in months) and str(one.year) in text for one in value.dates)


def _find_unknown_name(claim: AnnotatedText, question: AnnotatedText, sources: Sequence[SplitPassage]) -> Value | None:
    """Return the first name of a claim of which neither the sources nor the question contain a word or an abbreviation.

    The result is ``None`` for German claims, in which names cannot be distinguished from other nouns, which are
    capitalized too.
    """
    if detect_language(claim.text) == "de":
        return None
    texts = [question.text, *(text for source in sources for text in (source.title.text, source.reading.text))]
    folded = [normalize(question.text), *(source.folded for source in sources)]
    for run in _NAME.finditer(claim.text):
        words = [word for word in claim.names if run.start() <= word.start < run.end()]
        if not words or claim.begins_sentence(words[0]) or not all(map(_is_plain_name, words)):
            continue
        # "May" in "Theresa May" is parsed as a month, and "Southwestern United States" and "Fall" need no source.
        if any(run.start() <= one.start < run.end() for one in claim.values) or _is_general_name(run[0]):
            continue
        # A source may contain only one word of a longer name. An adjective such as "Irish" is no name.
        is_known = any(
            normalize(word.text)[: max(_MIN_STEM, len(word.text) - _ENDING)] in one for word in words for one in folded
        )
        is_adjective = len(words) == 1 and _LOWER_CASE_WORD.match(claim.text, run.end())
        is_abbreviated = any(re.search(rf"\b{''.join(_INITIAL.findall(run[0]))}\b", text) for text in texts)
        if not is_known and not is_adjective and not is_abbreviated:
            return Value(run.start(), run.end(), run[0], "name")
    return None


def _is_general_name(name: str) -> bool:
    """Return whether a name contains a season, or consists of several words of which one is a country or continent."""
    words = _split_name(name)
    return bool(_SEASONS & {*words}) or (len(words) > 1 and bool(_list_territory_words() & {*words}))


@cache
def _list_territory_words() -> frozenset[str]:
    from babel import Locale

    names = (name for language in LANGUAGES for name in Locale(language).territories.values())
    return frozenset(word for name in names for word in _split_name(name) if len(word) >= _MIN_STEM)


def _split_name(name: str) -> list[str]:
    return LETTERS.findall(normalize(name))


def _is_plain_name(word: Word) -> bool:
    """Return whether a word of a name is long enough, and no abbreviation, which the sources may spell out."""
    return word.text.isalpha() and not word.text.isupper() and len(word.text) >= _MIN_STEM


def _find_other_measure(
    value: Value, claim: AnnotatedText, scored: Sequence[ScoredSentence], sources: Sequence[SplitPassage]
) -> ValueMark | None:
    """Return the mark of a value whose number a sentence states in another unit, currency or scale.

    The result is ``None`` if a source states the number in the same measure. It is also ``None`` if a source states the
    number in an unknown measure, or the number has only one digit, and the sentence is uncertain because it has less
    than `_MIN_SHARE_OF_UNIT` of the claim's words, or fewer words than the sentence with the unknown measure.
    """
    number = value.number
    if number is None or (is_year(value.text) and not number.currency):
        return None
    said = _find_measure(claim, value)
    if said is None and not number.power:
        return None
    shares = {(id(one.sentence.source), one.sentence.start): one.words for one in scored}
    found: tuple[float, SourceSentence, Value] | None = None
    unknown: list[float] = []
    for source in sources:
        for sentence in source.sentences:
            for other in sentence.reading.values:
                if other.number is None or not _has_same_digits(number, other.number):
                    continue
                share = shares.get((id(source), sentence.start), 0.0)
                relation = _compare_measures(said, value, sentence, other)
                if relation == "same":
                    return None
                if relation == "unknown":
                    unknown.append(share)
                elif found is None or share > found[0]:
                    found = share, sentence, other
    if found is None:
        return None
    share, sentence, other = found
    is_only = not unknown and number.significant_digits > 1
    if not is_only and share < max([_MIN_SHARE_OF_UNIT, *unknown]):
        return None
    return ValueMark(write_value(claim, value), sentence, write_value(sentence.reading, other))


def _find_measure(text: AnnotatedText, value: Value, *, in_row: bool = False) -> Measure | None:
    currency = value.number.currency if value.number else ""
    return find_measure(text.text, value.start, value.end, currency, in_row=in_row)


def _compare_measures(said: Measure | None, value: Value, sentence: SourceSentence, other: Value) -> str:
    """Return "same" or "other" for the unit and scale of two numbers with the same digits; "unknown" if uncertain."""
    measure = _find_measure(sentence.reading, other, in_row=sentence.is_row)
    power, other_power = (one.number.power if one.number else 0 for one in (value, other))
    if not other_power and sentence.is_row and len(sentence.source.scales) == 1:
        [other_power] = sentence.source.scales
    if said and measure and said.conflicts(measure):
        return "other"
    if power != other_power and is_same_value(value, other, sentence.source.scales):
        return "same"
    is_measured = said is None or (measure is not None and said.agrees(measure))
    if is_measured and power != other_power and power and other_power:
        return "other"
    return "same" if is_measured and power == other_power else "unknown"


def _has_same_digits(one: Number, other: Number) -> bool:
    """Return whether two numbers are equal, or ``one`` is a rounded form of ``other``, without currency and scale.

    Rounded forms are recognized only if ``one`` has at least `_ROUNDED_DIGITS` digits.
    """
    if one.kind != other.kind:
        return False
    said, source = (
        replace(number, values=frozenset(value.scaleb(-number.power) for value in number.values), power=0, currency="")
        for number in (one, other)
    )
    is_long = len(re.sub(r"\D", "", one.text)) >= _ROUNDED_DIGITS
    return numbers_equal(said, source, rounded=is_long)


def _find_other_sentence(
    value: Value, claim: AnnotatedText, ranked: Sequence[ScoredSentence], is_stated: bool
) -> ValueMark | None:
    """Compare a value of the claim with the best sentence, which has most words of the claim.

    Return the mark of the value if the sentence has another value in its place; ``None`` if not, or if this is
    uncertain. If any source states the value (``is_stated``), the best sentence must fit the claim much better than
    each sentence with the value.
    """
    best = ranked[0]
    words = [word for word in claim.content if not any(_contains(one, word) for one in claim.values)]
    # A comparison of two years contains words of the sentences about each year.
    if (is_stated and len(words) < _MIN_WORDS) or (
        is_year(value.text) and sum(is_year(one.text) for one in claim.values) > 1
    ):
        return None
    if best.words < (_MIN_SHARE_ELSEWHERE if is_stated else _MIN_SHARE):
        return None
    if is_stated:
        if best.sentence.source.states_near(best.sentence, value):
            return None
        if best.words - max((one.words for one in ranked if one.sentence.states(value)), default=0) < _MARGIN:
            return None
        others = [one for one in claim.values if one is not value]
        if others and not any(best.sentence.source.states_near(best.sentence, one) for one in others):
            return None
    rival = _find_rival(value, claim, best.sentence)
    found = write_value(best.sentence.reading, rival) if rival else ""
    return ValueMark(write_value(claim, value), best.sentence, found) if rival else None


def _contains(value: Value, word: Word) -> bool:
    return value.start <= word.start < value.end


def _find_adjacent_stems(text: AnnotatedText, value: Value) -> set[tuple[str, str]]:
    """Return the stems of the content words next to a value, each with its side: "before" or "after"."""
    words = [word for word in text.content if not any(_contains(one, word) for one in text.values)]
    before = [("before", word.stem) for word in words if word.end <= value.start]
    after = [("after", word.stem) for word in words if word.start >= value.end]
    return {*before[-1:], *after[:1]}


def _find_rival(value: Value, claim: AnnotatedText, sentence: SourceSentence) -> Value | None:
    """Return the value of a sentence that stands in the place of a claim's value.

    The result is ``None`` if no value, or several different values, may stand in this place.
    """
    reading, free = sentence.reading, _list_rivals(value, claim, sentence)
    if len(free) > 1 and not all(is_same_value(free[0], one) for one in free):
        adjacent = _find_adjacent_stems(claim, value)
        free = [one for one in free if adjacent & _find_adjacent_stems(reading, one)]
    if free and all(is_same_value(free[0], one) for one in free):
        return free[0]
    return None


def _list_rivals(value: Value, claim: AnnotatedText, sentence: SourceSentence) -> list[Value]:
    """Return the values of a sentence that may stand in the place of a claim's value and that the claim lacks."""
    scales = sentence.source.scales
    of_kind = [one for one in sentence.reading.values if _is_comparable(value, one, claim, sentence.reading)]
    return [one for one in of_kind if not any(is_same_value(other, one, scales) for other in claim.values)]


def _is_comparable(value: Value, other: Value, claim: AnnotatedText, sentence: AnnotatedText) -> bool:
    """Return whether ``value`` of a claim can be a wrong form of ``other`` of a sentence.

    Both are of the same kind, currency, unit and similar size, and ``other`` is not the number of a section.
    """
    one, two = value.number, other.number
    if find_kind(value) != find_kind(other):
        return False
    if one is None or two is None:
        # A part of an identifier is not a wrong form of it.
        return value.kind != "identifier" or not _contains_text(other.text, value.text)
    if one.currency != two.currency and (two.currency or len(sentence.values) == 1):
        return False
    unit, other_unit = find_unit_after(claim.text, value.end), find_unit_after(sentence.text, other.end)
    if other_unit and unit and other_unit != unit:
        return False
    line = sentence.text.rfind("\n", 0, other.start) + 1
    section = _SECTION_NUMBER.match(sentence.text, line)
    if not other_unit and section and other.start < section.end():
        return False
    largest, smallest = sorted((max(one.values), max(two.values)), reverse=True)
    return not smallest or largest / smallest <= _MAX_FACTOR
