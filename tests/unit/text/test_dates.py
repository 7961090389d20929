"""Years, parts of years and dates in texts."""

from __future__ import annotations

import pytest

from rag_core.text.dates import Period, find_periods, find_written_date, match_period, names_part_of_year


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q1 2024", [(2024, "q1")]),
        ("1Q24", [(2024, "q1")]),
        ("Q3'24", [(2024, "q3")]),
        ("2024 › Q2", [(2024, "q2")]),
        ("the first quarter of 2024", [(2024, "q1")]),
        ("the second and third quarter of 2024", [(2024, "q2"), (2024, "q3")]),
        ("H2 2023", [(2023, "h2")]),
        ("first half of fiscal 2024", [(2024, "h1")]),
        ("nine months 2024", [(2024, "9m")]),
        ("Three Months Ended March 31, › 2024", [(2024, "3m03")]),
        ("Year ended December 31 › 2023", [(2023, "")]),
        ("FY2023 and FY 22", [(2023, ""), (2022, "")]),
        ("fiscal year 2023", [(2023, "")]),
        ("2022/23", [(2022, "/23")]),
        ("23 May 2025", [(2025, "m05-23")]),
        ("31.12.2024", [(2024, "m12-31")]),
        ("12/31/2023", [(2023, "m12-31")]),
        ("3/4/2023", [(2023, "m04-03")]),
        ("Sept. 30, 2023", [(2023, "m09-30")]),
        ("30 Sept 2023", [(2023, "m09-30")]),
        ("Sept 2023", [(2023, "m09")]),
        ("in may 2025", [(2025, "m05")]),
        ("Mar-24", [(2024, "m03")]),
        ("report_q1_2025.pdf", [(2025, "q1")]),
    ],
)
def test_periods_are_parsed(text: str, expected: list[tuple[int, str]]) -> None:
    assert [(one.year, one.part) for one in find_periods(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Which cars may not be used?",
        "How many actions does May Lin have?",
        "What is the price of LX-2041?",
        "A warranty of 6 months",
        "It costs 2,024 euros, $2024 or 2024%",
    ],
)
def test_other_numbers_and_words_are_no_periods(text: str) -> None:
    assert find_periods(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from Q1 to Q3 2024", [(2024, "q1"), (2024, "q3")]),
        ("In 2024, which was the highest in Q2?", [(2024, "q2")]),
        ("from Q3 to Q1 2025 and in 2023", [(2025, "q3"), (2025, "q1"), (2023, "")]),
        ("in Q2", [(0, "q2")]),
    ],
)
def test_part_without_a_year_takes_that_of_another_one(text: str, expected: list[tuple[int, str]]) -> None:
    assert [(one.year, one.part) for one in find_periods(text)] == expected


@pytest.mark.parametrize(
    ("asked", "headers", "expected"),
    [
        ("Q2 2024", ["Q1 2024", "Q2 2024"], ["q2"]),
        ("Q2 2025", ["Q1 2025", "Q2 2024"], []),
        ("2024", ["H1 2024", "H2 2024"], []),
        ("2024", ["Q4 2024", "FY2024"], [""]),
        ("2024", ["31 December 2024", "31 December 2023"], ["m12-31"]),
        ("31 December 2024", ["2024", "Q4 2024"], [""]),
        ("December 2024", ["31 December 2024", "30 June 2024"], ["m12-31"]),
        ("Q1 2024", ["Q1"], []),
        ("Q1", ["Q1 2023", "Q1 2024"], ["q1", "q1"]),
        ("nine months 2024", ["Nine months ended September 30, 2024", "Q3 2024"], ["9m09"]),
    ],
)
def test_period_matches_only_the_one_asked_for(asked: str, headers: list[str], expected: list[str]) -> None:
    known = [one for header in headers for one in find_periods(header)]
    assert [one.part for one in match_period(find_periods(asked)[0], known)] == expected


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        ("May 2025", "23 May 2025", True),
        ("Q2 2025", "23 May 2025", True),
        ("H2 2025", "Q3 2025", True),
        ("2025", "H1 2025", True),
        ("June 2025", "23 May 2025", False),
        ("Q2 2024", "23 May 2025", False),
        ("H1 2025", "Q3 2025", False),
    ],
)
def test_period_contains_its_parts(whole: str, part: str, expected: bool) -> None:
    assert find_periods(whole)[0].contains(find_periods(part)[0]) is expected


def test_spans_are_those_of_the_words() -> None:
    text = "In 2024, which was the highest in Q2?"
    (period,) = find_periods(text)
    assert [text[start:end] for start, end in sorted(period.spans)] == ["2024", "Q2"]
    assert period == Period(2024, "q2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1H24", True), ("Q2 2024", True), ("nine months 2024", True), ("December 31, 2024", False)],
)
def test_part_of_a_year_is_no_date(text: str, expected: bool) -> None:
    assert names_part_of_year(text) is expected


@pytest.mark.parametrize("date", ["Sept. 30, 2023", "30 Sept. 2023", "Sept 2023", "Sep 2023", "September 2023"])
def test_september_has_two_abbreviations(date: str) -> None:
    assert find_written_date(f"As of {date} it was sold.") == date
