"""Find the cell of a table that contradicts a value: for the claim's year or period, or in the row that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year, list_fiscal_years
from rag_core.text.measures import find_unit_after
from rag_core.text.numbers import numbers_equal
from rag_core.text.values import Value, find_values, is_same_value
from rag_core.verification.support import ScoredSentence, SourceSentence, SplitPassage
from rag_core.verification.value_marks import ValueMark, find_kind, write_value

Head = TypeVar("Head")

# Maximum share of the claim's words by which the best sentence may exceed the row with the value.
_ROW_MARGIN = 0.15
# Minimum number of digits of a number that is unlikely to occur in two rows by chance.
_DISTINCTIVE_DIGITS = 3
# Maximum number of sentences above a row that are searched for the years of its columns.
_MAX_ABOVE = 60
# A dash between blanks, which stands for an empty cell.
_DASH = re.compile(r"(?<!\S)[–—-](?!\S)")
# Between two years, as in the header "2017 vs. 2016" of a column with changes.
_VERSUS = re.compile(r"\s*vs?\.?\s*", re.IGNORECASE)
# Only brackets precede the years of a header line, and words of three letters behind them name further columns.
_BEFORE_YEARS, _WORDS = re.compile(r"\s*(?:\([^()]*\)\s*)?"), re.compile(r"[^\W\d_]{3}")


def find_other_cell(
    value: Value,
    claim: AnnotatedText,
    ranked: Sequence[ScoredSentence],
    sources: Sequence[SplitPassage],
) -> ValueMark | None:
    """Return the mark of a value that another cell of its table contradicts; ``None`` if there is no such cell.

    The cell is in the row of the value and in the column of the claim's year or period, or in the column of the value
    and in the row that the claim names. ``ranked`` contains the sentences with most words of the claim first.
    """
    stating = next((one for one in ranked if one.sentence.states(value)), None)
    if stating is None or value.number is None or is_year(value.text):
        return None
    # A number of few digits may be a rounded form of a cell by chance.
    if value.number.significant_digits < _DISTINCTIVE_DIGITS and not any(
        one.number and numbers_equal(value.number, one.number, stating.sentence.source.scales)
        for one in stating.sentence.reading.values
    ):
        return None
    row = stating.sentence
    cells = _list_cells(row, value)
    wanted = _find_nearest_years(claim, value)
    if stating.words >= ranked[0].words - _ROW_MARGIN or _is_only_place(value, row, sources):
        of_year = [cell for cell, years in _assign_columns(row, cells, claim) if years & wanted]
        if len(of_year) == 1 and (found := _compare_cell(value, claim, row, of_year[0])):
            return found
    place = next((place for place, cell in enumerate(cells) if is_same_value(value, cell, row.source.scales)), None)
    if place is None or not row.is_row or not _find_label_stems(row) - claim.stems:
        return None
    rows = [one for one in row.source.sentences if one.is_row and len(_list_cells(one, value)) == len(cells)]
    named = [one for one in rows if (label := _find_label_stems(one)) and label <= claim.stems]
    if len(named) != 1 or named[0].states(value):
        return None
    return _compare_cell(value, claim, named[0], _list_cells(named[0], value)[place])


def _is_only_place(value: Value, row: SourceSentence, sources: Sequence[SplitPassage]) -> bool:
    """Return whether a row is the only place that states a long number.

    The claim is then about this row, even if claim and row have few words in common.
    """
    if len(re.sub(r"\D", "", value.text)) < _DISTINCTIVE_DIGITS or not row.is_row:
        return False
    stating = ((source, one.start) for source in sources for one in source.sentences if one.states(value))
    return all(source is row.source and start == row.start for source, start in stating)


def _list_cells(row: SourceSentence, value: Value) -> list[Value]:
    """Return the numbers of a row that are of the kind of a value."""
    return [one for one in row.reading.values if one.number and find_kind(one) == find_kind(value)]


def _find_label_stems(row: SourceSentence) -> set[str]:
    """Return the stems of the content words before the first value of a row."""
    end = row.reading.values[0].start
    return {word.stem for word in row.reading.content if word.end <= end}


def _compare_cell(value: Value, claim: AnnotatedText, row: SourceSentence, cell: Value) -> ValueMark | None:
    """Return the mark of a value that a cell contradicts; ``None`` if the claim also states the value of the cell.

    If the value is a rounded form of the cell, it is contradicted only if another cell of the row is exactly the value.
    """
    scales, number = row.source.scales, value.number
    if number is None or cell.number is None:
        return None
    if any(one is not value and is_same_value(one, cell, scales) for one in claim.values):
        return None
    is_exact = any(one.number and numbers_equal(number, one.number, scales) for one in _list_cells(row, value))
    if numbers_equal(number, cell.number, scales) or (not is_exact and is_same_value(value, cell, scales)):
        return None
    return ValueMark(write_value(claim, value), row, write_value(row.reading, cell))


def _assign_columns(
    row: SourceSentence, cells: Sequence[Value], claim: AnnotatedText
) -> list[tuple[Value, frozenset[str]]]:
    """Return the cells with the years of their columns, without cells for another period than that of the claim."""
    text = row.reading.text
    empty = [match.start() for match in _DASH.finditer(text) if cells and match.start() > cells[0].start]
    count = len(cells) + len(empty)
    places = [place + sum(one < cell.start for one in empty) for place, cell in enumerate(cells)]
    columns, periods = _find_column_years(row, count), _find_periods(row, count)
    said = set(_list_durations(claim.text, claim.values))
    wanted = {one for one in periods if one in said} or set(periods)
    return [
        (cell, columns[place])
        for place, cell in zip(places, cells, strict=True)
        if place < len(columns) and (not periods or periods[place] in wanted)
    ]


def _find_column_years(row: SourceSentence, count: int) -> list[frozenset[str]]:
    """Return the years of the columns of a row, from left to right; an empty list if the years are unknown.

    The years are stated in the row itself, or in the nearest line above that states several. The list is shorter than
    ``count`` if the last columns have no year, such as columns with changes from one year to another.
    """
    if count < 2:
        return []
    own = [years for _, years in _list_years(row.reading.text, row.reading.values)]
    if own:
        return own if len(own) == count else []
    for line in _list_lines_above(row):
        found = _list_years(line, find_values(line))
        dated, heads = [one for one, _ in found], [years for _, years in found]
        changes = [
            place for place, (one, other) in enumerate(pairwise(dated)) if _VERSUS.fullmatch(line, one.end, other.start)
        ]
        heads = heads[: changes[0]] if changes else heads
        if len(heads) >= count:
            return heads[:count]
        if len(heads) > 1:
            has_others = _BEFORE_YEARS.fullmatch(line, 0, dated[0].start) and _WORDS.search(line, dated[-1].end)
            return heads if changes or has_others else _assign_heads(heads, count)
    return []


def _find_periods(row: SourceSentence, count: int) -> list[tuple[str, str]]:
    """Return the length of the period of each column, as an amount and a unit; empty if they are unknown.

    The nearest line above that states several lengths, as in "Three Months Ended … Nine Months Ended", is read.
    """
    for line in _list_lines_above(row):
        durations = _list_durations(line, find_values(line))
        if len(set(durations)) > 1 and (periods := _assign_heads(durations, count)):
            return periods
    return []


def _assign_heads(heads: Sequence[Head], count: int) -> list[Head]:
    """Return the head of each column if all heads stand above the same number of columns; otherwise, an empty list."""
    return [heads[column * len(heads) // count] for column in range(count)] if count % len(heads) == 0 else []


def _list_durations(text: str, values: Sequence[Value]) -> list[tuple[str, str]]:
    """Return the durations among the values of a text, each as an amount and a unit."""
    units = [(one, find_unit_after(text, one.end)) for one in values if one.number]
    return [(str(min(one.number.values)), unit) for one, unit in units if one.number and unit.startswith("duration")]


def _list_lines_above(row: SourceSentence) -> Iterator[str]:
    """Yield the lines of the `_MAX_ABOVE` sentences above a row, the nearest line first."""
    above = [one for one in row.source.sentences if one.end <= row.start][-_MAX_ABOVE:]
    for sentence in reversed(above):
        yield from reversed(sentence.reading.text.splitlines())


def _list_years(text: str, values: Sequence[Value]) -> list[tuple[Value, frozenset[str]]]:
    """Return each value that states a year, with its years; "2025/26" is one value with the year "2025/26"."""
    found: list[tuple[Value, frozenset[str]]] = []
    for value in values:
        if years := _find_years(value):
            if found and found[-1][0].end + 1 == value.start and text[value.start - 1] == "/":
                first, first_years = found[-1]
                found[-1] = replace(first, end=value.end), frozenset(["/".join((*first_years, *years))])
            else:
                found.append((value, years))
    return found


def _find_years(value: Value) -> frozenset[str]:
    if value.dates:
        ends = (list_fiscal_years(one.year, one.month) for one in value.dates if one.year)
        return frozenset(str(year) for years in ends for year in years)
    return frozenset([value.text.strip()] if value.number and is_year(value.text) else [])


def _find_nearest_years(claim: AnnotatedText, value: Value) -> frozenset[str]:
    dated = [
        (max(one.start - value.end, value.start - one.end), years)
        for one, years in _list_years(claim.text, claim.values)
    ]
    return min(dated, key=lambda one: one[0])[1] if dated else frozenset()
