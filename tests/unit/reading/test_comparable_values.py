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
        (["8 hours per day", "6 hours daily"], 1, 0),
        (["8 hours a week", "two days each week"], 1, 1),
        (["24 months after a breach", "12 months after each order"], 1, 0),
        (["30 days after the end of each month", "20 days"], 1, 0),
        (["10 litres per day", "20 litres daily"], 1, 1),
        (["$5 annually", "$6 per year"], 1, 1),
        (["$5 per annum", "$6 yearly"], 1, 1),
        (["$5 hourly", "$6 an hour"], 1, 1),
        (["31.12.2023", "30 December 2023"], 1, 0),
        (["12/31/2023", "13/12/2023"], 1, 0),
        (["Sept. 3, 2023", "2 Sept 2023"], 1, 0),
        (["2023-09-30", "1st of October 2023"], 1, 1),
        (["May 2024", "Apr 30, 2024"], 1, 0),
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
        ["8 hours per day", "20 hours per week"],
        ["8 hours of work per day", "20 hours of work per week"],
        ["30 days a year", "three months"],
        ["07/01/2023", "3 March 2024"],
        ["31.02.2023", "3 March 2024"],
    ],
)
def test_values_that_cannot_be_told_apart_have_no_extreme(texts: list[str]) -> None:
    assert find_extreme([parse_value(text) for text in texts], 1) is None


def test_amounts_in_tables_of_other_scales_are_not_compared() -> None:
    values = [parse_value("$14,694", "Net sales: $14,694 (in millions) [1]"), parse_value("$66,608", "$66,608 [1]")]
    assert find_extreme(values, 1) is None
