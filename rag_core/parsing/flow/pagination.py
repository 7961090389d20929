"""Divide the content of a file into pages, and place its texts, tables and pictures on the pages."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from rag_core.parsing.flow.content import Block, Cell, PageStart, PictureBlock, TableBlock, TextBlock
from rag_core.parsing.flow.header_rows import count_header_rows, find_sections
from rag_core.parsing.flow.lines import TextLine, break_lines
from rag_core.parsing.flow.typefaces import measure

# Margin of a page, and padding of a cell, in points.
MARGIN = 56.0
PAD = 4.0
# Width of the strip for row numbers, and height of the strip for column letters, on the page of a sheet, in points.
GUTTER = 40.0
LETTERS = 16.0
# Sizes of text in points, and distance between lines as a multiple of the size.
BODY = 10.5
TABLE_SIZE = 9.0
HEADING_SIZES = (18.0, 15.0, 13.0, 12.0, 11.5, 11.0)
LEADING = 1.35
_GAP, _ITEM_GAP, _HEADING_GAP = 6.0, 1.5, 12.0
# A heading is moved to the next page if fewer lines than this have room below it.
_KEPT_LINES = 3
# Maximum number of texts above a table that form its caption, and maximum number of words of each.
_MAX_CAPTION_TEXTS = 3
_MAX_CAPTION_WORDS = 18
# Limits on the width of a column in points. The width depends on the cells of the first and the last `_SAMPLE_ROWS`.
_MIN_COLUMN_WIDTH = 24.0
_MAX_COLUMN_WIDTH = 230.0
_SAMPLE_ROWS = 300
_MIN_SHEET_WIDTH = 480.0
# Minimum width of the lines of texts in a sheet, which extend over the cells beside them.
_SHEET_TEXT_WIDTH = 800.0
# Ratio of width to height of a wide page of a sheet.
_SHEET_RATIO = 1.6


def choose_text_size(block: TextBlock) -> float:
    """Return the size of the characters of a text in points."""
    return BODY if block.level is None else HEADING_SIZES[min(block.level, len(HEADING_SIZES) - 1)]


def choose_text_indent(block: TextBlock) -> float:
    """Return the indent of a text in points."""
    return 18.0 * min(block.indent, 8)


def is_bold(block: TextBlock) -> bool:
    return block.is_bold or block.level is not None


@dataclass(frozen=True, slots=True)
class PlacedText:
    """Lines of a text on a page, from ``top`` down; ``is_start`` says whether the text begins with these lines."""

    block: TextBlock
    lines: Sequence[TextLine]
    top: float
    is_start: bool


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """Rows of a table on a page.

    ``rows`` are the indices of the rows, first those of a repeated header. ``first_page`` is the index of the page on
    which the table begins.
    """

    table: TableLayout
    rows: Sequence[int]
    top: float
    first_page: int


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture on a page, with its size on the page in points."""

    block: PictureBlock
    top: float
    width: float
    height: float


Item = PlacedText | PlacedTable | PlacedPicture


@dataclass(slots=True)
class LaidOutPage:
    """A page with its index, its size in points, and its items from the top down."""

    index: int
    start: PageStart
    width: float
    height: float
    items: list[Item] = field(default_factory=list)


class TableLayout:
    """A table with the places of its columns and the heights of its rows."""

    def __init__(self, block: TableBlock, width: float, caption: tuple[str, ...]) -> None:
        self.block = block
        self.caption = caption
        self.header_rows = count_header_rows(block)
        self.column_count = block.width
        self.lefts = self._place_columns(width)

    def _place_columns(self, width: float) -> list[float]:
        """Return the left ends of the columns and the right end of the last column.

        A column is as wide as its widest cell, but from 24 to 230 points. If all columns together are wider than
        ``width``, they are narrowed, but not below their longest words, so the table may stay wider than ``width``.
        Only cells that cover one column count, in the first and the last 300 rows. A word that is wider than its column
        is divided.
        """
        widths = [_MIN_COLUMN_WIDTH] * self.column_count
        least = list(widths)
        rows = self.block.rows
        for number, row in enumerate([*rows[:_SAMPLE_ROWS], *rows[-_SAMPLE_ROWS:]]):
            for cell in row:
                if cell.column_span == 1:
                    bold = number < self.header_rows
                    widths[cell.column] = max(widths[cell.column], measure(cell.text, TABLE_SIZE, bold) + 2 * PAD + 1)
                    longest = max(cell.text.split(), key=len, default="")
                    least[cell.column] = max(least[cell.column], measure(longest, TABLE_SIZE, bold) + 2 * PAD + 1)
        widths = [min(wanted, _MAX_COLUMN_WIDTH) for wanted in widths]
        least = list(map(min, least, widths))
        if (excess := sum(widths) - width) > 0 and (slack := sum(widths) - sum(least)) > 0:
            share = min(excess / slack, 1.0)
            widths = [wanted - share * (wanted - word) for wanted, word in zip(widths, least, strict=True)]
        return list(accumulate(widths, initial=0.0))

    @cached_property
    def sections(self) -> list[tuple[str, ...]]:
        """The labels of the section of each row."""
        return find_sections(self.block, self.header_rows)

    @cached_property
    def carried(self) -> dict[int, list[Cell]]:
        """The cells that extend into each row from a row above, by the index of the row."""
        carried: dict[int, list[Cell]] = {}
        for number, row in enumerate(self.block.rows):
            for cell in row:
                for below in range(number + 1, self.find_last_row(cell, number) + 1):
                    carried.setdefault(below, []).append(cell)
        return carried

    def find_last_row(self, cell: Cell, row: int) -> int:
        """Return the index of the last row that a cell covers; ``row`` is the index of its first row.

        The row span of a cell also counts the empty rows of a sheet, which have no index.
        """
        last = min(row + cell.row_span, len(self.block.rows)) - 1
        if self.block.numbers:
            numbers = self.block.numbers
            last = bisect_left(numbers, numbers[row] + cell.row_span, row + 1, last + 1) - 1
        return last

    @property
    def width(self) -> float:
        """Width of all columns in points."""
        return self.lefts[-1]

    def measure_cell(self, cell: Cell) -> float:
        """Return the width of the columns that a cell covers, in points."""
        return self.lefts[min(cell.column + cell.column_span, len(self.lefts) - 1)] - self.lefts[cell.column]

    def break_cell(self, cell: Cell, row: int) -> list[TextLine]:
        """Return the lines of a cell, which are bold in a header row."""
        return break_lines(cell.text, self.measure_cell(cell) - 2 * PAD, TABLE_SIZE, row < self.header_rows)

    @cached_property
    def heights(self) -> list[float]:
        """The height of each row in points."""
        leading = LEADING * TABLE_SIZE
        heights = [leading + PAD] * len(self.block.rows)
        for row, cells in enumerate(self.block.rows):
            for cell in cells:
                # Most cells are a single line, so breaking them would only take time.
                if measure(cell.text, TABLE_SIZE, row < self.header_rows) <= self.measure_cell(cell) - 2 * PAD:
                    continue
                last = self.find_last_row(cell, row)
                needed = leading * len(self.break_cell(cell, row)) + PAD
                heights[last] = max(heights[last], needed - sum(heights[row:last]))
        return heights


def paginate(blocks: Sequence[Block]) -> list[LaidOutPage]:
    """Return the pages on which blocks are laid out, at least one."""
    pages = _Pages()
    for number, block in enumerate(blocks):
        if isinstance(block, PageStart):
            pages.begin(block)
        elif isinstance(block, TextBlock):
            pages.add_text(block)
        elif isinstance(block, PictureBlock):
            pages.add_picture(block)
        elif block.width:
            pages.add_table(block, _find_caption(blocks[max(number - _MAX_CAPTION_TEXTS, 0) : number]))
    pages.fit_sheet_pages()
    return pages.pages or [LaidOutPage(0, PageStart(), *PageStart().size)]


def _measure_width(item: Item) -> float:
    if isinstance(item, PlacedTable):
        return item.table.width
    if isinstance(item, PlacedPicture):
        return item.width
    return max(line[-1].x + line[-1].width for line in item.lines)


def _measure_height(item: Item) -> float:
    if isinstance(item, PlacedTable):
        return sum(item.table.heights[row] for row in item.rows)
    return item.height if isinstance(item, PlacedPicture) else LEADING * choose_text_size(item.block) * len(item.lines)


def _find_caption(above: Sequence[Block]) -> tuple[str, ...]:
    """Return the short texts directly above a table, up to the nearest heading, from top to bottom."""
    caption: list[str] = []
    for block in reversed(above):
        if not isinstance(block, TextBlock) or len(block.text.split()) > _MAX_CAPTION_WORDS or block.text.endswith("."):
            break
        caption.insert(0, " ".join(block.text.split()))
        if block.level is not None:
            break
    return tuple(caption)


class _Pages:
    """The pages so far; ``_y`` is the distance of the next item from the top of the last page, in points."""

    def __init__(self) -> None:
        self.pages: list[LaidOutPage] = []
        self._start = PageStart()
        self._y = 0.0

    def begin(self, start: PageStart) -> None:
        self._start = start
        self._add_page()

    def _add_page(self) -> LaidOutPage:
        page = LaidOutPage(len(self.pages), self._start, *self._start.size)
        self.pages.append(page)
        self._y = MARGIN
        return page

    def fit_sheet_pages(self) -> None:
        """Fit each spreadsheet page to its content, so that a picture of the page shows the content large."""
        for page in self.pages:
            if page.start.is_sheet and page.items:
                last = page.items[-1]
                page.height = last.top + _measure_height(last) + MARGIN
                page.width = max(_MIN_SHEET_WIDTH, *(_measure_width(item) + 2 * MARGIN + GUTTER for item in page.items))

    @property
    def _page(self) -> LaidOutPage:
        return self.pages[-1] if self.pages else self._add_page()

    @property
    def _room(self) -> float:
        """Height that is left on the page, in points."""
        return self._page.height - MARGIN - self._y

    def _choose_gap(self, block: TextBlock) -> float:
        """Return the distance of a text from the item above."""
        if not self._page.items:
            return 0.0
        if block.level is not None:
            return _HEADING_GAP
        above = self._page.items[-1]
        continues = block.is_compact and isinstance(above, PlacedText) and above.block.is_compact
        return _ITEM_GAP if continues else _GAP

    def add_text(self, block: TextBlock) -> None:
        size = choose_text_size(block)
        leading = LEADING * size
        width = self._page.width - 2 * MARGIN - choose_text_indent(block)
        if self._page.start.is_sheet:
            width = max(width, _SHEET_TEXT_WIDTH)
        lines = break_lines(block.text, width, size, is_bold(block))
        self._y += self._choose_gap(block)
        kept = len(lines) + (_KEPT_LINES if block.level is not None else 0)
        if self._page.items and self._room < leading * min(kept, 8) and kept <= 8:
            self._add_page()
        first = True
        while lines:
            count = max(int(self._room / leading), 0)
            if not count:
                self._add_page()
                continue
            self._page.items.append(PlacedText(block, lines[:count], self._y, first))
            self._y += leading * len(lines[:count])
            lines, first = lines[count:], False

    def add_picture(self, block: PictureBlock) -> None:
        """Add a picture at its size, or as large as a page allows."""
        page = self._page
        most = page.width - 2 * MARGIN, page.start.size[1] - 2 * MARGIN
        scale = min(1.0, most[0] / block.size[0], most[1] / block.size[1])
        width, height = (scale * side for side in block.size)
        self._y += _GAP if self._page.items else 0.0
        if self._page.items and self._room < height:
            self._add_page()
        self._page.items.append(PlacedPicture(block, self._y, width, height))
        self._y += height

    def add_table(self, block: TableBlock, caption: tuple[str, ...]) -> None:
        """Add a table, divided between rows if necessary; each further page repeats a header that is not too high."""
        start = self._page.start
        table = TableLayout(block, self._page.width - 2 * MARGIN, caption)
        heights, header = table.heights, list(range(table.header_rows))
        header_height = sum(heights[: table.header_rows])
        self._y += _GAP if self._page.items else 0.0
        top = LETTERS if start.is_sheet else 0.0
        width = table.width + 2 * MARGIN + (GUTTER if start.is_sheet else 0.0)
        if self._page.items and self._room < top + sum(heights[: table.header_rows + 2]):
            self._add_page()
        first_page = self._page.index
        row = 0
        while row < len(heights):
            repeats = row > table.header_rows and header_height < self._page.height / 3
            rows = list(header) if repeats else []
            y = begin = self._y + top
            y += header_height if repeats else 0.0
            self._page.width = max(self._page.width, width)
            if start.is_sheet:
                self._page.height = max(self._page.height, self._page.width / _SHEET_RATIO)
            bottom = self._page.height - MARGIN
            count = 0
            while row < len(heights) and (not count or y + heights[row] <= bottom):
                rows.append(row)
                y += heights[row]
                row, count = row + 1, count + 1
            if y > bottom:  # the page grows with a row that is higher than a page
                self._page.height = y + MARGIN
            self._page.items.append(PlacedTable(table, rows, begin, first_page))
            self._y = y
            if row < len(heights):
                self._add_page()
