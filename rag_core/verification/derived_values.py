"""Find calculations of values from stated values: sums, differences, products, shares, changes and other units.

The fewer digits a value has, the more calculations yield the value by chance. Therefore, numbers of whole columns are
operands only for values of three or more digits, numbers of a sentence's neighbours for four, and numbers of a whole
passage for five. Numbers of the claim, of a sentence and of rows that the claim names are operands for any value.
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

# Factors that sources need not state: halves, quarters, days of a week, tenths, months and weeks of a year, hours of a
# day.
_PERIODS = (2, 4, 7, 10, 12, 24, 52)
# Largest number that a model may have found by counting what the sources list.
_MAX_COUNTED = 12
# Maximum numbers of rows of a table whose cells are added up, of rows whose cells are combined in pairs, and of numbers
# of a passage that are combined in pairs.
_MAX_ROWS, _MAX_PAIRED, _MAX_NUMBERS = 30, 12, 120
# Maximum number of numbers of a sentence whose numbers with one digit are operands too.
_FEW_NUMBERS = 8
# Minimum digits of a value for which numbers of whole columns, of neighbours, and of a whole passage are operands.
_DIGITS_FOR_COLUMNS, _DIGITS_FOR_NEIGHBOURS, _DIGITS_FOR_PASSAGE = 3, 4, 5
# Minimum number of other values of a claim in a sentence that may contain the operands.
_MIN_OTHERS = 2
# Maximum number of rows with words of a claim for which the cells of a column are combined.
_MAX_NAMED = 4
# Number of closest sentences whose neighbours may contain an operand, and minimum number of words that a claim shares
# with a sentence whose amounts are multiplied by percentages.
_CLOSEST, _MIN_COMMON = 2, 2
_SEVERAL_DIGITS = re.compile(r"\d\D?\d")
_CENTS = re.compile(r"\s?(?:cents?|pence|p)\b", re.IGNORECASE)
# Characters between the cells of a row and after its last cell: blanks, brackets, signs and currencies.
_BETWEEN = re.compile(r"[\s|()%$€£¥+–—-]*")
# Tolerances of a result: equal, rounded to at least two digits, or within a unit of the last digit.
_EXACT, _ROUNDED, _OWN = range(3)
_CLOSE = 1e-9


class Operand(NamedTuple):
    """An amount in one of its possible scales, and its text."""

    amount: float
    text: str


class StatedNumber(NamedTuple):
    """A number that a claim or a source states.

    ``sentence`` is the sentence or row of the source. It is ``None`` for numbers of the claim, and for percentages that
    are multiplied by amounts.
    """

    number: Number
    sentence: SourceSentence | None = None


def is_count(value: Value) -> bool:
    """Return whether a value is a small whole number, which may count what the sources list.

    A number with a currency, a percent sign or a scale word is no count.
    """
    number = value.number
    if number is None or number.kind or number.currency or number.power:
        return False
    return any(one == one.to_integral_value() and 0 < one <= _MAX_COUNTED for one in number.values)


def find_calculation(
    value: Value, claim: AnnotatedText, near: Sequence[SourceSentence], sources: Sequence[SplitPassage]
) -> str:
    """Return a calculation of a value from stated values, such as ``71.9 / 62.3 - 1``; empty if there is none.

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
    own = [StatedNumber(one.number) for one in claim.values if one.number and one is not value]
    if found := _combine(wanted, own, is_own=True):
        return found
    if found := _find_conversion(value, claim, sources):
        return found
    named = [one for source in sources for one in source.sentences if _is_named(one, claim, value)]
    for sentence in (*near, *named):
        stated = _list_numbers(sentence.reading.values, sentence)
        if sentence.is_row or len(stated) > _FEW_NUMBERS:
            stated = list(filter(_has_several_digits, stated))
        if found := _combine(wanted, [*own, *stated]) or ("" if sentence.is_row else _write_sum(wanted, stated)):
            return found
    for group in _list_groups(wanted, near, named):
        if found := _combine(wanted, [*own, *filter(_has_several_digits, group)], is_exact=True):
            return found
    shares = [
        one for sentence in near for one in _list_numbers(sentence.reading.values) if one.number.kind == "percent"
    ]
    for source in sources:
        for sentence in source.sentences if shares else ():
            if len({word.stem for word in sentence.reading.content} & claim.stems) >= _MIN_COMMON:
                amounts = [one for one in _list_numbers(sentence.reading.values, sentence) if not one.number.kind]
                if found := _combine(wanted, [*shares, *filter(_has_several_digits, amounts)], is_exact=True):
                    return found
        closest = [one for sentence in near[:1] for one in _list_numbers(sentence.reading.values, sentence)]
        for table in _list_tables(source):
            # The last row often has the totals.
            if found := _combine(wanted, [*closest, *filter(_has_several_digits, table[-1])], is_exact=True):
                return found
            if found := _calculate_from_columns(wanted, table, claim, value, [*own, *shares]):
                return found
    return ""


def _list_numbers(values: Iterable[Value], sentence: SourceSentence | None = None) -> list[StatedNumber]:
    return [StatedNumber(one.number, sentence) for one in values if one.number and not is_year(one.text)]


def _has_several_digits(stated: StatedNumber) -> bool:
    """Return whether a number has more than one digit, so that it seldom fits a calculation by chance."""
    return len(re.sub(r"\D", "", stated.number.text)) > 1


def _list_groups(
    wanted: Number, near: Sequence[SourceSentence], named: Sequence[SourceSentence]
) -> Iterator[Sequence[StatedNumber]]:
    """Yield the numbers of each group of sentences and rows that may together contain the operands.

    ``near`` are the sentences with most words of the claim, and ``named`` those for which `_is_named` is true.
    """
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
    for one in near[:_CLOSEST]:
        yield from _list_neighbours(one)
    for one in near[:1]:
        if wanted.significant_digits >= _DIGITS_FOR_NEIGHBOURS:
            yield [
                number for other in one.source.list_near(one) for number in _list_numbers(other.reading.values, other)
            ]
        if wanted.significant_digits >= _DIGITS_FOR_PASSAGE:
            everything = (
                number for other in one.source.sentences for number in _list_numbers(other.reading.values, other)
            )
            yield list(islice(everything, _MAX_NUMBERS))


def _is_named(sentence: SourceSentence, claim: AnnotatedText, value: Value) -> bool:
    """Return whether a claim names a sentence or row, so that its numbers may be operands of ``value``.

    This is the case for

    - a sentence or row that states two other values of the claim;
    - a sentence that states one other value of several digits, of which ``value`` may be a part;
    - a row whose label consists of words of the claim, or is a year of the claim.
    """
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


def _list_neighbours(sentence: SourceSentence) -> Iterator[list[StatedNumber]]:
    """Yield the numbers of a sentence and the next sentence, and of the sentence and the previous sentence."""
    near = sentence.source.list_near(sentence)
    place = next(place for place, one in enumerate(near) if one.start == sentence.start)
    for pair in (near[place : place + 2], near[max(0, place - 1) : place + 1]):
        if not any(one.is_row for one in pair):
            yield [number for one in pair for number in _list_numbers(one.reading.values, one)]


def _combine(wanted: Number, stated: Sequence[StatedNumber], *, is_own: bool = False, is_exact: bool = False) -> str:
    """Return a calculation of a number from one or two stated numbers; empty if there is none.

    If ``is_own``, all stated numbers are in the claim, and the result may differ by almost a unit of the last
    digit. If ``is_exact``, products and quotients of amounts must be exact.
    """
    percentages = [one for one in stated if one.number.kind == "percent"]
    shares = [share for one in percentages for share in _create_operands(one, one.number.values)]
    for amounts in _list_operands(wanted, stated):
        operands = [*amounts, *shares]
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


def _create_operands(stated: StatedNumber, amounts: Iterable[Decimal]) -> list[Operand]:
    return [Operand(float(amount), stated.number.text.strip()) for amount in amounts]


def _list_operands(wanted: Number, stated: Sequence[StatedNumber]) -> Iterator[list[Operand]]:
    """Yield the stated amounts as operands, without percentages and amounts in another currency.

    Tables may have a scale. If ``wanted`` or a stated number has a scale word, and a number of a row has none, all
    amounts are yielded again for each of `POSSIBLE_SCALES`, which is applied to the numbers of rows without a scale
    word.
    """
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
            for operand in _create_operands(one, (amount.scaleb(scale * is_scaled) for amount in one.number.values)):
                found.setdefault(operand.amount, operand)
        yield list(found.values())


def _calculate(wanted: Number, operands: Sequence[Operand], count: int) -> Iterator[tuple[str, FloatArray, bool]]:
    """Yield the format of each operation, its results for all pairs of operands, and whether results may be rounded.

    The first ``count`` operands are amounts, the others percentages. The results have the shape (n, n). They are NaN
    for pairs to which the operation does not apply.
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
            if wanted.significant_digits >= _DIGITS_FOR_NEIGHBOURS:
                for share in operands[count:]:
                    yield (
                        f"{{}} × {{}} - {share.text}",
                        np.where(plain & larger, a * b * (1 - share.amount / 100), np.nan),
                        False,
                    )


def _find_results(wanted: Number, results: FloatArray, tolerance: int) -> list[tuple[int, int]]:
    """Return the row and column of each result that equals a number except for its sign, within a tolerance.

    ``tolerance`` is ``_EXACT``, ``_ROUNDED`` or ``_OWN``.
    """
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


def _write_sum(wanted: Number, stated: Sequence[StatedNumber]) -> str:
    """Return the sum or the difference of at least three consecutive numbers that is ``wanted``, such as ``3 + 4 + 5``.

    A difference is the first number minus the others. The text is empty if there is none.
    """
    of_kind = [one for one in stated if one.number.kind == wanted.kind and wanted.currency in ("", one.number.currency)]
    if not 2 < len(of_kind) <= _MAX_ROWS:
        return ""
    is_long, count = wanted.significant_digits >= _DIGITS_FOR_NEIGHBOURS, len(of_kind)
    # Only all numbers of a long list are added up to a short number.
    adds_parts = is_long or count <= _FEW_NUMBERS
    for amounts in _list_scaled_amounts(wanted, of_kind):
        for start in range(count - 2 if adds_parts else 1):
            for end in range(start + 3 if adds_parts else count, count + 1):
                written = [one.number.text.strip() for one in of_kind[start:end]]
                if _is_close(wanted, sum(amounts[start:end])):
                    return " + ".join(written)
                if is_long and _is_close(wanted, amounts[start] - sum(amounts[start + 1 : end]), _EXACT):
                    return " - ".join(written)
    return ""


def _list_scaled_amounts(wanted: Number, stated: Sequence[StatedNumber]) -> Iterator[list[float]]:
    """Yield the amounts of all numbers, without a scale and, if ``wanted`` has a scale word, in each possible scale.

    A scale applies only to numbers without a scale word.
    """
    numbers = [one.number for one in stated]
    for scale in (0, *sorted(POSSIBLE_SCALES)) if wanted.power else (0,):
        yield [float(max(one.values) if one.power else max(one.values).scaleb(scale)) for one in numbers]


def _list_tables(source: SplitPassage) -> Iterator[list[list[StatedNumber]]]:
    """Yield the cells of each run of consecutive rows.

    These are first all cells of rows with equally many cells, and then only the last cells of rows with any number of
    cells. Both are yielded twice: a blank is read as a separator of thousands, and then as a separator of columns.
    """
    for spaced in (True, False):
        rows = [_list_cells(one, spaced) if one.is_line else [] for one in source.sentences]
        runs = [list(run) for count, run in groupby(rows, key=len) if count]
        # Rows of a table can differ in the number of their cells, and amounts are in the last column.
        runs += [[row[-1:] for row in run] for has_cells, run in groupby(rows, key=bool) if has_cells]
        yield from (run[:_MAX_ROWS] for run in runs if len(run) > 1)


def _list_cells(row: SourceSentence, spaced: bool) -> list[StatedNumber]:
    """Return the numbers at the end of a row, without those of its label.

    ``spaced`` says whether a blank separates thousands; otherwise, it separates columns.
    """
    values, text = row.reading.values if spaced else row.reading.separate_values, row.reading.text
    following = [*(one.start for one in values[1:]), len(text)]
    first = len(values)
    while first and _BETWEEN.fullmatch(text, values[first - 1].end, following[first - 1]):
        first -= 1
    return _list_numbers(values[first:], row)


def _calculate_from_columns(
    wanted: Number,
    table: Sequence[Sequence[StatedNumber]],
    claim: AnnotatedText,
    value: Value,
    further: Sequence[StatedNumber],
) -> str:
    """Return a calculation of a number from cells of one column and the values ``further``; empty if there is none.

    The cells are those of all rows, or those of the rows that share words with the claim, with or without the last row.
    """
    said = {word.stem for word in claim.content if not value.start <= word.start < value.end}
    for column in zip(*table, strict=True):
        named = [one for one in column if one.sentence and said & one.sentence.reading.stems]
        is_long = wanted.significant_digits >= _DIGITS_FOR_COLUMNS
        operands = column if is_long and len(column) <= _MAX_PAIRED else named
        operands = [one for one in (*operands, column[-1]) if _has_several_digits(one)]
        if operands and (found := _combine(wanted, [*further, *operands], is_exact=True)):
            return found
        if len(named) <= _MAX_NAMED and (found := _combine(wanted, named)):
            return found
        for part in (named, column):
            if len({one.number.text for one in part}) > 1 and (found := _write_sum(wanted, part)):
                return found
    return ""


def _find_conversion(value: Value, claim: AnnotatedText, sources: Sequence[SplitPassage]) -> str:
    """Return the conversion of a stated amount into a value's unit, such as ``3 × 1000``; empty if there is none."""
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
    """Yield the factors that convert ``number`` from each of its possible units ``others`` to ``unit``.

    The units are as in `convert_unit`. Without ``unit``, an amount of money is converted to cents.
    """
    if unit is None and number.currency:
        yield Decimal(100)
    for other in others:
        if unit and other and unit[0] == other[0]:
            yield other[1] / unit[1]
