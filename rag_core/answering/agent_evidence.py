"""The evidence that tools return for one question: numbered passages, named cells, and values computed from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from rag_core.finance.arithmetic import ArithmeticProblem, compute_arithmetic, find_names
from rag_core.reading.cell_lookup import FoundCell
from rag_core.retrieval.passages import build_passage
from rag_core.text.numbers import CURRENCIES
from rag_core.types.chunks import ChunkRow
from rag_core.types.documents import DocumentInfo, PageKey
from rag_core.types.retrieval import Passage

_SCALE_WORDS: Mapping[int | None, str] = {3: "thousand", 6: "million", 9: "billion"}
_CURRENCY = re.compile("|".join(re.escape(one) for one in CURRENCIES if not one.isalpha()))
_NAME = re.compile(r"\bc\d+\b")
# Largest value of a ratio that is also shown in percent, and number of its decimal places.
_MAX_RATIO, _RATIO_DECIMALS = 10, 4


class ComputationProblem(ValueError):
    """A value cannot be computed; the message is for the model."""


@dataclass(frozen=True, slots=True)
class NamedCell:
    """A cell that a model can use in a computation.

    Attributes
    ----------
    name : str
        Such as ``c1``.
    found : FoundCell
    document : DocumentInfo
    chunk_id : int or None
        The chunk that contains its row.
    scale : int or None
        Power of ten of its figure, from the cell or else its table; ``None`` if it is not stated or does not apply.
    """

    name: str
    found: FoundCell
    document: DocumentInfo
    chunk_id: int | None
    scale: int | None

    @property
    def value(self) -> Decimal:
        return self.found.value if self.found.number.power else self.found.value.scaleb(self.scale or 0)

    @property
    def page(self) -> PageKey:
        return self.document.version_id, self.found.page_index

    @property
    def text(self) -> str:
        """The text of the cell with its unit."""
        scale = "" if self.found.number.power else _SCALE_WORDS.get(self.scale, "")
        return self.found.text if not scale or scale in self.found.text.casefold() else f"{self.found.text} {scale}"

    @property
    def description(self) -> str:
        """The labels of the row and the column, and the text of the cell."""
        header = f" ({self.found.header})" if self.found.header else ""
        return f"{self.found.label}{header} {self.text}"


@dataclass(frozen=True, slots=True)
class ComputedValue:
    """A value with the expression over cells from which it was computed."""

    text: str
    expression: str
    cells: Mapping[str, NamedCell]

    def pieces(self) -> Iterable[tuple[str, NamedCell | None]]:
        """Yield the value and its computation in pieces of text, each with the cell that it ends with."""
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
    """Numbers passages and names cells in the order in which tools return them."""

    def __init__(self) -> None:
        self.cells: dict[str, NamedCell] = {}
        self.computed: list[ComputedValue] = []
        self.rows: dict[int, ChunkRow] = {}
        self._numbers: dict[str, int] = {}

    @property
    def chunk_ids(self) -> dict[int, int]:
        """The chunk ids of the passages by their numbers."""
        return {number: int(chunk_id) for chunk_id, number in self._numbers.items()}

    def number_passages(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return passages with their numbers as ranks; a passage that was returned before keeps its number."""
        return [replace(one, rank=self._numbers.setdefault(one.chunk_id, len(self._numbers) + 1)) for one in passages]

    def add_chunks(self, rows: Sequence[ChunkRow]) -> list[Passage]:
        """Return chunks as numbered passages."""
        self.rows |= {row.id: row for row in rows}
        return self.number_passages([build_passage(0, row, {}) for row in rows])

    def name_cell(
        self, found: FoundCell, document: DocumentInfo, scale: int | None, rows: Sequence[ChunkRow]
    ) -> NamedCell:
        """Return a cell with a name; a cell that was named before keeps its name.

        ``rows`` are the chunks of its page. The one that contains its row becomes a passage.
        """
        for cell in self.cells.values():
            if (cell.page, cell.found.cell) == ((document.version_id, found.page_index), found.cell):
                return cell
        start, end = found.start, found.end
        around = [row for row in rows if row.page_index == found.page_index and row.start <= start]
        # A chunk that contains the whole row is preferred to one that contains only its start.
        around = [row for row in around if end <= row.start + len(row.text)] or around[-1:]
        self.add_chunks(around[:1])
        name = f"c{len(self.cells) + 1}"
        chunk_id = around[0].id if around else None
        power = found.number.power or (scale if found.is_scaled else None)
        self.cells[name] = NamedCell(name, found, document, chunk_id, power)
        return self.cells[name]

    def compute(self, text: str) -> ComputedValue:
        """Return the value of arithmetic over cells; it is added to ``computed`` if it uses a cell.

        Raises
        ------
        ComputationProblem
        """
        names = find_names(text)
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
        computed = ComputedValue(_format(value, _is_amount(text, used), list(used.values())), text, used)
        if used and computed not in self.computed:
            self.computed.append(computed)
        return computed


def _is_amount(text: str, used: Mapping[str, NamedCell]) -> bool:
    """Return whether a computed value grows with the amounts in it, so that it has their unit; a ratio does not.

    Other values replace those of the cells: the difference of two equal amounts is 0, and so is ten times it, so that
    the true values would not show whether the result grows.
    """
    examples = {name: Decimal("7.3") ** exponent for exponent, name in enumerate(used, 1)}
    tenfold = {name: one * 10 if used[name].found.is_scaled else one for name, one in examples.items()}
    value = compute_arithmetic(text, examples)
    return value is not None and value != 0 and compute_arithmetic(text, tenfold) == value * 10


def _format(value: Decimal, is_amount: bool, cells: Sequence[NamedCell]) -> str:
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
