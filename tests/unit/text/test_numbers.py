"""Numbers of a text: values, units, currencies and scales."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.text.numbers import numbers_equal, parse_numbers
from rag_core.text.scales import find_table_scales


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,749 and 1749", [1749, 1749]),
        ("$1.7 billion", [1_700_000_000]),
        ("1.749.000,50", [Decimal("1749000.5")]),
        ("two thousand five hundred", [2500]),
        ("two thousand and five", [2005]),
        ("one million two hundred thousand and twelve", [1_200_012]),
        ("one hundred and two thousand", [102_000]),
        ("sıx and SİX", [6, 6]),
        ("the twenty-first of three hundred and first", [21, 301]),
        ("$5.2¹ million and 2021²,³", [5_200_000, 2021]),
        ("10⁶ kg and 10¹,² others", [1_000_000, 10]),
        ("the 17th and the seventeenth", [17, 17]),
        ("1754–63", [1754, 1763]),
        ("1789-07-14", [1789, 7, 14]),
        ("14 July 1789", [14, 7, 1789]),
        ("14/07/1789 is too early, 3.4.2019 and 12/31/2023 are not", [14, 7, 1789, 3, 4, 2019, 12, 31, 2023]),
        ("In May 2020 they may go", [5, 2020]),
        ("94 000", [94_000]),
        ("v1.2.3", []),
    ],
)
def test_numbers_are_parsed_by_value(text: str, values: list[object]) -> None:
    assert [min(number.values) for number in parse_numbers(text)] == values


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("5 %, 5 per cent, 5, the 1960s, June 5", ["percent", "percent", "", "decade", "month", ""]),
        ("3 to 5 %", ["percent", "percent"]),
        ("In 2020, 5% of sales", ["", "percent"]),
    ],
)
def test_kinds_of_numbers(text: str, kinds: list[str]) -> None:
    assert [number.kind for number in parse_numbers(text)] == kinds


@pytest.mark.parametrize(
    ("text", "currencies"),
    [("$5, 5 euros, £5, 5", ["dollar", "euro", "pound", ""]), ("10 £12.00 £120.00", ["", "pound", "pound"])],
)
def test_currencies_of_numbers(text: str, currencies: list[str]) -> None:
    assert [number.currency for number in parse_numbers(text)] == currencies


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("the first two of five six", [1, 2, 5, 6]),
        ("nineteen eighty-four", [19, 84]),
        ("one hundred and two hundred", [100, 200]),
        ("two thousand and five hundred", [2000, 500]),
        ("two thousand euros five hundred", [2000, 500]),
        ("two thousand three-bedroom flats", [2000, 3]),
        ("two million and one-third", [2_000_000, 1, 3]),
    ],
)
def test_number_words_beside_each_other_are_several_numbers(text: str, values: list[int]) -> None:
    assert [min(number.values) for number in parse_numbers(text)] == values


def test_number_of_several_scales_keeps_what_surrounds_it() -> None:
    text = "It paid about two thousand five hundred euros."
    (number,) = parse_numbers(text)
    assert (number.text, text[number.start : number.end]) == ("two thousand five hundred euros",) * 2
    assert (number.currency, number.power) == ("euro", 3)


def test_table_scale_applies_to_numbers_without_scale() -> None:
    scales = find_table_scales("Results (in millions)")
    (scaled,), (bare,), (other,) = parse_numbers("$1,749 million"), parse_numbers("1,749"), parse_numbers("1,750")
    assert numbers_equal(scaled, bare, scales)
    assert not numbers_equal(scaled, bare)
    assert not numbers_equal(scaled, other, scales)


@given(st.text())
def test_numbers_are_in_text_order(text: str) -> None:
    position = 0
    for number in parse_numbers(text):
        assert position <= number.start < number.end <= len(text)
        assert number.values
        position = number.end


@given(st.integers(0, 10**12))
def test_grouped_number_equals_plain_number(value: int) -> None:
    (grouped,), (plain,) = parse_numbers(f"{value:,}"), parse_numbers(str(value))
    assert numbers_equal(grouped, plain)
    assert numbers_equal(plain, grouped)


@pytest.mark.parametrize(
    ("text", "currency"), [("SEK 3.4 million", "SEK"), ("12 CHF", "CHF"), ("JPY 500", "yen"), ("5 try again", "")]
)
def test_code_of_a_currency_counts_in_capitals(text: str, currency: str) -> None:
    assert [number.currency for number in parse_numbers(text)] == [currency]
