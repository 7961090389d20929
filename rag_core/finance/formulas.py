"""Parse formulas in words, such as "revenue / (average PP&E between FY2018 and FY2019)"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from rag_core.finance.expressions import Average, Constant, Expression, Operand, Operation, Root, Symbol
from rag_core.finance.line_items import BY_NAME, find_line_items
from rag_core.finance.years import find_years, remove_years
from rag_core.text.dates import is_year

_SYMBOLS: Mapping[str, Symbol] = {
    "+": "+", "plus": "+", "-": "-", "–": "-", "−": "-", "less": "-", "minus": "-", "*": "*", "×": "*", "x": "*",
    "times": "*", "multiplied by": "*", "/": "/", "÷": "/", "divided by": "/", "over": "/",
}  # fmt: skip
_TOKEN = re.compile(
    r"(?P<bracket>[()])"
    r"|(?P<symbol>[+*×÷/−]|(?:(?<=[\s)])|^)[-–](?=[\s(])|\b(?:plus|less|minus|times|multiplied by|divided by|over)\b"
    r"|(?<=[\d)] )x(?= )|^x(?= ))"
    r"|(?P<number>(?<![\w.&])\d+(?:\.\d+)?(?![\w%.-]))",
    re.IGNORECASE,
)
_AVERAGE = re.compile(r"^\s*(?:the )?average(?: of)?(?: the)?\b", re.IGNORECASE)
_CHANGE = re.compile(r"^\s*(?:the )?(?:change|increase|decrease)s? in\b", re.IGNORECASE)
# Words of a formula that do not change which line is meant.
_OTHER_WORDS = re.compile(
    r"\b(?:the|a|an|of|for|in|at|from|on|and|between|to|by|its|total|net|annual|year|years|fiscal|end|ended|ending|beginning|"
    r"balances?|amount|value|company|reported|as|unadjusted|line|items?|sum|using|during|both|cash flow|cash flows|"
    r"statements?|income|balance sheet|sheet|of operations|p&l|same|period|prior|current|shown|use|common|out|"
    r"attributable|shareholders?|stockholders?)\b|[^\w]+",
    re.IGNORECASE,
)


class FormulaError(ValueError):
    """A formula contains a phrase that is no known line, measure or number."""


def parse_formula(text: str, year: int, names: Mapping[str, str]) -> Expression:
    """Return a formula as a tree.

    Parameters
    ----------
    text : str
        Lines of statements, numbers, names of other formulas, operators as signs or words, and brackets. "Average"
        before a line means the average of two year ends.
    year : int
        The fiscal year of the lines that name no year.
    names : mapping of str to str
        Other formulas by their names in lower case.

    Raises
    ------
    FormulaError
        If a part of the formula has no known meaning.

    Examples
    --------
    >>> parse_formula("revenue less COGS", 2020, {}).symbol
    '-'
    """
    parser = _Parser(_split(text), year, names)
    expression = parser.parse_sum()
    if parser.tokens:
        raise FormulaError(f"The formula {text!r} has an unexpected {parser.tokens[0][1]!r}.")
    return expression


def build_average(text: str, first: int, last: int, names: Mapping[str, str]) -> Expression:
    """Return the average of a formula over the fiscal years from ``first`` to ``last``."""
    return Average(tuple(parse_formula(text, year, names) for year in range(first, last + 1)))


def build_change(text: str, first: int, last: int, names: Mapping[str, str]) -> Expression:
    """Return the difference of a formula between two fiscal years."""
    return Operation("-", parse_formula(text, last, names), parse_formula(text, first, names))


def build_growth(text: str, first: int, last: int, names: Mapping[str, str]) -> Expression:
    """Return the relative change of a formula between two fiscal years."""
    return Operation("/", build_change(text, first, last, names), parse_formula(text, first, names))


def build_annual_growth(text: str, first: int, last: int, names: Mapping[str, str]) -> Expression:
    """Return the compound annual growth rate of a formula."""
    ratio = Operation("/", parse_formula(text, last, names), parse_formula(text, first, names))
    return Operation("-", Root(ratio, last - first), Constant(Decimal(1)))


def _split(text: str) -> list[tuple[str, str]]:
    """Return the tokens of a formula as pairs of kind and text."""
    # A slash within an abbreviation, such as "P/E", would be an operator, but no known line contains one.
    tokens: list[tuple[str, str]] = []
    end = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "number" and is_year(match[0]):
            continue
        tokens += [("phrase", phrase)] if (phrase := text[end : match.start()].strip(" ,.:;")) else []
        tokens.append((kind, match[0].casefold()))
        end = match.end()
    tokens += [("phrase", phrase)] if (phrase := text[end:].strip(" ,.:;")) else []
    return tokens


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]], year: int, names: Mapping[str, str]) -> None:
        self.tokens = tokens
        self._year = year
        self._names = names

    def parse_sum(self) -> Expression:
        left = self._parse_product()
        while self._next_symbol() in ("+", "-"):
            symbol = _SYMBOLS[self.tokens.pop(0)[1]]
            left = Operation(symbol, left, self._parse_product())
        return left

    def _parse_product(self) -> Expression:
        left = self._parse_factor()
        while self._next_symbol() in ("*", "/"):
            symbol = _SYMBOLS[self.tokens.pop(0)[1]]
            left = Operation(symbol, left, self._parse_factor())
        return left

    def _next_symbol(self) -> Symbol | None:
        return _SYMBOLS[self.tokens[0][1]] if self.tokens and self.tokens[0][0] == "symbol" else None

    def _parse_factor(self) -> Expression:
        if not self.tokens:
            raise FormulaError("The formula ends after an operator.")
        kind, text = self.tokens.pop(0)
        if kind == "number":
            return Constant(Decimal(text))
        if text == "(":
            inner = self.parse_sum()
            if not self.tokens or self.tokens.pop(0)[1] != ")":
                raise FormulaError("The formula has an opening bracket without a closing one.")
            return inner
        if kind != "phrase":
            raise FormulaError(f"The formula has an unexpected {text!r}.")
        # "average (total assets)" and "change in (inventory)".
        if re.fullmatch(r"(?:the )?average(?: of)?|(?:the )?change in", text, re.IGNORECASE):
            if self.tokens[:1] != [("bracket", "(")]:
                raise FormulaError(f"The formula has no line after {text!r}.")
            self.tokens.pop(0)
            inner_text = []
            while self.tokens and self.tokens[0][1] != ")":
                inner_text.append(self.tokens.pop(0)[1])
            self.tokens[:1] = []
            return parse_phrase(f"{text} {' '.join(inner_text)}", self._year, self._names)
        return parse_phrase(text, self._year, self._names)


def parse_phrase(text: str, year: int, names: Mapping[str, str]) -> Expression:
    """Return the tree of a phrase without operators, such as "average accounts payable between FY2014 and FY2015"."""
    years = sorted(find_years(text))
    rest = remove_years(text)
    if match := _AVERAGE.search(rest):
        first, last = (years[0], years[-1]) if len(years) > 1 else (year - 1, year)
        return Average(tuple(parse_phrase(rest[match.end() :], one, names) for one in (first, last)))
    if match := _CHANGE.search(rest):
        first, last = (years[0], years[-1]) if len(years) > 1 else (year - 1, year)
        return Operation("-", *(parse_phrase(rest[match.end() :], one, names) for one in (last, first)))
    year = years[-1] if years else year
    named = [name for name in names if re.search(rf"(?<![\w&]){re.escape(name)}(?![\w&])", rest, re.IGNORECASE)]
    items = find_line_items(rest)
    longest = max(named, key=len, default="")
    if longest and len(longest) >= sum(end - start for _, start, end in items):
        # A name does not stand for a formula that contains it.
        others = {name: formula for name, formula in names.items() if name != longest}
        return parse_formula(names[longest], year, others)
    for _, start, end in reversed(items):
        rest = f"{rest[:start]} {rest[end:]}"
    if not items or _OTHER_WORDS.sub("", rest):
        raise FormulaError(f"The formula contains {text!r}, which is no known line of a statement.")
    operands = [_build_operand(item.name, year) for item, _, _ in items]
    expression: Expression = operands[0]
    for operand in operands[1:]:
        expression = Operation("+", expression, operand)
    return expression


def _build_operand(name: str, year: int) -> Expression:
    return Operand(BY_NAME[name], year)
