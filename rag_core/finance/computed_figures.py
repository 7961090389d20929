"""Compute a figure from the lines of a document's statements, and describe how it was computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from rag_core.finance.expressions import (
    Average,
    Constant,
    Expression,
    Operand,
    Operation,
    Root,
    evaluate,
    find_operands,
)
from rag_core.finance.figure_questions import FigureRequest
from rag_core.finance.formulas import parse_formula
from rag_core.finance.standard_measures import Unit
from rag_core.finance.statements import Figure, Statements

_SCALE_WORDS: Mapping[int | None, str] = {3: " thousand", 6: " million", 9: " billion"}
_SIGNS = {"+": "+", "-": "−", "*": "×", "/": "÷"}
# Longest label of a row that is repeated in an answer.
_LONGEST_LABEL = 45


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer: a text, and the figure to cite after it, if any."""

    text: str
    figure: Figure | None = None


@dataclass(frozen=True, slots=True)
class ComputedFigure:
    """The answer to a question for a figure.

    Attributes
    ----------
    short : str
        The value with its unit; empty if the figure cannot be computed.
    pieces : tuple of Piece
        The value and its computation, or else what is missing and the figures found.
    """

    short: str
    pieces: tuple[Piece, ...]


def compute_figure(request: FigureRequest, statements: Statements, source: str) -> ComputedFigure | None:
    """Return the requested figure; ``None`` if the statements contain none of its lines.

    ``source`` is the name of the document. If a line is missing, or if the lines differ in their currency, or if only
    some have a known scale, nothing is computed, and the answer says why and lists the figures found.
    """
    expression = _expand(request.expression, statements)
    found = {one: statements.find(one.item, one.year) for one in find_operands(expression)}
    figures = [figure for several in found.values() for figure in several]
    if not figures:
        return None
    if missing := [operand for operand, several in found.items() if not several]:
        return ComputedFigure("", (Piece(f"Not computed: {_list_lines(missing)} in {source}."), *_list_found(found)))
    if problem := _find_mismatch(request, figures):
        return ComputedFigure("", (Piece(f"Not computed: {problem}."), *_list_found(found)))
    values = {operand: sum((one.value for one in several), Decimal(0)) for operand, several in found.items()}
    value = evaluate(expression, values)
    if value is None:
        return ComputedFigure("", (Piece("Not computed: the divisor is zero."), *_list_found(found)))
    short = _format_value(request, value, figures)
    if request.is_change and request.unit is Unit.MONEY:
        first = values[Operand(find_operands(expression)[0].item, request.years[0])] if len(values) == 2 else Decimal(0)
        short = f"{'+' if value > 0 else ''}{short}" + (f" ({_percent(value / first, 1, '+')})" if first > 0 else "")
    elif request.is_change and isinstance(expression, Operation) and expression.symbol == "-":
        # The change of a percentage is in percentage points, which the two percentages make clear.
        last, first = (evaluate(side, values) or Decimal(0) for side in (expression.left, expression.right))
        change = f"{'+' if value > 0 else ''}{short}"
        if request.unit is Unit.PERCENT:
            change = f"{change.removesuffix('%')} percentage points"
        shown = [_format_value(request, one, figures) for one in (first, last)]
        short = f"{change} (from {shown[0]} to {shown[1]})"
    with_years = len({operand.year for operand in found}) > 1
    computation = _Description(found, with_years=with_years).describe(expression)
    return ComputedFigure(short, (Piece(f"{short} · {request.label} = "), *computation))


def _expand(expression: Expression, statements: Statements) -> Expression:
    """Return a formula in which the formulas of the lines that have no row replace these lines."""
    match expression:
        case Operand(item, year):
            if item.formula and not statements.find(item, year):
                return parse_formula(f"({item.formula})", year, {})
            return expression
        case Operation(_, left, right):
            return replace(expression, left=_expand(left, statements), right=_expand(right, statements))
        case Average(parts):
            return Average(tuple(_expand(part, statements) for part in parts))
        case Root(base, _):
            return replace(expression, base=_expand(base, statements))
    return expression


def _find_mismatch(request: FigureRequest, figures: Sequence[Figure]) -> str:
    currencies = sorted({figure.currency for figure in figures if figure.currency})
    if len(currencies) > 1:
        return f"the figures are in different currencies ({', '.join(currencies)})"
    unknown = [figure for figure in figures if figure.scale is None]
    if unknown and (len(unknown) < len(figures) or (request.unit is Unit.MONEY and request.scale is not None)):
        return f"the statement does not say in what unit {unknown[0].label!r} is"
    return ""


def _list_lines(operands: Sequence[Operand]) -> str:
    return " and ".join(f"no {operand.item.name} for fiscal {operand.year}" for operand in operands)


def _list_found(found: Mapping[Operand, Sequence[Figure]]) -> Iterator[Piece]:
    lead = " Found: "
    for operand, several in found.items():
        for figure in several:
            yield Piece(f"{lead}{_shorten(figure, operand)} {operand.year} {_format_figure(figure)}", figure)
            lead = "; "


class _Description:
    """Describes formulas with the figures of their operands; a label that was named is not repeated in an average."""

    def __init__(self, found: Mapping[Operand, Sequence[Figure]], *, with_years: bool) -> None:
        self._found = found
        self._with_years = with_years

    def describe(self, expression: Expression, outer: str = "") -> list[Piece]:
        """Return the pieces of the description; ``outer`` is the operator around the formula."""
        match expression:
            case Constant(value):
                return [Piece(f"{value:f}")]
            case Operand():
                return self._describe_operand(expression)
            case Root(base, degree):
                return [Piece("("), *self.describe(base), Piece(f")^(1/{degree})")]
            case Average(parts):
                return self._describe_average(parts)
            case Operation(symbol, left, right):
                pieces = [
                    *self.describe(left, symbol),
                    Piece(f" {_SIGNS[symbol]} "),
                    *self.describe(right, f"right of {symbol}"),
                ]
                loose = symbol in "+-" and outer not in ("", "+", "-", "right of +")
                if loose or outer == "right of /":
                    return [Piece("("), *pieces, Piece(")")]
                return pieces
        return []

    def _describe_operand(self, operand: Operand, *, label: bool = True) -> list[Piece]:
        pieces = []
        year = f" ({operand.year})" if self._with_years else ""
        for number, figure in enumerate(self._found[operand]):
            lead = " + " if number else ""
            name = f"{_shorten(figure, operand)} " if label else ""
            pieces.append(Piece(f"{lead}{name}{_format_figure(figure)}{year}", figure))
        return [Piece("("), *pieces, Piece(")")] if len(pieces) > 1 else pieces

    def _describe_average(self, parts: Sequence[Expression]) -> list[Piece]:
        pieces = [Piece("average of ")]
        for number, part in enumerate(parts):
            if number:
                pieces.append(Piece(" and " if number == len(parts) - 1 else ", "))
            if isinstance(part, Operand):
                pieces += self._describe_operand(part, label=not number)
            else:
                pieces += self.describe(part, "right of /")
        return pieces


def _shorten(figure: Figure, operand: Operand) -> str:
    label = " ".join(figure.label.split()).rstrip(":")
    return label if 0 < len(label) <= _LONGEST_LABEL else operand.item.name


def _format_figure(figure: Figure) -> str:
    return _money(figure.written, figure.decimals, figure.currency, _SCALE_WORDS.get(figure.scale, ""))


def _format_value(request: FigureRequest, value: Decimal, figures: Sequence[Figure]) -> str:
    decimals = request.decimals
    if request.unit is Unit.PERCENT:
        return _percent(value, 1 if decimals is None else decimals)
    if request.unit in (Unit.RATIO, Unit.DAYS):
        rounded = _round(value, 2 if decimals is None else decimals)
        return f"{rounded:,f} days" if request.unit is Unit.DAYS else f"{rounded:,f}"
    currency = next((figure.currency for figure in figures if figure.currency), "")
    scale = figures[0].scale or 0
    if request.unit is Unit.PER_SHARE:
        return _money(value, 2 if decimals is None else decimals, currency, "")
    if request.scale is not None and request.scale != scale:
        shown = value.scaleb(-request.scale)
        digits = 0 if abs(shown) >= 100 else 1 if abs(shown) >= 10 else 2
        return _money(shown, digits if decimals is None else decimals, currency, _SCALE_WORDS[request.scale])
    digits = max(figure.decimals for figure in figures) if decimals is None else decimals
    return _money(value.scaleb(-scale), digits, currency, _SCALE_WORDS.get(scale, ""))


def _percent(value: Decimal, decimals: int, sign: str = "") -> str:
    return f"{_round(value * 100, decimals):{sign},f}%"


def _money(value: Decimal, decimals: int, currency: str, scale: str) -> str:
    return f"{'-' if value < 0 else ''}{currency}{_round(abs(value), decimals):,f}{scale}"


def _round(value: Decimal, decimals: int) -> Decimal:
    """Return a value rounded as in accounting; zero has no sign."""
    return value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP) + 0
