"""Parse arithmetic over named values, such as "(c1 - c2) / c3", as a tree that `evaluate` computes in decimals."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from decimal import Decimal

from rag_core.finance.expressions import Average, Constant, Expression, Operation, Symbol

_SYMBOLS: Mapping[type[ast.operator], Symbol] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LONGEST = 200


class ArithmeticProblem(ValueError):
    """A text is not arithmetic over the named values."""


def parse_arithmetic(text: str, values: Mapping[str, Decimal]) -> Expression:
    """Return arithmetic as a tree; Python parses the text, but nothing in it is executed.

    Parameters
    ----------
    text : str
        Numbers, names, ``+ - * /``, brackets, and ``average(…)``.
    values : mapping of str to Decimal
        The named values.

    Raises
    ------
    ArithmeticProblem
        The text contains anything else, or a name without a value.

    Examples
    --------
    >>> parse_arithmetic("c1 / 2", {"c1": Decimal("8.5")})
    Operation(symbol='/', left=Constant(value=Decimal('8.5')), right=Constant(value=Decimal('2')))
    """
    source = text.translate(_SIGNS).strip()
    if len(source) > _LONGEST:
        raise ArithmeticProblem(f"the expression is longer than {_LONGEST} characters")
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ArithmeticProblem("the expression is not arithmetic, such as (c1 - c2) / c3") from None
    return _convert(tree.body, source, values)


def find_names(text: str) -> list[str]:
    """Return the names in an arithmetic expression that `parse_arithmetic` accepts, each once, in order."""
    names = re.findall(r"[^\W\d]\w*", text)
    return list(dict.fromkeys(name for name in names if name != "average"))


def _convert(node: ast.expr, source: str, values: Mapping[str, Decimal]) -> Expression:
    match node:
        case ast.Name(name):
            if name not in values:
                raise ArithmeticProblem(f"there is no value {name}")
            return Constant(values[name])
        case ast.Constant():
            written = ast.get_source_segment(source, node) or ""
            if not _NUMBER.fullmatch(written):
                raise ArithmeticProblem(f"{written} is not a number")
            return Constant(Decimal(written))
        case ast.UnaryOp(ast.USub(), operand):
            return Operation("-", Constant(Decimal(0)), _convert(operand, source, values))
        case ast.BinOp(left, operator, right) if type(operator) in _SYMBOLS:
            first, second = (_convert(side, source, values) for side in (left, right))
            return Operation(_SYMBOLS[type(operator)], first, second)
        case ast.Call(ast.Name("average"), parts, []) if parts:
            return Average(tuple(_convert(part, source, values) for part in parts))
    raise ArithmeticProblem("only numbers, names of cells, + - * /, brackets and average(…) can be used")
