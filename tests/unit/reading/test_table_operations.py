"""Questions over the rows of small tables whose cells, headers or labels state scales, units or totals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.reading.column_selection import ColumnSelector
from rag_core.reading.table_operations import answer_from_rows
from rag_core.reading.table_questions import parse_table_question
from rag_core.reading.table_rows import TableRows
from tests.support.passages import passage
from tests.unit.reading.test_table_periods import build, read_nothing, short

COMPANIES = (
    ("Company", "Revenue (EUR million)", "Employees"),
    ("Amcor", "3,000", "2,100"),
    ("Boeing", "4,000", "7,500"),
    ("Corus", "9,000", "9,900"),
)
COSTS = (("Site", "Cost"), ("Bergen", "€300m"), ("Turin", "€1.2bn"), ("Kelso", "€250m"))
RAIN = (("Station", "Rain"), ("Kelso", "12,4"), ("Brigg", "10,1"), ("Harle", "1.204,5"))
AIRLINES = (
    ("Airline", "Region", "Aircraft"),
    ("All Nippon Airways", "Asia", "211"),
    ("Avianca", "America", "98"),
    ("Swiss", "Europe", "90"),
)


def test_scale_of_the_amount_counts() -> None:
    assert short("Which site has the highest cost?", COSTS) == "Turin"
    assert short("Which site has the lowest cost?", COSTS) == "Kelso"
    assert short("How many sites have a cost over €500 million?", COSTS) == "1"
    assert short("How much more is the cost of Turin than Bergen?", COSTS) == "€900m more"
    assert short("How much more is the cost of Turin than Kelso?", COSTS) == "€950m more"
    assert short("How much more is the cost of Kelso than Turin?", COSTS) == "€950m less"


def test_column_with_scales_in_some_cells_only_is_not_compared() -> None:
    assert short("Which site has the highest cost?", (*COSTS, ("Marram", "900"))) == ""


def test_zero_needs_no_unit() -> None:
    assert short("Which site has the highest cost?", (*COSTS, ("Marram", "0"))) == "Turin"


def test_amounts_with_other_words_after_them_are_not_compared() -> None:
    wages = (("Site", "Wage"), ("Bergen", "USD 25 per hour"), ("Turin", "USD 900 per week"))
    assert short("Which site has the highest wage?", wages) == ""


def test_header_that_is_a_name_states_no_scale() -> None:
    crops = (("Crop", "MN", "OH"), ("Corn", "3,000", "2,100"), ("Wheat", "4,000", "7,500"), ("Rye", "9,000", "9,900"))
    assert short("How many crops have more than 5 thousand in MN?", crops) == "1"


def test_difference_of_a_negative_amount_has_no_sign() -> None:
    profits = (("Site", "Profit"), ("Bergen", "USD 7m"), ("Turin", "USD -5m"))
    assert short("How much more is the profit of Bergen than Turin?", profits) == "USD 12m more"


def test_difference_has_the_decimal_mark_of_its_cells() -> None:
    assert short("How much more is the rain of Kelso than Brigg?", RAIN) == "2,3 more"
    assert short("How much more is the rain of Harle than Brigg?", RAIN) == "1.194,4 more"


def test_scale_of_another_column_does_not_apply() -> None:
    table = replace(build(COMPANIES), unit="(EUR million)")

    def count(question: str) -> str:
        asked = parse_table_question(question)
        assert asked is not None
        rows = TableRows([(0, table)], "", question)
        found = answer_from_rows(asked, rows, ColumnSelector(passage(), read_nothing))
        return found.short if found else ""

    assert count("How many companies have more than 5 thousand employees?") == "2"
    assert count("How many companies have a revenue of more than 5 billion?") == "1"


@pytest.mark.parametrize(
    ("header", "caption", "expected"),
    [
        ("Staff (thousand)", "Staff by company", "1"),
        ("Staff", "Staff by company (in thousands)", "1"),
        ("Staff", "Staff by company", "3"),
    ],
)
def test_scale_is_that_of_the_header_or_else_of_the_caption(header: str, caption: str, expected: str) -> None:
    lines = (("Company", header), ("Amcor", "3,000"), ("Boeing", "4,000"), ("Corus", "9,000"))
    if expected == "3":
        lines = (("Company", header), ("Amcor", "3000000"), ("Boeing", "4000000"), ("Corus", "9000000"))
        assert short("How many companies have more than 2 million staff?", lines, caption) == expected
    else:
        assert short("How many companies have more than 5 million staff?", lines, caption) == expected


def test_name_that_begins_like_a_total_is_a_row() -> None:
    assert short("Which airline has the most aircraft?", AIRLINES) == "All Nippon Airways"
    assert short("How many airlines have more than 95 aircraft?", AIRLINES) == "2"


@pytest.mark.parametrize(
    "label", ["Total", "All", "Overall average", "All carriers", "Total fleet", "Mean (2019-2023)"]
)
def test_total_is_no_row(label: str) -> None:
    lines = (*AIRLINES, (label, "World", "999"))
    assert short("Which airline has the most aircraft?", lines) == "All Nippon Airways"
    assert short("How many airlines have more than 95 aircraft?", lines) == "2"
