"""Values that follow from stated ones: sums, differences, products, shares, changes, averages and other units.

The fewer digits a value has, the more calculations yield it by chance, so the fewer operands are tried: those of the
claim and of one sentence for any value, those of neighbours and of tables for three digits, and those of the whole
passage for four.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby, islice, pairwise
from typing import NamedTuple

import numpy as np

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year
from rag_core.text.measures import convert_unit, find_unit_after
from rag_core.text.numbers import Number
from rag_core.text.values import Value, is_same_value
from rag_core.types.arrays import FloatArray
from rag_core.verification.derived_times import find_time_calculation
from rag_core.verification.support import POSSIBLE_SCALES, SourceSentence, SplitPassage

# Halves, quarters, days of a week, tenths, months and weeks of a year, hours of a day.
_PERIODS = (2, 4, 7, 10, 12, 24, 52)
# Up to this number, a model may have counted what the sources list.
_MAX_COUNTED = 12
# The most rows of a table whose cells are added up, those whose cells are combined in pairs, and the most numbers of a
# passage that are.
_MAX_ROWS, _MAX_PAIRED, _MAX_NUMBERS = 30, 12, 120
# The most numbers of a sentence of which those with one digit are operands too.
_FEW_NUMBERS = 8
# Digits from which on numbers of tables, of neighbours, and of a whole passage are operands.
_DIGITS_OF_TABLE, _DIGITS_OF_NEIGHBOURS, _DIGITS_OF_PASSAGE = 2, 4, 5
# Other values of a claim that a sentence with the operands has.
_MIN_OTHERS = 2
# Rows that a claim names, whose columns are compared.
_MAX_NAMED = 4
# Sentences whose neighbours may contain an operand, and words that one with the amount of a percentage shares with the
# claim.
_CLOSEST, _MIN_COMMON = 2, 2
_SEVERAL_DIGITS = re.compile(r"\d\D?\d")
_CENTS = re.compile(r"\s?(?:cents?|pence|p)\b", re.IGNORECASE)
# What may stand between the cells of a row and after the last one.
_BETWEEN = re.compile(r"[\s|()%$€£¥+–—-]*")
# How close a result must be: equal, rounded to at least two digits, or within a unit of the last digit.
_EXACT, _ROUNDED, _OWN = range(3)
_CLOSE = 1e-9


class Operand(NamedTuple):
    """An amount in a scale that is possible for it, and how its text writes it."""

    amount: float
    text: str


class Stated(NamedTuple):
    """A number with the sentence or row that states it; ``None`` for the claim."""

    number: Number
    sentence: SourceSentence | None = None


def is_count(value: Value) -> bool:
    """Return whether a value is a small whole number without unit, which may count what the sources list."""
    number = value.number
    if number is None or number.kind or number.currency or number.power:
        return False
    return any(one == one.to_integral_value() and 0 < one <= _MAX_COUNTED for one in number.values)


def find_calculation(
    value: Value, claim: AnnotatedText, near: Sequence[SourceSentence], sources: Sequence[SplitPassage]
) -> str:
    """Return a calculation with stated values whose result is a value, such as ``71.9 / 62.3 - 1``; empty if none is.

    Parameters
    ----------
    value : Value
    claim : AnnotatedText
    near : sequence of SourceSentence
        The sentences with most words of the claim, best first.
    sources : sequence of SplitPassage
    """
    if found := find_time_calculation(value, claim, near):
        return found
    wanted = value.number
    if wanted is None or is_year(value.text):
        return ""
    own = [Stated(one.number) for one in claim.values if one.number and one is not value]
    if found := _combine(wanted, own, is_own=True):
        return found
    if found := _convert(value, claim, sources):
        return found
    named = [one for source in sources for one in source.sentences if _is_named(one, claim, value)]
    for sentence in (*near, *named):
        stated = _list_numbers(sentence.reading.values, sentence)
        if sentence.is_row or len(stated) > _FEW_NUMBERS:
            stated = list(filter(_is_operand, stated))
        if found := _combine(wanted, [*own, *stated]) or ("" if sentence.is_row else _add_up(wanted, stated)):
            return found
    for group in _list_groups(wanted, near, named):
        if found := _combine(wanted, [*own, *filter(_is_operand, group)], is_exact=True):
            return found
    shares = [
        one for sentence in near for one in _list_numbers(sentence.reading.values) if one.number.kind == "percent"
    ]
    for source in sources:
        for sentence in source.sentences if shares else ():
            if len({word.stem for word in sentence.reading.content} & claim.stems) >= _MIN_COMMON:
                amounts = [one for one in _list_numbers(sentence.reading.values, sentence) if not one.number.kind]
                if found := _combine(wanted, [*shares, *filter(_is_operand, amounts)], is_exact=True):
                    return found
        closest = [one for sentence in near[:1] for one in _list_numbers(sentence.reading.values, sentence)]
        for table in _list_tables(source):
            # The last row often has the totals.
            if found := _combine(wanted, [*closest, *filter(_is_operand, table[-1])], is_exact=True):
                return found
            if found := _calculate_from_columns(wanted, table, claim, value, [*own, *shares]):
                return found
    return ""


def _count_digits(number: Number) -> int:
    return len(re.sub(r"\D", "", number.text).strip("0"))


def _list_numbers(values: Iterable[Value], sentence: SourceSentence | None = None) -> list[Stated]:
    return [Stated(one.number, sentence) for one in values if one.number and not is_year(one.text)]


def _is_operand(stated: Stated) -> bool:
    """Return whether a number is written in more than one digit, so that it seldom fits by chance."""
    return len(re.sub(r"\D", "", stated.number.text)) > 1


def _list_groups(
    wanted: Number, near: Sequence[SourceSentence], named: Sequence[SourceSentence]
) -> Iterator[Sequence[Stated]]:
    """Yield the numbers of each group of sentences and rows that may contain the operands."""
    read = {id(one): _list_numbers(one.reading.values, one) for one in (*near, *named)}
    yield [number for one in near if one.is_row for number in read[id(one)]]
    for one in near[:1]:
        yield from ([*read[id(one)], *read[id(other)]] for other in (*near[1:_CLOSEST], *named[:_MAX_NAMED]))
    yield from ([*read[id(one)], *read[id(other)]] for one, other in pairwise(named[:_MAX_NAMED]))
    # A blank may separate columns, not thousands.
    apart = [_list_numbers(one.reading.separate_values, one) for one in named]
    yield from apart
    if 1 < len(apart) <= _MAX_NAMED:
        yield from zip(*apart, strict=False)
    digits = _count_digits(wanted)
    for one in near[:_CLOSEST]:
        yield from _list_neighbours(one)
    for one in near[:1]:
        if digits >= _DIGITS_OF_NEIGHBOURS:
            yield [
                number for other in one.source.list_near(one) for number in _list_numbers(other.reading.values, other)
            ]
        if digits >= _DIGITS_OF_PASSAGE:
            everything = (
                number for other in one.source.sentences for number in _list_numbers(other.reading.values, other)
            )
            yield list(islice(everything, _MAX_NUMBERS))


def _is_named(sentence: SourceSentence, claim: AnnotatedText, value: Value) -> bool:
    """Return whether a sentence has two other values of a claim, or is a row with its words or its year as label."""
    others = [one for one in claim.values if one is not value]
    stated = [one for one in others if sentence.states(one)]
    # A whole of which the value is a part, as in "59 of the 68", is enough.
    has_whole = any(one.number and _SEVERAL_DIGITS.search(one.text) and not is_year(one.text) for one in stated)
    if len(stated) >= _MIN_OTHERS or (has_whole and not sentence.is_row):
        return True
    if not sentence.is_line or not sentence.reading.values:
        return False
    first = sentence.reading.values[0]
    label = {word.stem for word in sentence.reading.content if word.end <= first.start and len(word.text) > 2}
    if label:
        return label <= claim.stems
    return is_year(first.text) and any(is_same_value(one, first) for one in others)


def _list_neighbours(sentence: SourceSentence) -> Iterator[list[Stated]]:
    """Yield the numbers of a sentence with those of the one after it, and with those of the one before it."""
    near = sentence.source.list_near(sentence)
    place = next(place for place, one in enumerate(near) if one.start == sentence.start)
    for pair in (near[place : place + 2], near[max(0, place - 1) : place + 1]):
        if not any(one.is_row for one in pair):
            yield [number for one in pair for number in _list_numbers(one.reading.values, one)]


def _combine(wanted: Number, stated: Sequence[Stated], *, is_own: bool = False, is_exact: bool = False) -> str:
    """Return the calculation with one or two of some numbers that yields a number; empty if none does.

    ``is_own`` is true if all numbers are those of the claim. With ``is_exact``, products and quotients are not rounded.
    """
    shares = [_read(one, one.number.values) for one in stated if one.number.kind == "percent"]
    for amounts in _list_amounts(wanted, stated):
        operands = [*amounts, *(share for one in shares for share in one)]
        if not operands:
            continue
        for written, results, may_round in _calculate(wanted, operands, len(amounts)):
            tolerance = _OWN if is_own else _ROUNDED if may_round or not is_exact else _EXACT
            for row, column in _find_results(wanted, results, tolerance):
                return written.format(operands[row].text, operands[column].text)
        # A small number is multiplied by chance.
        for one in amounts if not wanted.kind and not is_exact else ():
            for factor in _PERIODS if is_own or _SEVERAL_DIGITS.search(one.text) else ():
                if _is_close(wanted, one.amount * factor, _ROUNDED if is_own else _EXACT):
                    return f"{one.text} × {factor}"
                if _is_close(wanted, one.amount / factor, _ROUNDED if is_own else _EXACT):
                    return f"{one.text} / {factor}"
    return ""


def _read(stated: Stated, amounts: Iterable[Decimal]) -> list[Operand]:
    return [Operand(float(amount), stated.number.text.strip()) for amount in amounts]


def _list_amounts(wanted: Number, stated: Sequence[Stated]) -> Iterator[list[Operand]]:
    """Yield the amounts, for each possible scale of the tables if a number has a scale."""
    plain = [
        one
        for one in stated
        if not one.number.kind and not (one.number.currency and wanted.currency not in ("", one.number.currency))
    ]
    scaled = [bool(one.sentence and one.sentence.is_row and not one.number.power) for one in plain]
    has_scale = any(scaled) and (wanted.power or any(one.number.power for one in plain))
    for scale in (0, *sorted(POSSIBLE_SCALES)) if has_scale else (0,):
        found: dict[float, Operand] = {}
        for one, is_scaled in zip(plain, scaled, strict=True):
            for operand in _read(one, (amount.scaleb(scale * is_scaled) for amount in one.number.values)):
                found.setdefault(operand.amount, operand)
        yield list(found.values())


def _calculate(wanted: Number, operands: Sequence[Operand], count: int) -> Iterator[tuple[str, FloatArray, bool]]:
    """Yield operations with their results for all pairs, shape (n, n), and whether these may be rounded.

    The first ``count`` operands are amounts, the others percentages.
    """
    values = np.array([one.amount for one in operands])
    a, b = values[:, None], values[None, :]
    is_amount = np.arange(len(values)) < count
    plain, shares = is_amount[:, None] & is_amount[None, :], ~is_amount[:, None] & ~is_amount[None, :]
    part, larger, same = is_amount[:, None] & ~is_amount[None, :], a > b, np.eye(len(values), dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if wanted.kind == "percent":
            yield "{} - {}", np.where(shares & larger, a - b, np.nan), True
            yield "{} + {}", np.where(shares & larger, a + b, np.nan), True
            yield "100 % - {}", np.where(shares & same, 100 - a, np.nan), True
            yield "{} / {}", np.where(plain & ~same, a / b * 100, np.nan), True
            yield "{} / {} - 1", np.where(plain & larger, (a / b - 1) * 100, np.nan), True
            yield "1 - {} / {}", np.where(plain & ~larger & ~same, (1 - a / b) * 100, np.nan), True
        elif not wanted.kind:
            yield "{} - {}", np.where(plain & larger, a - b, np.nan), True
            yield "{} + {}", np.where(plain & larger, a + b, np.nan), True
            yield "{1} × {0}", np.where(part, a * b / 100, np.nan), True
            yield "{} + {}", np.where(part, a * (1 + b / 100), np.nan), True
            yield "{} - {}", np.where(part, a * (1 - b / 100), np.nan), True
            yield "{} × {}", np.where(plain & larger, a * b, np.nan), False
            yield "{} / {}", np.where(plain & ~same, a / b, np.nan), False
            if _count_digits(wanted) >= _DIGITS_OF_NEIGHBOURS:
                for share in operands[count:]:
                    yield (
                        f"{{}} × {{}} - {share.text}",
                        np.where(plain & larger, a * b * (1 - share.amount / 100), np.nan),
                        False,
                    )


def _find_results(wanted: Number, results: FloatArray, tolerance: int) -> list[tuple[int, int]]:
    """Return the places of the results that are a number: exactly, rounded to at least two digits, or roughly."""
    found = np.zeros(results.shape, dtype=bool)
    for one in wanted.values:
        amount, normal = float(abs(one)), one.normalize().as_tuple()
        allowed, digits, exponent = amount * _CLOSE, len(normal.digits), normal.exponent
        if isinstance(exponent, int) and one and tolerance != _EXACT:
            if digits > 1:
                is_rounded = wanted.power or digits > 2
                allowed += 0.5 * 10.0 ** (exponent if is_rounded else min(0, exponent))
            if tolerance == _OWN:
                allowed = max(allowed, min(0.999 * 10.0**exponent, amount / 10))
        found |= np.abs(np.abs(results) - amount) <= allowed
    return [(int(one), int(other)) for one, other in np.argwhere(found)]


def _is_close(wanted: Number, result: float, tolerance: int = _ROUNDED) -> bool:
    return len(_find_results(wanted, np.array([[result]]), tolerance)) > 0


def _add_up(wanted: Number, stated: Sequence[Stated]) -> str:
    """Return the sum of at least three consecutive numbers of one kind, or the first one without the others."""
    of_kind = [one for one in stated if one.number.kind == wanted.kind and wanted.currency in ("", one.number.currency)]
    if not 2 < len(of_kind) <= _MAX_ROWS:
        return ""
    is_long = _count_digits(wanted) >= _DIGITS_OF_NEIGHBOURS
    for amounts in _list_all_amounts(wanted, of_kind):
        count = len(amounts)
        for start in range(count - 2 if is_long or count <= _FEW_NUMBERS else 1):
            for end in range(start + 3 if is_long or count <= _FEW_NUMBERS else count, count + 1):
                written = [one.number.text.strip() for one in of_kind[start:end]]
                if _is_close(wanted, sum(amounts[start:end])):
                    return " + ".join(written)
                if is_long and _is_close(wanted, amounts[start] - sum(amounts[start + 1 : end]), _EXACT):
                    return " - ".join(written)
    return ""


def _average(wanted: Number, stated: Sequence[Stated]) -> str:
    if {one.number.kind for one in stated} == {wanted.kind}:
        for amounts in _list_all_amounts(wanted, stated):
            if _is_close(wanted, sum(amounts) / len(amounts)):
                return f"({' + '.join(one.number.text.strip() for one in stated)}) / {len(stated)}"
    return ""


def _list_all_amounts(wanted: Number, stated: Sequence[Stated]) -> Iterator[list[float]]:
    numbers = [one.number for one in stated]
    for scale in (0, *sorted(POSSIBLE_SCALES)) if wanted.power else (0,):
        yield [float(max(one.values) if one.power else max(one.values).scaleb(scale)) for one in numbers]


def _list_tables(source: SplitPassage) -> Iterator[list[list[Stated]]]:
    """Yield runs of rows with equally many cells; a blank separates thousands or columns."""
    for spaced in (True, False):
        rows = [_list_cells(one, spaced) if one.is_line else [] for one in source.sentences]
        runs = [list(run) for count, run in groupby(rows, key=len) if count]
        # Rows of a table can differ in the number of their cells, and amounts are in the last column.
        runs += [[row[-1:] for row in run] for has_cells, run in groupby(rows, key=bool) if has_cells]
        yield from (run[:_MAX_ROWS] for run in runs if len(run) > 1)


def _list_cells(row: SourceSentence, spaced: bool) -> list[Stated]:
    """Return the numbers at the end of a row, without those of its label."""
    values = row.reading.values if spaced else row.reading.separate_values
    start = len(values)
    while start and _BETWEEN.fullmatch(row.reading.text, values[start - 1].end, _start_of(row, values, start)):
        start -= 1
    return _list_numbers(values[start:], row)


def _start_of(row: SourceSentence, values: Sequence[Value], place: int) -> int:
    return values[place].start if place < len(values) else len(row.reading.text)


def _calculate_from_columns(
    wanted: Number, table: Sequence[Sequence[Stated]], claim: AnnotatedText, value: Value, further: Sequence[Stated]
) -> str:
    """Return a calculation within a column, of rows that have words of the claim and the last one, or of all rows."""
    said = {word.stem for word in claim.content if not value.start <= word.start < value.end}
    for column in zip(*table, strict=True):
        named = [one for one in column if one.sentence and said & one.sentence.reading.stems]
        operands = column if _count_digits(wanted) > _DIGITS_OF_TABLE and len(column) <= _MAX_PAIRED else named
        operands = [one for one in (*operands, column[-1]) if _is_operand(one)]
        if operands and (found := _combine(wanted, [*further, *operands], is_exact=True)):
            return found
        if len(named) <= _MAX_NAMED and (found := _combine(wanted, named)):
            return found
        for part in (named, column):
            if len({one.number.text for one in part}) > 1 and (
                found := _average(wanted, part) or _add_up(wanted, part)
            ):
                return found
    return ""


def _convert(value: Value, claim: AnnotatedText, sources: Sequence[SplitPassage]) -> str:
    """Return the stated amount that is a value in another unit of its dimension."""
    wanted, unit = value.number, convert_unit(find_unit_after(claim.text, value.end))
    if wanted is None or (unit is None and not _CENTS.match(claim.text, value.end)):
        return ""
    for source in sources:
        for sentence in source.sentences:
            for one in sentence.reading.values:
                if one.number is None:
                    continue
                others = [convert_unit(find_unit_after(sentence.reading.text, one.end))]
                if others == [None] and sentence.is_row:
                    others = source.header_units
                for factor in _list_factors(unit, others, one.number):
                    if factor != 1 and any(_is_close(wanted, float(amount * factor)) for amount in one.number.values):
                        return f"{one.text.strip()} × {factor.normalize():f}"
    return ""


def _list_factors(
    unit: tuple[str, Decimal] | None, others: Sequence[tuple[str, Decimal] | None], number: Number
) -> Iterator[Decimal]:
    if unit is None:
        yield from [Decimal(100)] if number.currency else []
    for other in others:
        if unit and other and unit[0] == other[0]:
            yield other[1] / unit[1]
