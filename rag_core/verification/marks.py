"""Claims whose values the sources lack or contradict, by parsed values.

A wrong mark is worse than a missing one. A value that no source states is reported, unless it follows from stated
values or counts things. A value is contradicted by one of these:

- the cell of its row in the column of the claim's year, or the cell of its column in the row that the claim names;
- the same number with another unit of the same dimension;
- the sentence with most words of the claim, if it has only one value that may stand in this place;
- the only sentence with all other values and names of the claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year
from rag_core.text.languages import detect_language
from rag_core.text.measures import Measure, find_measure, find_unit_after
from rag_core.text.normalize import normalize
from rag_core.text.numbers import Number, numbers_equal
from rag_core.text.values import Value, is_same_value
from rag_core.text.words import Word
from rag_core.verification.derived_values import find_calculation, is_count
from rag_core.verification.other_cells import find_other_cell
from rag_core.verification.support import ScoredSentence, SourceSentence, SplitPassage
from rag_core.verification.table_rows import find_wrong_cell, is_in_row, is_table_row, list_headed_cells
from rag_core.verification.value_marks import ValueMark, find_kind, write_value

# A sentence contradicts a value that no source states if it has at least this share of the claim's other words, and a
# value that is stated elsewhere if it has ``_MIN_SHARE_ELSEWHERE`` and ``_MARGIN`` more than any that states the value.
_MIN_SHARE = 0.5
_MIN_SHARE_ELSEWHERE = 0.6
_MARGIN = 0.4
# A sentence is "close" to a claim if it has at least ``_MIN_CLOSE_SHARE`` of the claim's content words, values
# excluded. Each other value of the claim that it states adds ``_PER_VALUE``. It must exceed every sentence that states
# the value by ``_CLOSE_MARGIN``, and must share ``_MIN_NEAR`` of the ``_NEAR_WORDS`` content words on each side of the
# value.
_MIN_CLOSE_SHARE, _CLOSE_MARGIN, _PER_VALUE = 0.79, 0.2, 0.15
_MIN_WORDS, _NEAR_WORDS, _MIN_NEAR = 3, 3, 2
_MIN_SHARE_OF_UNIT = 0.3
# Digits of a number from which on a rounded form of it can be recognized without its unit.
_ROUNDED_DIGITS = 3
# The other values of a claim that a sentence must state to contradict one.
_MIN_OTHERS = 2
# Capitalized words in a row, and their first letters.
_CAPITALIZED, _INITIAL = re.compile(r"\b[A-Z]\w*(?:(?: |-| of | and | & )[A-Z]\w*)+"), re.compile(r"\b[A-Z]")
# A name in a source may have another ending of so many letters, after at least so many equal ones.
_ENDING, _MIN_STEM = 2, 4
_TIME = re.compile(r"([01]?\d|2[0-4])\.([0-5]\d)")
# The sentences from whose values a calculation may be made.
_CALCULATED_FROM = 6
# Values of which one is larger by more than this factor are of different things.
_MAX_FACTOR = 40
# The number of a section at the start of a line, and a number that is part of a name, as in "COVID-19".
_SECTION_NUMBER = re.compile(r"(?:^|(?<=\n))\s*\(?\d[\d.]*(?:[.)]|\s+[A-Z])")
_NAME_BEFORE = re.compile(r"[^\W\d_]-\Z")


def find_wrong_value(
    claim: AnnotatedText,
    question: AnnotatedText,
    scored: Sequence[ScoredSentence],
    sources: Sequence[SplitPassage],
    foreign: bool,
    header: str = "",
) -> tuple[ValueMark | None, str]:
    """Return the first value of a claim that the sources contradict, or else lack, and the calculation of another one.

    Without a certain one, return ``None`` and the calculation of the first value that follows from stated ones, if any.

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
    header : str
        The header row of the table of which the claim is a row.
    """
    calculations: list[str] = []
    found = _find_wrong_value(claim, question, scored, sources, foreign, calculations)
    if found is None and header and not foreign:
        ranked = sorted(scored, key=lambda one: -one.words)
        cells = (
            (value, cell) for cell, known in list_headed_cells(claim.text, header) for value in cell.values[known:]
        )
        found = next(filter(None, (find_other_cell(value, cell, ranked, sources) for value, cell in cells)), None)
    return found, next(iter(calculations), "")


def _find_wrong_value(
    claim: AnnotatedText,
    question: AnnotatedText,
    scored: Sequence[ScoredSentence],
    sources: Sequence[SplitPassage],
    foreign: bool,
    calculations: list[str],
) -> ValueMark | None:
    ranked = sorted(scored, key=lambda one: -one.words)
    best = ranked[0]
    lacking: Value | None = None
    is_row = is_table_row(claim)
    if is_row and not foreign and (found := find_wrong_cell(claim, sources)):
        return found
    for value in claim.values:
        if any(is_same_value(value, one) for one in question.values):
            continue
        is_stated = (
            any(source.states(value) for source in sources)
            or (is_row and is_in_row(value, sources))
            or _is_time_of_day(value, claim, sources)
        )
        if not is_row and (found := _find_other_measure(value, claim, ranked, sources)):
            return found
        near = [one.sentence for one in ranked[:_CALCULATED_FROM]]
        calculation = "" if is_stated or is_count(value) else find_calculation(value, claim, near, sources)
        if calculation:
            calculations.append(f"{calculation} = {write_value(claim, value)}")
        if not is_stated and (is_count(value) or calculation):
            if is_count(value) and not foreign and (found := _find_closer_sentence(value, claim, scored)):
                return found
            continue
        if not is_stated and not any(_states_month_and_year(one, value) for one in near):
            lacking = lacking or value
        if is_row and value.kind != "identifier":
            continue
        if is_stated and (found := find_other_cell(value, claim, ranked, sources)):
            return found
        if foreign:
            continue
        found = _find_other_sentence(value, claim, ranked, is_stated) or _find_closer_sentence(value, claim, scored)
        # A value that stands elsewhere may still be a calculated one.
        if found and is_stated and not is_count(value):
            calculation = find_calculation(value, claim, near, sources)
        if found and not calculation:
            return found
        if found:
            calculations.append(f"{calculation} = {write_value(claim, value)}")
    if is_row:
        return ValueMark(write_value(claim, lacking), best.sentence) if lacking else None
    if not foreign and (found := _find_other_row(claim, question, sources)):
        return found
    if lacking is None and not foreign:
        lacking = _find_unknown_name(claim, question, sources)
    return ValueMark(write_value(claim, lacking), best.sentence) if lacking else None


def _is_time_of_day(value: Value, claim: AnnotatedText, sources: Sequence[SplitPassage]) -> bool:
    """Return whether a number with a point and without unit is a time that a source writes with a colon."""
    time = _TIME.fullmatch(value.text)
    # The word "in" after a time is read as a unit.
    if time is None or find_unit_after(claim.text, value.end) not in ("", "length-inch"):
        return False
    written = re.compile(rf"(?<!\d)0?{int(time[1])}:{time[2]}(?!\d)")
    return any(written.search(source.reading.text) for source in sources)


def _states_month_and_year(sentence: SourceSentence, value: Value) -> bool:
    """Return whether a sentence states the month of a date, and another part of its passage the year."""
    months = {one.key for one in sentence.reading.values if one.kind == "month"}
    text = f"{sentence.source.title.text} {sentence.source.reading.text}"
    return any(not one.day and str(one.month) in months and str(one.year) in text for one in value.dates)


def _find_unknown_name(claim: AnnotatedText, question: AnnotatedText, sources: Sequence[SplitPassage]) -> Value | None:
    """Return the first name of a claim that neither the sources nor the question have in any form.

    German capitalizes all nouns, so a name cannot be distinguished from another noun.
    """
    if detect_language(claim.text) == "de":
        return None
    texts = [question.text, *(text for source in sources for text in (source.title.text, source.reading.text))]
    folded = [normalize(question.text), *(source.folded for source in sources)]
    initials = {"".join(_INITIAL.findall(run)) for text in texts for run in _CAPITALIZED.findall(text)}
    for word in claim.names:
        stem = normalize(word.text)[: max(_MIN_STEM, len(word.text) - _ENDING)]
        if claim.begins_sentence(word) or not word.text.isalpha() or any(stem in one for one in folded):
            continue
        is_abbreviation = word.text.isupper() and any(word.text in one for one in initials)
        runs = [run for run in _CAPITALIZED.findall(claim.text) if word.text in run]
        is_spelled_out = any(
            re.search(rf"\b{''.join(_INITIAL.findall(run))}\b", text) for run in runs for text in texts
        )
        if not is_abbreviation and not is_spelled_out:
            return Value(word.start, word.end, word.text, "name")
    return None


def _find_other_row(claim: AnnotatedText, question: AnnotatedText, sources: Sequence[SplitPassage]) -> ValueMark | None:
    """Return the contradiction by the only sentence that states all other values and names of the claim."""
    words = {word.stem: word for word in claim.names if not claim.begins_sentence(word)}
    asked = {word.stem for word in question.names if not question.begins_sentence(word)}
    words |= {word.stem: word for word in claim.words if word.stem in asked}
    found: list[tuple[int, SourceSentence, Value]] = []
    for source in sources:
        for sentence in source.sentences:
            stated = [one for one in claim.values if sentence.states(one)]
            lacking = [
                one
                for one in claim.values
                if one not in stated
                and not source.title_states(one)
                and (sentence.is_row or not source.states_near(sentence, one))
            ]
            unnamed = words.keys() - (sentence.reading.stems | source.title.stems)
            if not stated or len(lacking) > 1:
                continue
            if not lacking and not unnamed:
                return None
            named = len(words) - len(unnamed)
            if lacking and not unnamed and len(stated) + named >= _MIN_OTHERS:
                found.append((len(stated), sentence, lacking[0]))
            elif not lacking and len(stated) >= _MIN_OTHERS and _is_label_of_other_row(unnamed, sentence):
                word = words[min(unnamed)]
                found.append((len(stated), sentence, Value(word.start, word.end, word.text, "name")))
    most = max((stated for stated, _, _ in found), default=0)
    best = [one for one in found if one[0] == most]
    if len(best) != 1:
        return None
    _, sentence, value = best[0]
    if value.kind == "name":
        label = sentence.reading.text[: sentence.reading.values[0].start].strip(" :|")
        return ValueMark(value.text, sentence, label)
    if any(is_same_value(value, one) for one in question.values):
        return None
    rival = _find_rival(value, claim, sentence)
    return ValueMark(write_value(claim, value), sentence, write_value(sentence.reading, rival)) if rival else None


def _is_label_of_other_row(names: Set[str], row: SourceSentence) -> bool:
    """Return whether a row of the same table, but not this one, begins with these names."""
    return row.is_row and any(
        one.is_row and one.start != row.start and names <= {word.stem for word in one.reading.words[: len(names) + 1]}
        for one in row.source.sentences
    )


def _find_other_measure(
    value: Value, claim: AnnotatedText, scored: Sequence[ScoredSentence], sources: Sequence[SplitPassage]
) -> ValueMark | None:
    """Return the contradiction of a value by a sentence with the same number in another unit, currency or scale.

    It is certain if the number has no other unit anywhere, or if no sentence with the number has more of the claim's
    words.
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
    is_only = not unknown and len(re.sub(r"\D", "", number.text).strip("0")) > 1
    if not is_only and share < max([_MIN_SHARE_OF_UNIT, *unknown]):
        return None
    return ValueMark(write_value(claim, value), sentence, write_value(sentence.reading, other))


def _find_measure(text: AnnotatedText, value: Value, *, in_row: bool = False) -> Measure | None:
    currency = value.number.currency if value.number else ""
    return find_measure(text.text, value.start, value.end, currency, in_row=in_row)


def _compare_measures(said: Measure | None, value: Value, sentence: SourceSentence, other: Value) -> str:
    """Return whether two equal numbers are in the "same" or an "other" unit and scale, or whether this is "unknown"."""
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
    """Return whether two numbers are equal, or one is a rounded form of the other, without unit, currency and scale."""
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
    """Return the contradiction of a value by the sentence that has most words of its claim."""
    best = ranked[0]
    # A comparison of two years has words of sentences about each of them.
    if is_year(value.text) and sum(is_year(one.text) for one in claim.values) > 1:
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


def _find_closer_sentence(value: Value, claim: AnnotatedText, scored: Sequence[ScoredSentence]) -> ValueMark | None:
    """Return the contradiction of a value by a sentence that has nearly everything else of its claim.

    The sentences around it do not state the value, and every sentence that states it shares fewer words with the claim,
    all of which this sentence has too.
    """
    words = {one.stem for one in claim.content if not any(_contains(value, one) for value in claim.values)}
    others = [one for one in claim.values if one is not value]
    if len(words) < _MIN_WORDS:
        return None

    def measure(sentence: SourceSentence) -> float:
        stated = sum(sentence.states(one) for one in others)
        return len(words & (sentence.reading.stems | sentence.source.title.stems)) / len(words) + _PER_VALUE * stated

    shares = [(measure(one.sentence), one.sentence) for one in scored]
    best, closest = max(shares, key=lambda one: one[0])
    is_near = closest.states(value) if closest.is_line else closest.source.states_near(closest, value)
    if best < _MIN_CLOSE_SHARE or is_near or find_calculation(value, claim, [closest], ()):
        return None
    for share, sentence in shares:
        if sentence.states(value) and (
            share > best - _CLOSE_MARGIN or not words & sentence.reading.stems <= closest.reading.stems
        ):
            return None
    near, reading = _find_near(claim, value, _NEAR_WORDS), closest.reading
    rivals = _list_rivals(value, claim, closest)
    common = sorted(
        ((len(near & _find_near(reading, one, _NEAR_WORDS)), one) for one in rivals), key=lambda one: -one[0]
    )
    if not common or common[0][0] < _MIN_NEAR or (len(common) > 1 and common[1][0] == common[0][0]):
        return None
    return ValueMark(write_value(claim, value), closest, write_value(reading, common[0][1]))


def _contains(value: Value, word: Word) -> bool:
    return value.start <= word.start < value.end


def _find_near(text: AnnotatedText, value: Value, count: int) -> set[tuple[str, str]]:
    """Return the stems of so many content words before and of as many after a value, with their side."""
    words = [word for word in text.content if not any(_contains(one, word) for one in text.values)]
    before = [("before", word.stem) for word in words if word.end <= value.start][-count:]
    return {*before, *[("behind", word.stem) for word in words if word.start >= value.end][:count]}


def _find_rival(value: Value, claim: AnnotatedText, sentence: SourceSentence) -> Value | None:
    """Return the value of a sentence that stands in the place of a claim's value, if only one may."""
    reading, free = sentence.reading, _list_rivals(value, claim, sentence)
    if len(free) > 1 and not all(is_same_value(free[0], one) for one in free):
        beside = _find_near(claim, value, 1)
        free = [one for one in free if beside & _find_near(reading, one, 1)]
    if free and all(is_same_value(free[0], one) for one in free):
        return free[0]
    return None


def _list_rivals(value: Value, claim: AnnotatedText, sentence: SourceSentence) -> list[Value]:
    """Return the values of a sentence that may stand in the place of a claim's value and are not those of the claim."""
    scales = sentence.source.scales
    of_kind = [one for one in sentence.reading.values if _is_same_kind(value, one, claim, sentence.reading)]
    return [one for one in of_kind if not any(is_same_value(other, one, scales) for other in claim.values)]


def _is_same_kind(value: Value, other: Value, claim: AnnotatedText, sentence: AnnotatedText) -> bool:
    one, two = value.number, other.number
    if find_kind(value) != find_kind(other):
        return False
    if one is None or two is None:
        return True
    if one.currency != two.currency and (two.currency or len(sentence.values) == 1):
        return False
    unit, other_unit = find_unit_after(claim.text, value.end), find_unit_after(sentence.text, other.end)
    if other_unit and unit and other_unit != unit:
        return False
    line = sentence.text.rfind("\n", 0, other.start) + 1
    section = _SECTION_NUMBER.match(sentence.text, line)
    if not other_unit and (
        (section and other.start < section.end()) or _NAME_BEFORE.search(sentence.text, 0, other.start)
    ):
        return False
    largest, smallest = sorted((max(one.values), max(two.values)), reverse=True)
    return not smallest or largest / smallest <= _MAX_FACTOR
