"""The values that describe a table."""

from __future__ import annotations

import json

import pytest

from rag_core.types.tables import Table, TableCell, TableRow


def header(text: str, column: int, column_span: int = 1) -> TableCell:
    return TableCell(text, ((column, column + 1),), column, column_span, is_header=True)


@pytest.fixture
def table() -> Table:
    cells = (TableCell("Cash", ((20, 24),), 0), TableCell("$12", ((30, 31), (32, 34)), 2))
    return Table(
        rows=(
            TableRow((header("Year ended", 1, 2),)),
            TableRow((header("2023", 1), header("2022", 2))),
            TableRow((TableCell("Assets", ((10, 16),), 0),), is_section=True),
            TableRow(cells, ("Assets",), 1),
        ),
        header_rows=2,
        columns=((10.0, 60.5), (70.0, 90.0), (100.0, 120.0)),
        caption=("Balance sheet",),
        unit="(in millions)",
        first_page=3,
    )


def test_header_of_a_column_joins_its_levels(table: Table) -> None:
    assert table.column_header(2) == "Year ended › 2022"
    assert table.column_header(0) == ""


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (("Mass", "(kg)"), "Mass (kg)"),
        (("Sales", "2023", "(restated)"), "Sales › 2023 (restated)"),
        (("(kg)", "Mass"), "(kg) › Mass"),
    ],
)
def test_unit_in_brackets_is_no_header_level_of_its_own(levels: tuple[str, ...], expected: str) -> None:
    rows = tuple(TableRow((header(level, 0),)) for level in levels)
    assert Table(rows, len(rows), ((0.0, 1.0),)).column_header(0) == expected


def test_label_of_a_row_begins_with_its_section(table: Table) -> None:
    assert table.row_label(table.body[1]) == "Assets › Cash"
    assert TableRow((TableCell("5", (), 1),)).label == ""


@pytest.mark.parametrize(("labels", "is_list"), [(("•", "•", "Cash"), True), (("•", "Cash"), False), (("", ""), False)])
def test_table_with_signs_as_labels_is_a_list(labels: tuple[str, ...], is_list: bool) -> None:
    cells = [[TableCell(label, (), 0)] if label else [] for label in labels]
    rows = tuple(TableRow((*label, TableCell("5", (), 1))) for label in cells)
    assert Table(rows, 0, ((0.0, 1.0),) * 2).is_list is is_list


def test_cells_are_found_by_any_of_their_columns(table: Table) -> None:
    assert [table.headers[0].cell(column) for column in (1, 2)] == [table.rows[0].cells[0]] * 2
    assert table.body[1].cell(1) is None


def test_span_of_a_table_ignores_headers_of_an_earlier_page(table: Table) -> None:
    continued = Table((TableRow((TableCell("2023", (), 1, is_header=True),)), table.rows[3]), 1, table.columns)
    assert (continued.start, continued.end) == (20, 34)


def test_markdown_has_one_header_row_and_escapes_bars(table: Table) -> None:
    row = TableRow((TableCell("a|b", ((0, 3),), 0),))
    assert table.to_markdown([table.body[1], row]).splitlines() == [
        "|  | Year ended › 2023 | Year ended › 2022 |",
        "| --- | --- | --- |",
        "| Cash |  | $12 |",
        "| a\\|b |  |  |",
    ]


def test_grid_repeats_cells_over_several_columns(table: Table) -> None:
    assert table.to_grid()[0] == ["", "Year ended", "Year ended"]


def test_table_survives_json(table: Table) -> None:
    assert Table.from_json(json.loads(json.dumps(table.to_json()))) == table
