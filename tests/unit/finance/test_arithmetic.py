"""Arithmetic over named values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from rag_core.finance.arithmetic import ArithmeticProblem, compute_arithmetic, find_value_names

VALUES = {"c1": Decimal("0.1"), "c2": Decimal("0.2"), "c3": Decimal(2011)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("c1 + c2", "0.3"),
        ("(c1 - c2) / c2", "-0.5"),
        ("c3 × 2 − 1", "4021"),
        ("-c1 * 10", "-1.0"),
        ("average(c1, c2)", "0.15"),
        ("c3 / 2011", "1"),
        ("365 / [c3 - 2001]", "36.5"),
    ],
)
def test_value_is_computed_in_decimals(text: str, value: str) -> None:
    assert compute_arithmetic(text, VALUES) == Decimal(value)


def test_division_by_zero_has_no_value() -> None:
    assert compute_arithmetic("c1 / (c2 - c2)", VALUES) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "c9 + 1", "c1 ** 99999", "c1 // 2", "c1 % 2", "9e999999", "0x10", "1_000", "True", "'a' * 9", "c1; c2"),
        *("__import__('os').system('true')", "c1.real", "open('x')", "average()", "average(*c1)", "lambda: 1"),
        *("(" * 199, "1+" * 99 + "1+1+1", "c1 = 2", "c1 if c2 else c3", "[c1 for x in y]"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ArithmeticProblem):
        compute_arithmetic(text, VALUES)


def test_names_are_found_once() -> None:
    assert find_value_names("(c2 - c10) / average(c2, 5)") == ["c2", "c10"]
