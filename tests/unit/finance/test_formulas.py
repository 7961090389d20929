"""Formulas in words, and their evaluation in decimals."""

from __future__ import annotations

from decimal import Decimal

import pytest

from rag_core.finance.expressions import Average, Constant, Operand, Operation, evaluate, find_dimension, find_operands
from rag_core.finance.formulas import FormulaError, build_annual_growth, build_average, build_growth, parse_formula
from rag_core.finance.line_items import BY_NAME
from rag_core.finance.standard_measures import FORMULAS, MEASURES


def lines(formula: str, year: int = 2020) -> list[tuple[str, int]]:
    return [(one.item.name, one.year) for one in find_operands(parse_formula(formula, year, FORMULAS))]


def test_lines_have_the_year_of_the_question_or_their_own() -> None:
    assert lines("revenue less COGS") == [("revenue", 2020), ("cost of goods sold", 2020)]
    assert lines("FY2019 revenue / total assets") == [("revenue", 2019), ("total assets", 2020)]
    assert lines("change in inventory between FY2017 and FY2018") == [("inventories", 2018), ("inventories", 2017)]


@pytest.mark.parametrize("text", ["average PP&E between FY2019 and FY2020", "(average of PP&E)", "average (PP&E)"])
def test_average_is_over_two_year_ends(text: str) -> None:
    item = BY_NAME["property, plant and equipment, net"]
    assert parse_formula(text, 2020, {}) == Average((Operand(item, 2019), Operand(item, 2020)))


def test_names_stand_for_their_formulas() -> None:
    names = {"dpo": "365 * (average accounts payable) / COGS", "ccc": "DSO - DPO", "dso": "365 * receivables / revenue"}
    assert [item for item, _ in lines("gross margin")] == ["gross profit", "revenue"]
    operands = find_operands(parse_formula("CCC", 2020, names))
    assert [one.item.name for one in operands][:2] == ["accounts receivable", "revenue"]


@pytest.mark.parametrize(
    "text", ["revenue / headcount", "revenue /", "(revenue - COGS", "goodwill of segment Alpha", ""]
)
def test_unknown_formula_is_an_error(text: str) -> None:
    with pytest.raises(FormulaError):
        parse_formula(text, 2020, {})


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_standard_formulas_are_formulas(measure) -> None:
    expression = parse_formula(measure.formula, 2020, FORMULAS)
    assert find_dimension(expression) == (1 if measure.unit.value == "money" else 0)


def test_operators_bind_as_usual() -> None:
    two, three, five = (Constant(Decimal(value)) for value in (2, 3, 5))
    assert parse_formula("2 + 3 * 5", 2020, {}) == Operation("+", two, Operation("*", three, five))
    assert evaluate(parse_formula("(2 + 3) / 5 - 1", 2020, {}), {}) == 0


def test_evaluation_is_exact() -> None:
    revenue = BY_NAME["revenue"]
    values = {Operand(revenue, year): Decimal(value) for year, value in ((2018, "100"), (2019, "110.1"), (2020, "121"))}
    assert evaluate(build_growth("revenue", 2018, 2019, {}), values) == Decimal("0.101")
    assert round(evaluate(build_annual_growth("revenue", 2018, 2020, {}), values), 10) == Decimal("0.1")
    assert evaluate(build_average("revenue", 2018, 2020, {}), values) == Decimal("331.1") / 3


def test_division_by_zero_has_no_value() -> None:
    assert evaluate(parse_formula("revenue / 0", 2020, {}), {Operand(BY_NAME["revenue"], 2020): Decimal(1)}) is None


def test_mixed_units_have_no_dimension() -> None:
    assert find_dimension(parse_formula("1 - revenue", 2020, {})) is None
    assert find_dimension(parse_formula("1 - revenue / total assets", 2020, {})) == 0
    assert find_dimension(parse_formula("revenue * COGS", 2020, {})) == 2
