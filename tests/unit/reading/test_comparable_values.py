"""Values that can be compared, and the highest and lowest of them."""

from __future__ import annotations

import pytest

from rag_core.reading.comparable_values import find_extreme, parse_value


@pytest.mark.parametrize(
    ("texts", "direction", "best"),
    [
        (["24 months", "three years"], 1, 1),
        (["60 days", "three months"], 1, 1),
        (["$2,400", "$1,950"], -1, 1),
        (["4.5 %", "12 percent", "3%"], 1, 1),
        (["31 March 2026", "September 30, 2025"], -1, 1),
        (["35 litres per minute", "20 litres per minute"], 1, 0),
        (["twelve (12) months", "2 years"], 1, 1),
    ],
)
def test_extreme_of_values(texts: list[str], direction: int, best: int) -> None:
    assert find_extreme([parse_value(text) for text in texts], direction) == best


@pytest.mark.parametrize(
    "texts",
    [
        ["30 days", "one month"],
        ["12 months", "1 year"],
        ["$2,400", "€1,950"],
        ["$200 per month", "$1,950 per year"],
        ["35 litres", "20 metres"],
        ["5 to 10 days", "7 days"],
        ["10 business days", "12 days"],
        ["$5", "no fee"],
    ],
)
def test_values_that_cannot_be_told_apart_have_no_extreme(texts: list[str]) -> None:
    assert find_extreme([parse_value(text) for text in texts], 1) is None


def test_amounts_in_tables_of_other_scales_are_not_compared() -> None:
    values = [parse_value("$14,694", "Net sales: $14,694 (in millions) [1]"), parse_value("$66,608", "$66,608 [1]")]
    assert find_extreme(values, 1) is None
