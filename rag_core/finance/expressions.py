"""Formulas over lines of financial statements, as trees, and their evaluation in decimals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, DivisionByZero, InvalidOperation
from typing import Literal

from rag_core.finance.line_items import LineItem

Symbol = Literal["+", "-", "*", "/"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that the formula contains, such as 365."""

    value: Decimal


@dataclass(frozen=True, slots=True)
class Operand:
    """A line of a statement for one fiscal year."""

    item: LineItem
    year: int


@dataclass(frozen=True, slots=True)
class Operation:
    """Two formulas and the operator between them."""

    symbol: Symbol
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Average:
    """The arithmetic mean of formulas."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """The root of a formula; the annual growth over ``degree`` years is such a root."""

    base: Expression
    degree: int


Expression = Constant | Operand | Operation | Average | Root


def find_operands(expression: Expression) -> list[Operand]:
    """Return the operands of a formula in their order, each once."""
    return list(dict.fromkeys(_iter_operands(expression)))


def evaluate(expression: Expression, values: Mapping[Operand, Decimal]) -> Decimal | None:
    """Return the value of a formula; ``None`` if it is not defined, as in a division by zero."""
    try:
        return _evaluate(expression, values)
    except (DivisionByZero, InvalidOperation):
        return None


def find_dimension(expression: Expression) -> int | None:
    """Return the power of money in the unit of a formula: 0 for a ratio, 1 for an amount; ``None`` for a mixture.

    A sum of a ratio and an amount is a mixture, and so is a root of an amount.
    """
    match expression:
        case Constant():
            return 0
        case Operand():
            return 1
        case Root(base, _):
            return 0 if find_dimension(base) == 0 else None
        case Average(parts):
            dimensions = {find_dimension(part) for part in parts}
            return dimensions.pop() if len(dimensions) == 1 else None
        case Operation(symbol, left, right):
            first, second = find_dimension(left), find_dimension(right)
            if first is None or second is None:
                return None
            if symbol in "+-":
                return first if first == second else None
            return first + second if symbol == "*" else first - second


def _iter_operands(expression: Expression) -> Iterator[Operand]:
    match expression:
        case Operand():
            yield expression
        case Operation(_, left, right):
            yield from _iter_operands(left)
            yield from _iter_operands(right)
        case Average(parts):
            for part in parts:
                yield from _iter_operands(part)
        case Root(base, _):
            yield from _iter_operands(base)


def _evaluate(expression: Expression, values: Mapping[Operand, Decimal]) -> Decimal:
    match expression:
        case Constant(value):
            return value
        case Operand():
            return values[expression]
        case Average(parts):
            return sum((_evaluate(part, values) for part in parts), Decimal(0)) / len(parts)
        case Root(base, degree):
            return _evaluate(base, values) ** (Decimal(1) / degree)
        case Operation(symbol, left, right):
            first, second = _evaluate(left, values), _evaluate(right, values)
            match symbol:
                case "+":
                    return first + second
                case "-":
                    return first - second
                case "*":
                    return first * second
            return first / second
