"""Values of table cells, with the unit that a header, a label or a caption states."""

from __future__ import annotations

from decimal import Decimal

import pytest

from rag_core.reading.cell_values import find_header_unit, find_stated_units, parse_quantity, state_value
from rag_core.types.tables import Table, TableCell, TableRow


def table(*rows: tuple[str, ...], unit: str = "") -> Table:
    """Return a table whose first row is the header."""
    built = [
        TableRow(tuple(TableCell(text, ((0, 1),), column, 1, not number) for column, text in enumerate(row) if text))
        for number, row in enumerate(rows)
    ]
    return Table(tuple(built), 1, tuple((10.0 * one, 10.0 * one + 9) for one in range(len(rows[0]))), unit=unit)


def value_in(one: Table, row: int, column: int) -> str:
    found = one.body[row].cell(column)
    assert found is not None
    return state_value(one, one.body[row], found)


@pytest.mark.parametrize(
    ("header", "text", "unit", "expected"),
    [
        ("Weight (kg)", "7.2", "", "7.2 kg"),
        ("Share (%)", "12.5", "", "12.5%"),
        ("Altitude (m)", "263", "", "263 m"),
        ("Sales (restated)", "41", "", "41"),
        ("Sales (a)", "41", "", "41"),
        ("Warranty (months)", "4 years", "", "4 years"),
        ("2023", "5,382", "(in millions)", "5,382 million"),
        ("2023", "$5,382", "(in millions, except per share amounts)", "$5,382 million"),
        ("2023", "5,382", "($ in millions)", "$5,382 million"),
        ("2023", "5,382", "(In millions)", "5,382 million"),
        (
            "Zone 4",
            "50.60",
            "Prices in euros, valid from 1 March. Islands cost 4.50 more in every zone.",
            "50.60 euros",
        ),
        ("Costs", "3,849", "Amounts in thousands of dollars; staff as full-time equivalents", "3,849 thousand dollars"),
        ("Staff", "4,843", "Amounts in thousands of dollars; staff as full-time equivalents", "4,843"),
        ("2023", "5,382", "SEK million", "5,382 SEK million"),
        ("2023", "5,382", "(CHF million)", "5,382 CHF million"),
        ("2023", "5,382", "Revenue by segment, NOK thousand", "5,382 NOK thousand"),
        ("Visitors", "812", "Revenue in francs.", "812"),
        ("Opened", "1931", "(in millions)", "1931"),
        ("Owner", "M. Lindt", "(in millions)", "M. Lindt"),
    ],
)
def test_value_has_the_unit_that_is_stated_for_it(header: str, text: str, unit: str, expected: str) -> None:
    assert value_in(table(("Name", "Revenue", header), ("North", text, text), unit=unit), 0, 2) == expected


def test_currency_of_the_first_row_is_that_of_the_column() -> None:
    sales = table(("Segment", "2023", "Staff"), ("Snacks", "$6,147", "12"), ("Pets", "4,259", "31"))
    assert [value_in(sales, 1, 1), value_in(sales, 1, 2)] == ["$4,259", "31"]


def test_word_of_a_sentence_is_no_unit() -> None:
    assert find_stated_units("earnings. As a result, costs exceed income") == []
    assert find_stated_units("(litres)") == ["litres"]


def test_unit_of_a_row_label() -> None:
    assert value_in(table(("", "Model A"), ("Length (mm)", "410")), 0, 1) == "410 mm"
    assert find_header_unit("Length (see note 3)") == ""


def test_currency_is_not_given_to_columns_of_different_kinds() -> None:
    stock = table(("Item", "Quantity", "Price"), ("Bolt", "12", "0.85"), unit="Prices in euros.")
    assert value_in(stock, 0, 2) == "0.85 euros"
    assert value_in(stock, 0, 1) == "12"


@pytest.mark.parametrize(
    ("text", "value"),
    [("(1,234)", "-1234"), ("-3.5 %", "-3.5"), ("$ 12", "12"), ("12 mm", "12"), ("—", None), ("12/14", None)],
)
def test_number_of_a_cell(text: str, value: str | None) -> None:
    found = parse_quantity(text)
    assert (found and found.value) == (value and Decimal(value))


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("€1.2bn", "1200000000", "euro"),
        ("€300m", "300000000", "euro"),
        ("$5 million", "5000000", "dollar"),
        ("(€1.2bn)", "-1200000000", "euro"),
        ("$5 per share", "5", "dollar per share"),
        ("$12.9Bn", "12900000000", "dollar"),
        ("£1,250pcm", "1250", "pound pcm"),
        ("$1,234a", "1234", "dollar"),
        ("€3,5Mio.", "3500000", "euro"),
        ("€1.2Mrd.", "1200000000", "euro"),
        ("$12.5mm", "12500000", "dollar"),
        ("$(3)m", "-3000000", "dollar"),
        ("EUR (3.2) million", "-3200000", "euro"),
        ("INR 50 lakh", "50", "INR lakh"),
        ("5 million", "5", "million"),
        ("400 m", "400", "m"),
        ("US$5", "5", "dollar"),
        ("EUR 5", "5", "euro"),
        ("CHF 1,250", "1250", "CHF"),
        ("(EUR 5)", "-5", "euro"),
        ("EUR -5", "-5", "euro"),
    ],
)
def test_currency_before_a_number_keeps_its_scale(text: str, value: str, unit: str) -> None:
    found = parse_quantity(text)
    assert found is not None
    assert (found.value, found.unit) == (Decimal(value), unit)


@pytest.mark.parametrize("text", ["Try 5", "Euro 5", "Zone 5"])
def test_words_before_a_number_are_no_currency(text: str) -> None:
    assert parse_quantity(text) is None


def test_decimal_comma_counts_as_decimals() -> None:
    prices = table(("Item", "Weight", "Price"), ("Bolt", "7,2", "0,8"), unit="Prices in euros.")
    assert value_in(prices, 0, 2) == "0,8 euros"
    stock = table(("Item", "Length", "Width"), ("Bolt", "7,25", "0,8"), unit="(litres)")
    assert value_in(stock, 0, 2) == "0,8"
