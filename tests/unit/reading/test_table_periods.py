"""Questions over the rows of small tables whose columns, rows or cells are periods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from rag_core.reading.column_selection import ColumnSelector
from rag_core.reading.table_operations import answer_from_rows
from rag_core.reading.table_questions import parse_table_question
from rag_core.reading.table_rows import TableRows
from rag_core.types import Reading
from rag_core.types.tables import Table, TableCell, TableRow
from tests.support.passages import passage

QUARTERS = (
    ("Segment", "Q1 2024", "Q2 2024", "Q3 2024", "Q1 2025"),
    ("Tents", "41.2", "43.8", "45.1", "44.6"),
    ("Ropes", "28.7", "27.9", "29.4", "50.2"),
    ("Total revenue", "69.9", "71.7", "74.5", "94.8"),
)
HALVES = (
    ("Line", "H1 2023", "H2 2023", "H1 2024", "H2 2024"),
    ("Saw", "380", "300", "395", "610"),
    ("Lathe", "205", "240", "260", "215"),
)
YEARS = (("Line", "Q4 2024", "FY2024", "FY2023"), ("Saw", "150", "610", "500"), ("Lathe", "160", "590", "520"))
BY_QUARTER = (("Quarter", "Revenue"), ("Q1 2024", "41"), ("Q2 2024", "47"), ("Q3 2024", "44"), ("Q1 2025", "52"))
WEEKS = (("Name", "Hours in week 1", "Hours in week 2"), ("Ana", "38", "41"), ("Ben", "42", "36"))
DUE = (
    ("Action", "Owner", "Due"),
    ("Order the rig", "Lind", "12 April 2025"),
    ("Book the hall", "Nair", "15 May 2025"),
    ("Send the drawings", "Lind", "23 May 2025"),
    ("Test the pump", "Nair", "20 June 2025"),
)
SITES = (
    ("Site", "Timed", "Optical", "Learning"),
    ("Bergen", "2.70", "3.10", "3.24"),
    ("Turin", "3.40", "3.20", "3.30"),
)
MACHINES = (
    ("Model", "Mass (kg)", "Air (l/min)", "Price (EUR)"),
    ("K1", "38", "180", "900"),
    ("K2", "57", "420", "700"),
)


def build(lines: Sequence[Sequence[str]], *caption: str) -> Table:
    """Return a table whose first line is the header."""
    rows, at = [], 0
    for number, line in enumerate(lines):
        cells = []
        for column, text in enumerate(line):
            if text:
                cells.append(TableCell(text, ((at, at + len(text)),), column, is_header=not number))
            at += len(text) + 1
        rows.append(TableRow(tuple(cells)))
    return Table(tuple(rows), 1, ((0.0, 1.0),) * len(lines[0]), caption)


def read_nothing(_: str, texts: Sequence[str]) -> Iterator[Reading]:
    """Read texts without finding an answer."""
    for _text in texts:
        yield Reading(0.0, 0, 0, 0.0)


def short(question: str, lines: Sequence[Sequence[str]], *caption: str) -> str:
    """Return the short answer of one table; empty if it has none."""
    asked = parse_table_question(question)
    assert asked is not None
    rows = TableRows([(0, build(lines, *caption))], "", question)
    answer = answer_from_rows(asked, rows, ColumnSelector(passage(), read_nothing))
    return answer.short if answer else ""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which segment had the highest revenue in Q3 2024?", "Tents"),
        ("Which segment had the highest revenue in the first quarter of 2025?", "Ropes"),
        ("By how much did the revenue of Ropes change from Q2 2024 to Q3 2024?", "+1.5"),
        ("By how much did the revenue of Ropes change from Q3 2024 to Q1 2025?", "+20.8"),
        ("Which segment's revenue grew the most from Q1 2024 to Q2 2024?", "Tents"),
        ("Which segment had the highest revenue in Q2 2025?", ""),
        ("Which segment had the highest revenue in 2024?", ""),
        ("Which segment had the highest revenue in Q1?", ""),
        ("Which segment had the highest revenue?", ""),
        ("By how much did the revenue of Ropes change from Q1 2023 to Q1 2025?", ""),
        ("By how much did the revenue of Ropes change from 2024 to 2025?", ""),
    ],
)
def test_quarter_selects_its_column_or_none(question: str, expected: str) -> None:
    assert short(question, QUARTERS, "Revenue by segment") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which line had the highest output in H2 2023?", "Saw"),
        ("Which line had the lowest output in the second half of 2024?", "Lathe"),
        ("By how much did the output of the Saw change from H2 2023 to H2 2024?", "+310"),
        ("By how much did the output of the Saw change from 2023 to 2024?", ""),
        ("Which line had the highest output in H1 2025?", ""),
    ],
)
def test_half_year_selects_its_column_or_none(question: str, expected: str) -> None:
    assert short(question, HALVES, "Output by line") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which line had the highest output in 2024?", "Saw"),
        ("Which line had the highest output in Q4 2024?", "Lathe"),
        ("By how much did the output of the Saw change from 2023 to 2024?", "+110"),
        ("Which line had the highest output in Q3 2024?", ""),
    ],
)
def test_whole_year_is_not_its_last_quarter(question: str, expected: str) -> None:
    assert short(question, YEARS, "Output by line") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which quarter had the highest revenue?", "Q1 2025"),
        ("Which quarter of 2024 had the highest revenue?", "Q2 2024"),
        ("By how much did revenue change from Q1 2024 to Q3 2024?", "+3"),
        ("By how much did revenue change from Q1 2023 to Q3 2024?", ""),
    ],
)
def test_rows_may_be_periods(question: str, expected: str) -> None:
    assert short(question, BY_QUARTER) == expected


@pytest.mark.parametrize(
    ("question", "caption", "expected"),
    [
        ("Which site had the highest rate in Q2 2025?", "Rate in Q2 2025", "North"),
        ("Which site had the highest rate in Q2 2025?", "Rate in Q1 2025", ""),
        ("Which site had the highest rate in 2025?", "Rate in Q1 2025", ""),
        ("Which site had the highest rate in 2025?", "Rate in 2025", "North"),
    ],
)
def test_caption_may_have_the_period(question: str, caption: str, expected: str) -> None:
    assert short(question, (("Site", "Rate"), ("North", "7"), ("South", "5")), caption) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who worked the most hours in week 1?", "Ben"),
        ("Who worked the most hours in week 2?", "Ana"),
        ("Who worked the most hours in week 3?", ""),
    ],
)
def test_number_after_a_word_selects_the_column(question: str, expected: str) -> None:
    assert short(question, WEEKS, "Hours worked") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many actions are due in May 2025?", "2"),
        ("Which actions are due in May 2025?", "Book the hall; Send the drawings"),
        ("Which actions of Lind are due in Q2 2025?", "Order the rig; Send the drawings"),
        ("Which actions are due in July 2025?", ""),
    ],
)
def test_dates_are_compared_with_a_period(question: str, expected: str) -> None:
    assert short(question, DUE, "Actions") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("In which quarter was the revenue of Ropes highest?", "Q1 2025"),
        ("In which quarter of 2024 was the revenue of Ropes highest?", "Q3 2024"),
        ("In which quarter was total revenue lowest?", "Q1 2024"),
        ("In which quarters was the revenue of Tents above 44?", "Q3 2024; Q1 2025"),
        ("In which month was the revenue of Ropes highest?", ""),
        ("In which quarter was the revenue of Boats highest?", ""),
    ],
)
def test_columns_that_are_periods_are_compared(question: str, expected: str) -> None:
    assert short(question, QUARTERS, "Revenue by segment") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which strategy had the highest SCOP in Bergen?", "Learning"),
        ("Which strategy had the lowest SCOP in Turin?", "Optical"),
        ("Which strategy had the highest SCOP in Oslo?", ""),
        ("Which sensor had the highest SCOP in Bergen?", ""),
    ],
)
def test_columns_of_one_row_are_compared(question: str, expected: str) -> None:
    assert short(question, SITES, "SCOP by strategy and site") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which model is the heaviest?", "K2"),
        ("Which model is the lightest?", "K1"),
        ("Which model is the cheapest?", "K2"),
        ("Which model is the quietest?", ""),
        ("Which models deliver more than 400 l/min?", "K2"),
    ],
)
def test_adjective_or_unit_names_the_measure(question: str, expected: str) -> None:
    assert short(question, MACHINES) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which segment had the lowest EBIT in Q1 2024?", "Ropes"),
        ("How many segments had an EBIT below 5 in Q1 2024?", "1"),
        ("By how much did corporate costs change from Q1 2024 to Q2 2024?", "−0.4"),
    ],
)
def test_corporate_costs_and_eliminations_are_no_segments(question: str, expected: str) -> None:
    lines = (
        ("Segment", "Q1 2024", "Q2 2024"),
        ("Tents", "5.1", "5.6"),
        ("Ropes", "2.9", "2.4"),
        ("Corporate costs", "(2.0)", "(2.4)"),
        ("Eliminations", "(0.1)", "(0.2)"),
    )
    assert short(question, lines, "EBIT by segment") == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((("Code", "Power", "Class", "Price"), ("B1", "3", "IP65", "9")), True),
        ((("Code", "Length", "Owner", "Price"), ("B1", "3", "Lind", "9")), False),
        ((("Site", "Power", "Colour", "Price"), ("B1", "3", "red", "9")), False),
    ],
)
def test_tables_with_most_headers_in_common_are_alike(lines: Sequence[Sequence[str]], expected: bool) -> None:
    lamps = (("Code", "Power", "Colour", "Price"), ("A1", "3", "red", "9"))
    first = TableRows([(0, build(lamps))], "", "")
    assert first.is_like(TableRows([(1, build(lines))], "", "")) is expected
    assert not first.is_like(TableRows([(0, build(lamps))], "", ""))
