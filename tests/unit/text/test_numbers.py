from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.text.numbers import numbers_equal, parse_numbers, table_scales


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,749 and 1749", [1749, 1749]),
        ("$1.7 billion", [1_700_000_000]),
        ("1.749.000,50", [Decimal("1749000.5")]),
        ("forty million", [40_000_000]),
        ("two hundred and five", [205]),
        ("twenty-one", [21]),
        ("$5.2¹ million and 2021²,³", [5_200_000, 2021]),
        ("10⁶ kg and 10¹,² others", [1_000_000, 10]),
        ("the 17th and the seventeenth", [17, 17]),
        ("1754–63", [1754, 1763]),
        ("1789-07-14", [1789, 7, 14]),
        ("14 July 1789", [14, 7, 1789]),
        ("14/07/1789 is too early, 3.4.2019 and 12/31/2023 are not", [14, 7, 1789, 3, 4, 2019, 12, 31, 2023]),
        ("In May 2020 they may go", [5, 2020]),
        ("94 000", [94_000]),
        ("no figures", []),
        ("v1.2.3", []),
    ],
)
def test_numbers_are_read_by_value(text: str, values: list[object]) -> None:
    assert [min(one.values) for one in parse_numbers(text)] == values


def test_kinds_and_currencies_are_told_apart() -> None:
    assert [one.kind for one in parse_numbers("5 %, 5 per cent, 5, the 1960s, June 5")] == [
        "percent",
        "percent",
        "",
        "decade",
        "month",
        "",
    ]
    assert [one.currency for one in parse_numbers("$5, 5 euros, £5, 5")] == ["dollar", "euro", "pound", ""]


def test_a_currency_before_a_number_is_that_number_s() -> None:
    assert [(one.text, one.currency) for one in parse_numbers("10 £12.00 £120.00")] == [
        ("10", ""),
        ("£12.00", "pound"),
        ("£120.00", "pound"),
    ]


def test_both_ends_of_a_range_share_their_unit() -> None:
    assert [one.kind for one in parse_numbers("3 to 5 %")] == ["percent", "percent"]


def test_a_table_s_scale_is_that_of_its_bare_numbers() -> None:
    scales = table_scales("Results (in millions)")
    (said,), (bare,), (other,) = parse_numbers("$1,749 million"), parse_numbers("1,749"), parse_numbers("1,750")
    assert numbers_equal(said, bare, scales)
    assert not numbers_equal(said, bare)
    assert not numbers_equal(said, other, scales)


@given(st.text())
def test_numbers_stand_in_the_text_in_order(text: str) -> None:
    position = 0
    for one in parse_numbers(text):
        assert position <= one.start < one.end <= len(text)
        assert one.values
        position = one.end


@given(st.integers(0, 10**12))
def test_a_grouped_number_is_the_plain_one(value: int) -> None:
    (grouped,), (plain,) = parse_numbers(f"{value:,}"), parse_numbers(str(value))
    assert numbers_equal(grouped, plain)
    assert numbers_equal(plain, grouped)
