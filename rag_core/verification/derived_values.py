"""Values that follow from stated ones: sums, differences, shares, relative changes, and amounts for other periods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby, permutations
from typing import NamedTuple

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year
from rag_core.text.measures import find_unit_after
from rag_core.text.numbers import Number, numbers_equal
from rag_core.text.values import Value, is_same_value
from rag_core.verification.support import POSSIBLE_SCALES, SourceSentence, SplitPassage

# Halves, quarters, days of a week, months and weeks of a year.
_PERIODS = (2, 4, 7, 12, 52)
# Up to this number, a model may have counted what the sources list.
_MAX_COUNTED = 12
# The most rows of a table whose cells are added up, and the most rows above a row that belong to its table.
_MAX_ROWS = 30
# Fewest digits of a number that pairs of loosely related sentences hardly yield by chance.
_DISTINCTIVE_DIGITS = 2
# Other values of a claim that a sentence with the operands has.
_MIN_OTHERS = 2
# Rows that a claim names, whose columns are compared.
_MAX_NAMED = 4
# Words that a sentence with the amount of a percentage has in common with the claim.
_MIN_COMMON = 2
# Units of one dimension, in one of them.
_FACTORS = {
    "length-kilometer": Decimal(1000),
    "length-meter": Decimal(1),
    "length-centimeter": Decimal("0.01"),
    "length-millimeter": Decimal("0.001"),
    "mass-tonne": Decimal(1000),
    "mass-kilogram": Decimal(1),
    "mass-gram": Decimal("0.001"),
    "volume-hectoliter": Decimal(100),
    "volume-liter": Decimal(1),
    "volume-milliliter": Decimal("0.001"),
    "duration-hour": Decimal(60),
    "duration-minute": Decimal(1),
}
_CENTS = re.compile(r"\s?(?:cents?|pence|p)\b", re.IGNORECASE)


class Operand(NamedTuple):
    """An amount in a scale that is possible for it, and how its text writes it."""

    amount: Decimal
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a row, with the row."""

    number: Number
    row: SourceSentence


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

    The operands stand in the claim; in one of the sentences ``near``, beside the first of them, or in rows of these; in
    a row whose label or year the claim names; or in one column of such rows, or of all rows of a table. An amount for
    another period is that of a number of the claim.
    """
    wanted = value.number
    if wanted is None or is_year(value.text):
        return ""
    own = [one.number for one in claim.values if one.number and one is not value]
    if not wanted.kind:
        for amounts in _list_amounts(wanted, own, ""):
            for one in amounts:
                for result, text in _convert_period(one):
                    if _is_close(wanted, result):
                        return text
    if found := _calculate_from(wanted, own, is_own=True):
        return found
    if wanted.currency:
        others = [one for one in claim.values if one is not value and any(source.states(one) for source in sources)]
        if found := _calculate_total(wanted, [one.number for one in others if one.number]):
            return found
    named = [one for source in sources for one in source.sentences if _is_named(one, claim, value)]
    rows = [stated for one in near if one.is_row for stated in one.reading.values]
    following = [one for sentence in near[:1] for one in _list_neighbours(sentence)]
    groups = [rows, *(one.reading.values for one in (*near, *named)), *following]
    # A blank may separate columns, not thousands.
    apart = [one.reading.separate_values for one in named]
    groups += [*apart, *(zip(*apart, strict=False) if 1 < len(apart) <= _MAX_NAMED else ())]
    for group in groups:
        stated = [one.number for one in group if one.number and _is_operand(one.number)]
        if found := _calculate_from(wanted, [*own, *stated]):
            return found
    if _count_digits(wanted) < _DISTINCTIVE_DIGITS:
        return ""
    for source in sources:
        for table in _list_tables(source):
            if found := _calculate_from_columns(wanted, table, claim, value):
                return found
    related = [
        one
        for source in sources
        for one in source.sentences
        if len({word.stem for word in one.reading.content} & claim.stems) >= _MIN_COMMON
    ]
    return _find_part(wanted, own, near, [*named, *related]) or _convert_unit(value, claim, sources)


def _count_digits(number: Number) -> int:
    return len(re.sub(r"\D", "", number.text).strip("0"))


def _is_operand(number: Number) -> bool:
    """Return whether a number is written in more than one digit, so that it seldom fits by chance."""
    return len(re.sub(r"\D", "", number.text)) > 1


def _is_named(sentence: SourceSentence, claim: AnnotatedText, value: Value) -> bool:
    """Return whether a sentence has two other values of a claim, or is a row with its words or its year as label."""
    others = [one for one in claim.values if one is not value]
    if sum(map(sentence.states, others)) >= _MIN_OTHERS:
        return True
    if not sentence.is_line or not sentence.reading.values:
        return False
    first = sentence.reading.values[0]
    label = {word.stem for word in sentence.reading.content if word.end <= first.start and len(word.text) > 2}
    if label:
        return label <= claim.stems
    return is_year(first.text) and any(is_same_value(one, first) for one in others)


def _list_neighbours(sentence: SourceSentence) -> Iterator[list[Value]]:
    """Yield the values of a sentence with those of the one after it, and with those of the one before it."""
    near = sentence.source.list_near(sentence)
    place = next(place for place, one in enumerate(near) if one.start == sentence.start)
    for pair in (near[place : place + 2], near[max(0, place - 1) : place + 1]):
        if not any(one.is_row for one in pair):
            yield [value for one in pair for value in one.reading.values]


def _calculate_from(wanted: Number, numbers: Sequence[Number], *, is_own: bool = False) -> str:
    for kind in ("", "percent"):
        for amounts in _list_amounts(wanted, numbers, kind):
            for a, b in permutations(amounts, 2):
                results = list(_calculate(a, b, kind == wanted.kind, not kind and wanted.kind == "percent"))
                if b.amount and is_own and not wanted.kind:
                    results += [
                        (a.amount / b.amount, f"{a.text} / {b.text}"),
                        (a.amount * b.amount, f"{a.text} × {b.text}"),
                    ]
                for result, text in results:
                    if _equals(wanted, result) and (is_own or _is_close(wanted, result)):
                        return text
    return ""


def _calculate_total(wanted: Number, stated: Sequence[Number]) -> str:
    """Return the sum of amounts in a currency, or an amount with a percentage added."""
    amounts = [one for one in stated if one.currency and one.currency == wanted.currency]
    if len(amounts) > 2 and _is_close(wanted, sum((max(one.values) for one in amounts), Decimal(0))):
        return " + ".join(one.text.strip() for one in amounts)
    for share in (one for one in stated if one.kind == "percent"):
        for one in amounts:
            if _is_close(wanted, max(one.values) * (1 + max(share.values) / 100)):
                return f"{one.text.strip()} + {share.text.strip()}"
    return ""


def _list_amounts(wanted: Number, numbers: Sequence[Number], kind: str) -> Iterator[list[Operand]]:
    """Yield the amounts of one kind, for each possible scale of a table if the wanted number has a scale."""
    of_kind = [
        one
        for one in numbers
        if one.kind == kind
        and not is_year(one.text)
        and not (one.currency and wanted.currency and one.currency != wanted.currency)
    ]
    for scale in (0, *sorted(POSSIBLE_SCALES)) if wanted.power else (0,):
        found = {
            amount if one.power else amount.scaleb(scale): one.text.strip() for one in of_kind for amount in one.values
        }
        yield [Operand(amount, text) for amount, text in found.items()]


def _convert_period(one: Operand) -> Iterator[tuple[Decimal, str]]:
    """Yield an amount for other periods: of a month for a year or a week, of a year for a quarter, and so on."""
    for factor in _PERIODS:
        yield one.amount * factor, f"{one.text} × {factor}"
        yield one.amount / factor, f"{one.text} / {factor}"


def _calculate(a: Operand, b: Operand, is_sum: bool, is_ratio: bool) -> Iterator[tuple[Decimal, str]]:
    if is_sum and a.amount > b.amount:
        yield a.amount - b.amount, f"{a.text} - {b.text}"
        yield a.amount + b.amount, f"{a.text} + {b.text}"
    if is_ratio and b.amount:
        yield a.amount / b.amount * 100, f"{a.text} / {b.text}"
        change = f"{a.text} / {b.text} - 1" if a.amount > b.amount else f"1 - {a.text} / {b.text}"
        yield (a.amount - b.amount) / b.amount * 100, change
        if a.amount < b.amount:
            yield a.amount / (b.amount - a.amount) * 100, f"{a.text} / ({b.text} - {a.text})"


def _list_tables(source: SplitPassage) -> Iterator[list[list[Cell]]]:
    """Yield runs of rows with equally many numbers, each as its cells; a blank separates thousands or columns."""
    for spaced in (True, False):
        rows = [_list_cells(one, spaced) if one.is_line else [] for one in source.sentences]
        runs = [list(run) for count, run in groupby(rows, key=len) if count]
        # Rows of a table can differ in the number of their cells, and amounts are in the last column.
        runs += [[row[-1:] for row in run] for has_cells, run in groupby(rows, key=bool) if has_cells]
        yield from (run[:_MAX_ROWS] for run in runs if len(run) > 1)


def _list_cells(row: SourceSentence, spaced: bool) -> list[Cell]:
    values = row.reading.values if spaced else row.reading.separate_values
    return [Cell(one.number, row) for one in values if one.number and not is_year(one.text)]


def _calculate_from_columns(wanted: Number, table: Sequence[Sequence[Cell]], claim: AnnotatedText, value: Value) -> str:
    """Return a calculation within a column, of rows that have words of the claim, or of all rows."""
    said = {word.stem for word in claim.content if not value.start <= word.start < value.end}
    for column in zip(*table, strict=True):
        named = [one for one in column if said & one.row.reading.stems]
        if 1 < len(named) < len(column) and (
            found := _calculate_from(wanted, [one.number for one in named if _is_operand(one.number)])
        ):
            return found
        # The share of a row is that of the last one, which is the total.
        if wanted.kind == "percent":
            for one in named:
                if _is_named(one.row, claim, value) and (
                    found := _calculate_from(wanted, [one.number, column[-1].number])
                ):
                    return found
        for part in ([one.number for one in named], [one.number for one in column]):
            if len(part) > 1 and {one.kind for one in part} == {wanted.kind} and len(set(part)) > 1:
                for amounts in _list_all_amounts(wanted, part):
                    if _is_close(wanted, sum(amounts, Decimal(0))):
                        return " + ".join(one.text.strip() for one in part)
                    if len(part) > 2 and _is_close(wanted, sum(amounts, Decimal(0)) / len(amounts)):
                        return f"({' + '.join(one.text.strip() for one in part)}) / {len(part)}"
    return ""


def _list_all_amounts(wanted: Number, numbers: Sequence[Number]) -> Iterator[list[Decimal]]:
    for scale in (0, *sorted(POSSIBLE_SCALES)) if wanted.power else (0,):
        yield [max(one.values) if one.power else max(one.values).scaleb(scale) for one in numbers]


def _find_part(
    wanted: Number, own: Sequence[Number], near: Sequence[SourceSentence], named: Sequence[SourceSentence]
) -> str:
    """Return the calculation of a percentage of an amount."""
    if wanted.kind:
        return ""
    said = [one.number for sentence in (*near, *named) for one in sentence.reading.values if one.number]
    for share in (one for one in (*own, *said) if one.kind == "percent"):
        for amounts in _list_amounts(wanted, [one for one in (*own, *said) if _is_operand(one)], ""):
            for one in amounts:
                for rate in share.values:
                    if _is_close(wanted, one.amount * rate / 100):
                        return f"{share.text.strip()} × {one.text}"
    return ""


def _convert_unit(value: Value, claim: AnnotatedText, sources: Sequence[SplitPassage]) -> str:
    """Return the stated amount that is a value in another unit of its dimension."""
    unit, wanted = find_unit_after(claim.text, value.end), value.number
    if wanted is None or (unit not in _FACTORS and not _CENTS.match(claim.text, value.end)):
        return ""
    for source in sources:
        for one in source.reading.values:
            if one.number is None:
                continue
            other = find_unit_after(source.reading.text, one.end)
            if unit in _FACTORS and other in _FACTORS and other != unit and other.split("-")[0] == unit.split("-")[0]:
                factor = _FACTORS[other] / _FACTORS[unit]
            elif unit not in _FACTORS and one.number.currency:
                factor = Decimal(100)
            else:
                continue
            if any(_is_close(wanted, amount * factor) for amount in one.number.values):
                return f"{one.text.strip()} × {factor.normalize():f}"
    return ""


def _equals(wanted: Number, result: Decimal) -> bool:
    derived = Number(0, 0, "", frozenset({abs(result)}), wanted.kind, wanted.currency)
    return numbers_equal(wanted, derived, rounded=True)


def _is_close(wanted: Number, result: Decimal) -> bool:
    """Return whether a number is a result, or is it rounded to at least two digits."""
    for one in wanted.values:
        normal = one.normalize().as_tuple()
        if abs(result) == one:
            return True
        if len(normal.digits) >= _DISTINCTIVE_DIGITS and isinstance(normal.exponent, int):
            is_rounded = wanted.power or len(normal.digits) > _DISTINCTIVE_DIGITS
            half = Decimal(5).scaleb((normal.exponent if is_rounded else min(0, normal.exponent)) - 1)
            if abs(abs(result) - one) <= half:
                return True
    return False
