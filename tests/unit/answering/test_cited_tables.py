"""The rows and cells of tables that an answer cites."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.answering.cited_tables import find_cited_tables
from rag_core.store.serialization import answer_from_json, answer_to_json
from rag_core.types.answers import Answer, AnswerState, Citation
from rag_core.types.retrieval import Gate
from rag_core.types.tables import Table, TableCell, TableRow

ROWS = (
    ("", "2023", "2022"),
    ("Net sales", "$ 3,642", "$ 3,507"),
    ("Cost of sales", "(2,980)", "(2,862)"),
    ("Owner", "J. Smith", "A. Holm"),
)


def draw(*rows: tuple[str, ...]) -> tuple[str, Table]:
    """Return the text of a page with rows below a line of prose, and its table."""
    text, drawn = "The year was good.\n", []
    for number, row in enumerate(rows):
        cells = []
        for column, cell in enumerate(row):
            if cell:
                span = len(text), len(text) + len(cell)
                cells.append(TableCell(cell, (span,), column, is_header=number == 0))
                text += f"{cell} "
        text = f"{text[:-1]}\n"
        drawn.append(TableRow(tuple(cells)))
    return text, Table(tuple(drawn), 1, ((0.0, 9.0),) * len(rows[0]), unit="(in millions)")


TEXT, TABLE = draw(*ROWS)


def build_answer(text: str, *quotes: str, page: str = TEXT, marker: int = 1) -> Answer:
    citations = tuple(
        Citation(
            marker, marker, "d", "v", "a.pdf", "7", 0, "1", quote, page.index(quote), page.index(quote) + len(quote)
        )
        for quote in quotes
    )
    return Answer("Q?", AnswerState.ANSWERED, text, citations, (), Gate("rerank", 1.0, 0.5, True), "extractive", {})


def cited(answer: Answer, table: Table = TABLE) -> list[tuple[list[str], list[str]]]:
    """Return the labels of the cited rows and the texts of the cited cells, for each table."""
    tables = find_cited_tables(answer, {("v", 0): [table]})
    return [
        (
            [row.label for row in one.table.body],
            [cell.text for row in one.table.body for cell in row.cells if one.is_cited(cell)],
        )
        for one in tables
    ]


SALES, COST, OWNER = (" ".join(row) for row in ROWS[1:])


@pytest.mark.parametrize(
    ("text", "quote", "cells"),
    [
        ("**$3,507 million** · net sales, 2022 [1]", SALES, ["$ 3,507"]),
        ("Net sales were 3507 and, in 2023, 3642 [1].", SALES, ["$ 3,642", "$ 3,507"]),
        ("Cost of sales was −2,862 [1].", COST, ["(2,862)"]),
        ("It belongs to j. smith [1].", OWNER, ["J. Smith"]),
        ("Sales were 13,507 [1].", SALES, []),
        ("See the row [1].", SALES, []),
        ("In 2022: 9 [2]. Net sales 3,507 [1].", SALES, ["$ 3,507"]),
    ],
)
def test_cited_cells_are_those_that_the_answer_states(text: str, quote: str, cells: list[str]) -> None:
    assert [found for _, found in cited(build_answer(text, quote))] == [cells]


def test_rows_of_one_table_are_cited_together_in_the_order_of_the_table() -> None:
    answer = build_answer("0.79 = cost 2,862 [1] ÷ sales 3,507 [1]", COST, SALES)
    assert cited(answer) == [(["Net sales", "Cost of sales"], ["$ 3,507", "(2,862)"])]


@pytest.mark.parametrize(
    "quote", ["The year was good.", "The year was good.\n2023 2022\nNet sales $ 3,642", "2023 2022"]
)
def test_prose_and_headers_are_no_cited_rows(quote: str) -> None:
    assert cited(build_answer("Net sales 3,642 [1]", quote)) == []


def test_row_with_other_text_between_its_cells_is_a_row() -> None:
    between = "The mill in the other column of the page was closed for the whole of the winter.\n"
    page = TEXT.replace("J. Smith", between + "J. Smith")
    moved = TABLE.map_offsets(lambda place: place + len(between) * (place >= TEXT.index("J. Smith")))
    quote = page[page.index("Owner") : page.index("A. Holm") + 7]
    assert cited(build_answer("It belongs to J. Smith [1].", quote, page=page), moved) == [(["Owner"], ["J. Smith"])]
    assert cited(build_answer("It belongs to J. Smith [1].", quote[:-7], page=page), moved) == []


def test_at_most_six_rows_are_shown() -> None:
    page, table = draw(("", "2023"), *((f"Item {name}", f"{name}00") for name in range(1, 9)))
    lines = page.strip().split("\n")[2:]
    [(labels, _)] = cited(build_answer("All of them [1]", *lines, page=page), table)
    assert labels == [f"Item {name}" for name in range(1, 7)]
    assert cited(build_answer("All of them [1]", "\n".join(lines), page=page), table) == []


def test_cell_and_label_are_highlighted_instead_of_the_row() -> None:
    answer = build_answer("Net sales, 2022: 3,507 [1]. The year was good [1].", SALES, "The year was good.")
    answer = replace(answer, tables=find_cited_tables(answer, {("v", 0): [TABLE]}))
    row, prose = answer.citations
    assert [TEXT[start:end] for start, end in answer.find_cited_spans(row)] == ["Net sales", "$ 3,507"]
    assert answer.find_cited_spans(prose) == [(prose.start, prose.end)]
    other_page = replace(row, page_index=1)
    assert answer.find_cited_spans(other_page) == [(row.start, row.end)]


def test_whole_row_is_highlighted_if_the_answer_states_none_of_its_cells() -> None:
    answer = build_answer("See the row [1].", SALES)
    answer = replace(answer, tables=find_cited_tables(answer, {("v", 0): [TABLE]}))
    spans = answer.find_cited_spans(answer.citations[0])
    assert [TEXT[start:end] for start, end in spans] == ["Net sales", "$ 3,642", "$ 3,507"]


def test_items_of_a_list_are_no_rows() -> None:
    page, table = draw(("", "Steps"), ("•", "Close the valve."), ("•", "Wait."))
    assert cited(build_answer("Wait [1].", "• Wait.", page=page), table) == []


def test_tables_are_stored_with_the_answer() -> None:
    answer = build_answer("Net sales, 2022: 3,507 [1]", SALES)
    answer = replace(answer, tables=find_cited_tables(answer, {("v", 0): [TABLE]}))
    stored = answer_to_json(answer)
    assert answer_from_json(stored) == answer
    del stored["tables"]
    assert answer_from_json(stored).tables == ()


def test_cell_of_prose_is_quoted_and_not_shown_as_a_table() -> None:
    long = "The year was good for all of the mills. " * 6
    page, table = draw(("", "Remark"), ("Net sales", long.strip()))
    quote = page.strip().split("\n")[2]
    assert cited(build_answer("It was good [1]", quote, page=page), table) == []


@pytest.mark.parametrize("label", ["Net sales", ""])
def test_cited_row_is_shown_with_its_section(label: str) -> None:
    page, table = draw(("", "2023", "2022"), (label, "$ 3,642", "$ 3,507"))
    rows = (table.rows[0], replace(table.rows[1], section=("Continuing operations",)))
    answer = build_answer("3,507 [1]", page.strip().split("\n")[2], page=page)
    (found,) = find_cited_tables(answer, {("v", 0): [replace(table, rows=rows)]})
    texts = [["".join(run.text for run in cell) for cell in row] for row in found.to_text_table().rows]
    assert texts == [
        ["", "2023", "2022"],
        [" › ".join(filter(None, ["Continuing operations", label])), "$ 3,642", "$ 3,507"],
    ]
    assert [run.bold for run in found.to_text_table().rows[1][2]] == [True]
