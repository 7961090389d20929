"""Values that follow from stated ones: sums, differences, shares, relative changes, and amounts for other periods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import permutations

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year
from rag_core.text.numbers import Number, numbers_equal
from rag_core.text.values import Value
from rag_core.verification.support import POSSIBLE_SCALES, SourceSentence

# Halves, quarters, days of a week, months and weeks of a year.
_PERIODS = (2, 4, 7, 12, 52)
# Up to this number, a model may have counted what the sources list.
_MAX_COUNTED = 12


def is_count(value: Value) -> bool:
    """Return whether a value is a small whole number without unit, which may count what the sources list."""
    number = value.number
    if number is None or number.kind or number.currency or number.power:
        return False
    return any(one == one.to_integral_value() and 0 < one <= _MAX_COUNTED for one in number.values)


def is_derived(value: Value, claim: AnnotatedText, near: Sequence[SourceSentence]) -> bool:
    """Return whether a number is calculated from two stated ones of one kind, or is an amount for another period.

    The two stand in the claim, in one of the sentences ``near``, or in rows of these. An amount for another period is
    that of a number of the claim.
    """
    wanted = value.number
    if wanted is None or is_year(value.text):
        return False
    own = [one.number for one in claim.values if one.number and one is not value]
    if not wanted.kind and any(
        _equals(wanted, result)
        for said in _list_amounts(wanted, own, "")
        for amount in said
        for result in _convert_period(amount)
    ):
        return True
    rows = [stated for one in near if one.is_row for stated in one.reading.values]
    for group in ([], rows, *(one.reading.values for one in near)):
        stated = [one.number for one in group if one.number]
        for kind in ("", "percent"):
            for amounts in _list_amounts(wanted, [*own, *stated], kind):
                for a, b in permutations(amounts, 2):
                    results = list(_calculate(a, b, kind == wanted.kind, not kind and wanted.kind == "percent"))
                    if b and not group and not wanted.kind:
                        results += [a / b, a * b]
                    if any(_equals(wanted, result) for result in results):
                        return True
    return False


def _list_amounts(wanted: Number, numbers: Sequence[Number], kind: str) -> Iterator[set[Decimal]]:
    """Yield the amounts of one kind, for each possible scale of a table if the wanted number has a scale."""
    of_kind = [one for one in numbers if one.kind == kind and not is_year(one.text)]
    for scale in (0, *sorted(POSSIBLE_SCALES)) if wanted.power else (0,):
        yield {amount if one.power else amount.scaleb(scale) for one in of_kind for amount in one.values}


def _convert_period(amount: Decimal) -> Iterator[Decimal]:
    """Yield an amount for other periods: of a month for a year or a week, of a year for a quarter, and so on."""
    for factor in _PERIODS:
        yield amount * factor
        yield amount / factor


def _calculate(a: Decimal, b: Decimal, is_sum: bool, is_ratio: bool) -> Iterator[Decimal]:
    if is_sum:
        yield a - b
        if a > b:
            yield a + b
    if is_ratio and b:
        yield a / b * 100
        yield (a - b) / b * 100
        if a < b:
            yield a / (b - a) * 100


def _equals(wanted: Number, result: Decimal) -> bool:
    derived = Number(0, 0, "", frozenset({abs(result)}), wanted.kind, wanted.currency)
    return numbers_equal(wanted, derived, rounded=True)
