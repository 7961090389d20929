"""What the tools of a language model return for one question: numbered passages, named cells and computed values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from rag_core.finance.arithmetic import ArithmeticProblem, compute_arithmetic, find_value_names
from rag_core.reading.cell_lookup import FoundCell
from rag_core.retrieval.passages import build_passage
from rag_core.text.numbers import CURRENCIES
from rag_core.types.chunks import ChunkRow
from rag_core.types.documents import DocumentInfo, PageKey
from rag_core.types.retrieval import Passage

_SCALE_WORDS: Mapping[int | None, str] = {2: "hundred", 3: "thousand", 6: "million", 9: "billion", 12: "trillion"}
_CURRENCY = re.compile("|".join(re.escape(one) for one in CURRENCIES if not one.isalpha()))
_NAME = re.compile(r"\bc\d+\b")
# A ratio with a smaller absolute value is also shown in percent.
_MAX_RATIO = 10
_RATIO_DECIMALS = 4


class ComputationProblem(ValueError):
    """A value cannot be computed; the message tells the language model why."""


@dataclass(frozen=True, slots=True)
class NamedCell:
    """A table cell with a name, by which a language model uses it in a computation.

    Attributes
    ----------
    name : str
        For example ``c1``.
    found : FoundCell
        The cell and its place on the page.
    document : DocumentInfo
    chunk_id : int or None
        The chunk that contains the row of the cell.
    scale : int or None
        Exponent of the power of ten by which the figure is multiplied: 6 for millions. The scale is stated by the cell,
        or else by its table. ``None`` if neither states a scale, or if the figure has none, such as a percentage.
    """

    name: str
    found: FoundCell
    document: DocumentInfo
    chunk_id: int | None
    scale: int | None

    @property
    def value(self) -> Decimal:
        """The figure of the cell, multiplied by its scale."""
        return self.found.value if self.found.number.power else self.found.value.scaleb(self.scale or 0)

    @property
    def page(self) -> PageKey:
        """The page that contains the cell."""
        return self.document.version_id, self.found.page_index

    @property
    def text(self) -> str:
        """The text of the cell. If only the table states the scale, its word follows, as in "4.2 million"."""
        scale = "" if self.found.number.power else _SCALE_WORDS.get(self.scale, "")
        return self.found.text if not scale or scale in self.found.text.casefold() else f"{self.found.text} {scale}"

    @property
    def description(self) -> str:
        """The label of the row, the header of the column and the text, as in "Revenue (2024) 4.2 million"."""
        header = f" ({self.found.header})" if self.found.header else ""
        return f"{self.found.label}{header} {self.text}"


@dataclass(frozen=True, slots=True)
class ComputedValue:
    """A computed value.

    ``text`` is the formatted value, such as "$4.2 million" or "0.2500 (25.00%)". ``expression`` is the arithmetic with
    names of cells, and ``cells`` maps these names to the cells.
    """

    text: str
    expression: str
    cells: Mapping[str, NamedCell]

    def split_pieces(self) -> Iterable[tuple[str, NamedCell | None]]:
        """Yield the text "value = arithmetic" in pieces, each with the cell that is described at the end of the piece.

        The text after the last cell, if any, is a piece with ``None``.
        """
        several = len({cell.document.document_id for cell in self.cells.values()}) > 1
        text, end = f"{self.text} = ", 0
        for match in _NAME.finditer(self.expression):
            cell = self.cells[match[0]]
            where = f"{cell.document.name}: " if several else ""
            yield f"{text}{self.expression[end : match.start()]}{where}{cell.description}", cell
            text, end = "", match.end()
        if text + self.expression[end:]:
            yield text + self.expression[end:], None


class Evidence:
    """Collects what tools return, numbers the passages and names the cells in the order in which they are returned.

    Attributes
    ----------
    cells : dict of str to NamedCell
        The named cells, by name.
    computed : list of ComputedValue
        The values that were computed from cells.
    rows : dict of int to ChunkRow
        The chunks of the pages that were read, and the chunks with the rows of named cells, by chunk id.
    """

    def __init__(self) -> None:
        self.cells: dict[str, NamedCell] = {}
        self.computed: list[ComputedValue] = []
        self.rows: dict[int, ChunkRow] = {}
        self._numbers: dict[str, int] = {}

    @property
    def chunk_ids(self) -> dict[int, int]:
        """The chunk id of each numbered passage, by number."""
        return {number: int(chunk_id) for chunk_id, number in self._numbers.items()}

    def number_passages(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return the passages with numbers as ranks; a passage that was numbered before keeps its number."""
        return [replace(one, rank=self._numbers.setdefault(one.chunk_id, len(self._numbers) + 1)) for one in passages]

    def add_chunks(self, rows: Sequence[ChunkRow]) -> list[Passage]:
        """Add chunks to ``rows``, and return them as numbered passages."""
        self.rows |= {row.id: row for row in rows}
        return self.number_passages([build_passage(0, row, {}) for row in rows])

    def name_cell(
        self, found: FoundCell, document: DocumentInfo, scale: int | None, rows: Sequence[ChunkRow]
    ) -> NamedCell:
        """Name a cell, and return the named cell; a cell that was named before keeps its name.

        ``scale`` is the scale that the table states, as in `NamedCell`, and ``rows`` are the chunks of the page. The
        chunk that contains the row of the cell becomes a numbered passage.
        """
        for cell in self.cells.values():
            if (cell.page, cell.found.cell) == ((document.version_id, found.page_index), found.cell):
                return cell
        start, end = found.start, found.end
        around = [row for row in rows if row.page_index == found.page_index and row.start <= start]
        # If no chunk contains the whole row, the last chunk that begins before the row is taken.
        around = [row for row in around if end <= row.start + len(row.text)] or around[-1:]
        self.add_chunks(around[:1])
        name = f"c{len(self.cells) + 1}"
        chunk_id = around[0].id if around else None
        power = found.number.power or (scale if found.is_scaled else None)
        self.cells[name] = NamedCell(name, found, document, chunk_id, power)
        return self.cells[name]

    def compute(self, text: str) -> ComputedValue:
        """Return the value of an arithmetic expression; add the value to ``computed`` if the expression uses a cell.

        Raises
        ------
        ComputationProblem
            The expression is not arithmetic or names an unknown cell, the divisor is zero, or the scale is unknown for
            some of the amounts but not for all.
        """
        names = find_value_names(text)
        used = {name: self.cells[name] for name in names if name in self.cells}
        if unknown := [name for name in names if name not in used]:
            raise ComputationProblem(f"there is no cell {', '.join(unknown)}. Look up the values first")
        unscaled = [cell for cell in used.values() if cell.scale is None and cell.found.is_scaled]
        if unscaled and len(unscaled) < sum(cell.found.is_scaled for cell in used.values()):
            raise ComputationProblem(f"the table of {unscaled[0].name} does not say in what unit its figures are")
        try:
            value = compute_arithmetic(text, {name: cell.value for name, cell in used.items()})
        except ArithmeticProblem as problem:
            raise ComputationProblem(str(problem)) from None
        if value is None:
            raise ComputationProblem("the divisor is zero")
        computed = ComputedValue(_format_value(value, _is_amount(text, used), list(used.values())), text, used)
        if used and computed not in self.computed:
            self.computed.append(computed)
        return computed


def _is_amount(text: str, used: Mapping[str, NamedCell]) -> bool:
    """Return whether an expression yields an amount: the result is ten times as large if all its amounts are.

    A ratio would stay the same. The test uses made-up values in place of those of the cells, because the difference of
    equal values is 0, also when they are ten times as large.
    """
    examples = {name: Decimal("7.3") ** exponent for exponent, name in enumerate(used, 1)}
    tenfold = {name: one * 10 if used[name].found.is_scaled else one for name, one in examples.items()}
    value = compute_arithmetic(text, examples)
    return value is not None and value != 0 and compute_arithmetic(text, tenfold) == value * 10


def _format_value(value: Decimal, is_amount: bool, cells: Sequence[NamedCell]) -> str:
    """Return a value as text.

    - an amount: in the smallest scale of the amounts in ``cells``, with the currency sign if they have only one;
    - an integer that is computed without cells: the plain number;
    - any other value: the number, and below `_MAX_RATIO` the percentage too.
    """
    if not is_amount and not cells and value == value.to_integral_value():
        return f"{value.to_integral_value():,f}"
    if not is_amount:
        ratio = _round(value, _RATIO_DECIMALS)
        return f"{ratio:,f} ({_round(value * 100, 2):,f}%)" if abs(value) < _MAX_RATIO else f"{ratio:,f}"
    amounts = [cell for cell in cells if cell.found.is_scaled]
    signs = {match[0] for cell in amounts if (match := _CURRENCY.search(cell.found.text))}
    scale = min((cell.scale or 0 for cell in amounts), default=0)
    decimals = max(_count_decimals(cell.found.cell.text) for cell in amounts)
    number = _round(abs(value).scaleb(-scale), decimals)
    sign = signs.pop() if len(signs) == 1 else ""
    return f"{'-' if value < 0 else ''}{sign}{number:,f} {_SCALE_WORDS.get(scale, '')}".rstrip()


def _count_decimals(text: str) -> int:
    match = re.search(r"\.(\d+)", text)
    return len(match[1]) if match else 0


def _round(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP) + 0
