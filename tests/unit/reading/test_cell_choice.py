"""The cell of a row that a question names, and the name of the row."""

from __future__ import annotations

import pytest

from rag_core.reading.cell_choice import choose_cell, name_row
from tests.unit.reading.test_table_periods import DUE, HALVES, WEEKS, build


def chosen(question: str, lines: tuple[tuple[str, ...], ...], row: int, read: int) -> str:
    """Return the text of the chosen cell if the model read the cell of a column; empty if none is chosen."""
    table = build(lines)
    cell = table.body[row].cell(read)
    assert cell is not None
    found = choose_cell(question, table, table.body[row], cell)
    return found.text if found else ""


@pytest.mark.parametrize(
    ("question", "read", "expected"),
    [
        ("What was the output of the Lathe in H1 2024?", 4, "260"),
        ("What was the output of the Lathe in the second half of 2023?", 1, "240"),
        ("What was the output of the Lathe in H1 2024?", 3, "260"),
        ("What was the output of the Lathe in H1 2025?", 3, ""),
        ("What was the output of the Lathe in 2024?", 3, ""),
    ],
)
def test_cell_of_the_period_is_chosen(question: str, read: int, expected: str) -> None:
    assert chosen(question, HALVES, 1, read) == expected


@pytest.mark.parametrize(
    ("question", "read", "expected"),
    [
        ("How many hours did Ana work in week 1?", 2, "38"),
        ("How many hours did Ana work in week 2?", 2, "41"),
        ("How many hours did Ana work?", 2, "41"),
    ],
)
def test_cell_whose_header_fits_best_is_chosen(question: str, read: int, expected: str) -> None:
    assert chosen(question, WEEKS, 0, read) == expected


@pytest.mark.parametrize("read", [1, 2])
def test_cell_of_the_latest_year_is_chosen_if_the_question_names_none(read: int) -> None:
    staff = (("Country", "2023", "2024"), ("Peru", "47", "42"))
    assert chosen("How many people work in Peru?", staff, 0, read) == "42"


@pytest.mark.parametrize("read", [1, 2])
def test_function_words_select_between_headers_that_are_alike_otherwise(read: int) -> None:
    votes = (("Nominee", "Votes For", "Votes Against"), ("Ana Berg", "540", "160"))
    assert chosen("How many votes were cast against Ana Berg?", votes, 0, read) == "160"


STAFF = (
    ("Country", "2023 Actual", "2024 Actual", "2025 Target", "Total", "Change 2023-2024"),
    ("Peru", "47", "42", "60", "89", "-5"),
)


@pytest.mark.parametrize(
    ("question", "read", "expected"),
    [
        ("How many people work in Peru?", 1, "42"),
        ("How many people are the target for Peru?", 1, "60"),
        ("What was the total of Peru?", 1, "89"),
        ("How did Peru change from 2023 to 2024?", 5, "-5"),
    ],
)
def test_latest_year_is_chosen_only_among_headers_that_are_alike(question: str, read: int, expected: str) -> None:
    assert chosen(question, STAFF, 0, read) == expected


def test_columns_of_other_measures_do_not_replace_the_one_read() -> None:
    assert chosen("When did Ana come?", (("Name", "Joined 2019", "Left 2024"), ("Ana", "14", "17")), 0, 1) == "14"


def test_no_cell_is_chosen_for_several_periods() -> None:
    assert chosen("What was the output of the Lathe in H1 2023 and in H1 2024?", HALVES, 1, 1) == ""


@pytest.mark.parametrize(
    "question",
    [
        "Who must book the hall?",
        "Who owns the action that is due on 15 May 2025?",
        "Who is to book the hall, and when?",
    ],
)
def test_cells_that_the_question_quotes_are_no_answers(question: str) -> None:
    assert chosen(question, DUE, 1, 1) == "Nair"


@pytest.mark.parametrize(
    ("row", "read", "expected"),
    [
        (("9", "Present the model", "Volkov", "27 June 2025"), 3, "Present the model"),
        (("9", "Present the model", "Volkov", "27 June 2025"), 1, "Volkov"),
        (("K9", "Present the model", "Volkov", "27 June 2025"), 3, "K9"),
        (("9", "27 June 2025", "12", "41"), 3, "9"),
    ],
)
def test_running_number_does_not_name_a_row(row: tuple[str, ...], read: int, expected: str) -> None:
    table = build((("No.", "Action", "Owner", "Due"), row))
    cell = table.body[0].cell(read)
    assert cell is not None
    assert name_row(table, table.body[0], cell) == expected
