"""Compute arithmetic expressions with named values, such as "(c1 - c2) / c3", in decimals."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, DivisionByZero, InvalidOperation

_OPERATORS: Mapping[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MAX_CHARS = 200


class ArithmeticProblem(ValueError):
    """A text is not an arithmetic expression with the named values."""


def compute_arithmetic(text: str, values: Mapping[str, Decimal]) -> Decimal | None:
    """Return the value of an arithmetic expression; ``None`` if it is not defined, as for a division by zero.

    Python parses the expression, but does not execute it.

    Parameters
    ----------
    text : str
        An expression of numbers, names, ``+ - * /``, brackets, and ``average(…)``.
    values : mapping of str to Decimal
        The values of the names.

    Raises
    ------
    ArithmeticProblem
        The text contains something else or a name without a value, or has more than 200 characters.

    Examples
    --------
    >>> compute_arithmetic("c1 / 2", {"c1": Decimal("8.5")})
    Decimal('4.25')
    """
    source = text.translate(_SIGNS).strip()
    if len(source) > _MAX_CHARS:
        raise ArithmeticProblem(f"the expression is longer than {_MAX_CHARS} characters")
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ArithmeticProblem("the expression is not arithmetic, such as (c1 - c2) / c3") from None
    try:
        return _compute(tree.body, source, values)
    except (DivisionByZero, InvalidOperation):
        return None


def find_value_names(text: str) -> list[str]:
    """Return the distinct names in an arithmetic expression, in order; see `compute_arithmetic`."""
    names = re.findall(r"[^\W\d]\w*", text)
    return list(dict.fromkeys(name for name in names if name != "average"))


def _compute(node: ast.expr, source: str, values: Mapping[str, Decimal]) -> Decimal:
    match node:
        case ast.Name(name):
            if name not in values:
                raise ArithmeticProblem(f"there is no value {name}")
            return values[name]
        case ast.Constant():
            written = ast.get_source_segment(source, node) or ""
            if not _NUMBER.fullmatch(written):
                raise ArithmeticProblem(f"{written} is not a number")
            return Decimal(written)
        case ast.UnaryOp(ast.USub(), operand):
            return -_compute(operand, source, values)
        case ast.BinOp(left, symbol, right) if type(symbol) in _OPERATORS:
            return _OPERATORS[type(symbol)](_compute(left, source, values), _compute(right, source, values))
        case ast.Call(ast.Name("average"), parts, []) if parts:
            return sum((_compute(part, source, values) for part in parts), Decimal(0)) / len(parts)
    raise ArithmeticProblem("only numbers, names of cells, + - * /, brackets and average(…) can be used")
