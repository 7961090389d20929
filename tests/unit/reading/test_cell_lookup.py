"""Cells looked up by the words of their row and column."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from rag_core.reading.cell_lookup import FoundCell, find_cells, list_labels, read_scale
from rag_core.types.tables import Table, TableCell, TableRow

ROWS = (
    ("", "2022", "2021"),
    ("Total current assets", "$ 860", "790"),
    ("Total assets", "1,500", "1,350"),
    ("Net loss", "(12)", "—"),
    ("Earnings per share", "$ 1.20", "$ 1.10"),
    ("Gross margin (%)", "31.5%", "30.0%"),
)


def build(rows: tuple[tuple[str, ...], ...], section: tuple[str, ...] = ()) -> Table:
    built, place = [], 0
    for number, texts in enumerate(rows):
        cells = []
        for column, text in enumerate(texts):
            if text:
                cells.append(TableCell(text, ((place, place + len(text)),), column, is_header=not number))
                place += len(text) + 1
        built.append(TableRow(tuple(cells), section if number else ()))
    return Table(tuple(built), 1, tuple((10.0 * one, 10.0 * one + 9) for one in range(len(rows[0]))))


def look_up(row: str, column: str = "", most_rows: int = 1) -> list[FoundCell]:
    return find_cells([(3, build(ROWS))], row, column, most_rows)


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        ("total current assets", "2022", "860"),
        ("current assets", "FY 2021", "790"),
        ("Total Assets", "2021", "1350"),
        ("net loss", "2022", "-12"),
    ],
)
def test_cell_is_found_by_its_labels(row: str, column: str, value: str) -> None:
    (found,) = look_up(row, column)
    assert found.value == Decimal(value)
    assert found.page_index == 3


@pytest.mark.parametrize(
    ("text", "value", "power"),
    [
        ("(1,234)", "-1234", 0),
        ("-3.5 %", "-3.5", 0),
        ("$ 12", "12", 0),
        ("12 mm", "12", 0),
        ("400 m", "400", 0),
        ("US$5", "5", 0),
        ("CHF 1,250", "1250", 0),
        ("(EUR 5)", "-5", 0),
        ("EUR -5", "-5", 0),
        ("€1.2bn", "1200000000", 9),
        ("$5 million", "5000000", 6),
        ("(€1.2bn)", "-1200000000", 9),
        ("€300m", "300000000", 6),
        ("5 million", "5000000", 6),
        *((text, None, 0) for text in ("—", "12/14", "5 to 8 bar", "14 March", "Try 5", "Zone 5", "1,234a")),
    ],
)
def test_number_of_a_cell(text: str, value: str | None, power: int) -> None:
    found = find_cells([(0, build((("", "2022"), ("Sales", text))))], "sales", "", 1)
    assert [(one.value, one.number.power) for one in found] == ([(Decimal(value), power)] if value else [])


@pytest.mark.parametrize(
    ("header", "label", "texts", "stated"),
    [
        ("Weight (kg)", "Bolt", ("7.2",), "7.2 kg"),
        ("Share (%)", "Bolt", ("12.5",), "12.5%"),
        ("Sales (restated)", "Bolt", ("41",), "41"),
        ("Sales (a)", "Bolt", ("41",), "41"),
        ("Warranty (months)", "Bolt", ("4 years",), "4 years"),
        ("Model A", "Length (mm)", ("410",), "410 mm"),
        ("Model A", "Length (see note 3)", ("410",), "410"),
        ("2023", "Snacks", ("4,259", "$6,147"), "$4,259"),
    ],
)
def test_cell_is_stated_with_its_unit(header: str, label: str, texts: tuple[str, ...], stated: str) -> None:
    table = build((("", header), *((label if not at else "Other", text) for at, text in enumerate(texts))))
    (found,) = find_cells([(0, table)], label, "", 1)
    assert found.text == stated


@pytest.mark.parametrize(
    ("unit", "page", "scale"),
    [("(in millions)", "", 6), ("£'000", "", 3), ("", "Sales\n(in thousands)\n", 3), ("", "", None)],
)
def test_scale_of_a_table_is_stated_by_it_or_above_it(unit: str, page: str, scale: int | None) -> None:
    assert read_scale(replace(build(ROWS), unit=unit), page) == scale


def test_row_with_exactly_the_words_comes_first() -> None:
    assert [one.label for one in look_up("total assets", "2022", 2)] == ["Total assets", "Total current assets"]


def test_all_columns_are_returned_without_a_column_that_fits() -> None:
    assert [one.header for one in look_up("total assets", "2035")] == ["2022", "2021"]
    assert [one.header for one in look_up("total assets")] == ["2022", "2021"]


def test_cell_without_a_number_is_left_out() -> None:
    assert [one.header for one in look_up("net loss")] == ["2022"]


def test_scale_of_the_table_does_not_apply_to_shares_and_percentages() -> None:
    scaled = {one.label: one.is_scaled for row in ROWS[1:] for one in look_up(row[0], "2022")}
    assert [label for label, is_scaled in scaled.items() if not is_scaled] == ["Earnings per share", "Gross margin (%)"]


def test_other_words_find_nothing() -> None:
    assert look_up("employees in Norway") == []
    assert look_up("the of") == []


def test_section_counts_as_part_of_the_label() -> None:
    tables = [
        (0, build((("", "2022"), ("Deposits", "5")), ("Assets",))),
        (1, build((("", "2022"), ("Deposits", "7")), ("Debt",))),
    ]
    assert [one.cell.text for one in find_cells(tables, "deposits debt", "", 1)] == ["7"]
    assert list_labels(tables) == ["Assets › Deposits", "Debt › Deposits"]
