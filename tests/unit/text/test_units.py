"""Units that captions and headers state in several languages."""

from __future__ import annotations

import pytest

from rag_core.text.units import find_stated_unit, read_unit

WHOLE = (
    "Results in thousands of crowns",
    "Ergebnis in Mio. €",
    "in Tsd. CHF",
    "millions of yen",
    "£'000",
    "k€",
    "CHF million",
    "MSEK",
    "Milk delivered, in tonnes",
    "Milk in tonnes by town",
    "kWh",
    "€/MWh",
    "Résultats en milliers d'euros",
    "Tržby v tis. Kč",
    "Tržby v tisících Kč",
    "w tys. zł",
    "Omsättning i tusen kronor",
    "Kosten in duizenden euro's",
    "All amounts are in thousands of Danish kroner.",
    "Zahlen in 1.000 EUR",
    "Längen in Metern",
    "Malt used, tonnes",
    "hectolitres",
)


@pytest.mark.parametrize("text", WHOLE)
def test_line_states_a_unit(text: str) -> None:
    assert find_stated_unit(text) == text


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Statement of income (in millions, except per share amounts)", "(in millions, except per share amounts)"),
        ("Output (kWh)", "(kWh)"),
        ("2022 (k€)", "(k€)"),
        ("Feed (kg per head)", "(kg per head)"),
        ("Population (thousands)", "(thousands)"),
        ("Weight (t)", "(t)"),
    ],
)
def test_unit_in_brackets_is_read(text: str, unit: str) -> None:
    assert find_stated_unit(text) == unit


@pytest.mark.parametrize(
    "text",
    [
        *("Day", "Mark", "Won", "Bill", "Mia", "Bar", "Real", "min", "Year", "Town", "Net result", "(41)", "(1,000)"),
        *("(restated)", "(a)", "(N)", "(ALL)", "(2022)", "(see note 3)", "Trading symbol(s)", "Members in 2023"),
        *("Growth, real", "Games, won"),
        *("Employees in Germany", "Growth in real terms", "Places in each course", "Courses in Selby", "Hours by town"),
    ],
)
def test_other_text_states_no_unit(text: str) -> None:
    assert not find_stated_unit(text)


@pytest.mark.parametrize(
    ("text", "powers"),
    [
        ("in Tsd. CHF", {3}),
        ("w mln zł", {6}),
        ("tkr", {3}),
        ("€m", {6}),
        ("in Mrd. Euro", {9}),
        ("in tonnes", set()),
        ("in miles", set()),
        ("en miles", {3}),
    ],
)
def test_scale_of_a_unit_is_read(text: str, powers: set[int]) -> None:
    assert read_unit(text) == powers
