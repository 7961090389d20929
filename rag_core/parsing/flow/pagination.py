"""Divide the content of a file into pages, and place its lines and tables on them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rag_core.parsing.flow.content import Block, Cell, PageStart, PictureBlock, TableBlock, TextBlock
from rag_core.parsing.flow.header_rows import count_header_rows, find_sections
from rag_core.parsing.flow.lines import TextLine, break_lines
from rag_core.parsing.flow.typefaces import measure

MARGIN, PAD = 56.0, 4.0
# Place for the numbers of rows and the letters of columns of a sheet.
GUTTER, LETTERS = 40.0, 16.0
BODY, TABLE_SIZE, LEADING = 10.5, 9.0, 1.35
HEADING_SIZES = (18.0, 15.0, 13.0, 12.0, 11.5, 11.0)
_GAP, _ITEM_GAP, _HEADING_GAP = 6.0, 1.5, 12.0
# Lines that stay with the heading above them.
_KEPT_LINES = 3
# Most texts above a table that are its caption, and most words of each of them.
_CAPTION_TEXTS, _CAPTION_WORDS = 3, 18
# Least and greatest width of a column, and the rows whose cells choose it.
_NARROWEST, _WIDEST, _SAMPLE = 24.0, 230.0, 300
_NARROWEST_SHEET = 480.0


def text_size(block: TextBlock) -> float:
    """Return the size of the characters of a text in points."""
    return BODY if block.level is None else HEADING_SIZES[min(block.level, len(HEADING_SIZES) - 1)]


def text_indent(block: TextBlock) -> float:
    """Return the indent of a text in points."""
    return 18.0 * min(block.indent, 8)


def is_bold(block: TextBlock) -> bool:
    return block.is_bold or block.level is not None


@dataclass(frozen=True, slots=True)
class PlacedText:
    """Lines of a text on a page, of which the first is at ``top``; ``is_start`` says whether the text begins here."""

    block: TextBlock
    lines: Sequence[TextLine]
    top: float
    is_start: bool


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """Rows of a table on a page, by their indexes; ``first_page`` is the page on which the table begins."""

    table: TableLayout
    rows: Sequence[int]
    top: float
    first_page: int


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture on a page, with its size there in points."""

    block: PictureBlock
    top: float
    width: float
    height: float


Item = PlacedText | PlacedTable | PlacedPicture


@dataclass(slots=True)
class LaidOutPage:
    """A page: its place in the file, its size in points, and what is on it from the top down."""

    index: int
    start: PageStart
    width: float
    height: float
    items: list[Item] = field(default_factory=list)


class TableLayout:
    """The places of the columns and the heights of the rows of a table."""

    def __init__(self, block: TableBlock, width: float, caption: tuple[str, ...]) -> None:
        self.block = block
        self.caption = caption
        self.header_rows = count_header_rows(block)
        self.column_count = block.width
        self.lefts = self._place_columns(width)

    def _place_columns(self, width: float) -> list[float]:
        """Return the left ends of the columns, and the right end of the last one."""
        wanted = [_NARROWEST] * self.column_count
        least = list(wanted)
        rows = self.block.rows
        for number, row in enumerate([*rows[:_SAMPLE], *rows[-_SAMPLE:]]):
            for cell in row:
                if cell.column_span == 1:
                    bold = number < self.header_rows
                    wanted[cell.column] = max(wanted[cell.column], measure(cell.text, TABLE_SIZE, bold) + 2 * PAD + 1)
                    longest = max(cell.text.split(), key=len, default="")
                    least[cell.column] = max(least[cell.column], measure(longest, TABLE_SIZE, bold) + 2 * PAD + 1)
        wanted = [min(one, _WIDEST) for one in wanted]
        least = [min(one, place) for one, place in zip(least, wanted, strict=True)]
        if (excess := sum(wanted) - width) > 0 and (slack := sum(wanted) - sum(least)) > 0:
            share = min(excess / slack, 1.0)
            wanted = [one - share * (one - place) for one, place in zip(wanted, least, strict=True)]
        lefts = [0.0]
        for one in wanted:
            lefts.append(lefts[-1] + one)
        return lefts

    @cached_property
    def sections(self) -> list[tuple[str, ...]]:
        """The labels of the section of each row."""
        return find_sections(self.block, self.header_rows)

    @cached_property
    def carried(self) -> dict[int, list[Cell]]:
        """The cells over several rows, by the index of each row but the first of them."""
        carried: dict[int, list[Cell]] = {}
        for number, row in enumerate(self.block.rows):
            for cell in row:
                for below in range(number + 1, self.last_row(cell, number) + 1):
                    carried.setdefault(below, []).append(cell)
        return carried

    def last_row(self, cell: Cell, row: int) -> int:
        """Return the index of the last row that a cell covers; the rows of a sheet that are empty have no index."""
        last = min(row + cell.row_span, len(self.block.rows)) - 1
        if self.block.numbers:
            numbers = self.block.numbers
            last = bisect_left(numbers, numbers[row] + cell.row_span, row + 1, last + 1) - 1
        return last

    @property
    def width(self) -> float:
        return self.lefts[-1]

    def cell_width(self, cell: Cell) -> float:
        return self.lefts[min(cell.column + cell.column_span, len(self.lefts) - 1)] - self.lefts[cell.column]

    def cell_lines(self, cell: Cell, row: int) -> list[TextLine]:
        """Return the lines of a cell; the header is bold."""
        return break_lines(cell.text, self.cell_width(cell) - 2 * PAD, TABLE_SIZE, row < self.header_rows)

    @cached_property
    def heights(self) -> list[float]:
        """The height of each row."""
        leading = LEADING * TABLE_SIZE
        heights = [leading + PAD] * len(self.block.rows)
        for row, cells in enumerate(self.block.rows):
            for cell in cells:
                # A cell whose text is short enough for one line needs no breaking.
                if measure(cell.text, TABLE_SIZE, row < self.header_rows) <= self.cell_width(cell) - 2 * PAD:
                    continue
                last = self.last_row(cell, row)
                needed = leading * len(self.cell_lines(cell, row)) + PAD
                heights[last] = max(heights[last], needed - sum(heights[row:last]))
        return heights


def paginate(blocks: Sequence[Block]) -> list[LaidOutPage]:
    """Return the pages of a content; there is at least one."""
    pages = _Pages()
    for number, block in enumerate(blocks):
        if isinstance(block, PageStart):
            pages.begin(block)
        elif isinstance(block, TextBlock):
            pages.add_text(block)
        elif isinstance(block, PictureBlock):
            pages.add_picture(block)
        elif block.width:
            pages.add_table(block, _find_caption(blocks[max(number - _CAPTION_TEXTS, 0) : number]))
    pages.crop_sheets()
    return pages.pages or [LaidOutPage(0, PageStart(), *PageStart().size)]


def _item_width(item: Item) -> float:
    """Return the width of a text, table or picture on a page, in points from its left end."""
    if isinstance(item, PlacedTable):
        return item.table.width
    if isinstance(item, PlacedPicture):
        return item.width
    return max(line[-1].x + line[-1].width for line in item.lines)


def _item_height(item: Item) -> float:
    if isinstance(item, PlacedTable):
        return sum(item.table.heights[row] for row in item.rows)
    return item.height if isinstance(item, PlacedPicture) else LEADING * text_size(item.block) * len(item.lines)


def _find_caption(above: Sequence[Block]) -> tuple[str, ...]:
    """Return the short texts directly above a table, nearest last."""
    caption: list[str] = []
    for block in reversed(above):
        if not isinstance(block, TextBlock) or len(block.text.split()) > _CAPTION_WORDS or block.text.endswith("."):
            break
        caption.insert(0, " ".join(block.text.split()))
        if block.level is not None:
            break
    return tuple(caption)


class _Pages:
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

    def crop_sheets(self) -> None:
        """Shrink or widen the pages of sheets to their content, so that page images show it as large as possible."""
        for page in self.pages:
            if page.start.is_sheet and page.items:
                last = page.items[-1]
                page.height = last.top + _item_height(last) + MARGIN
                page.width = max(_NARROWEST_SHEET, *(_item_width(item) + 2 * MARGIN + GUTTER for item in page.items))

    @property
    def _page(self) -> LaidOutPage:
        return self.pages[-1] if self.pages else self._add_page()

    @property
    def _left(self) -> float:
        return self._page.height - MARGIN - self._y

    def _gap(self, block: TextBlock) -> float:
        if not self._page.items:
            return 0.0
        if block.level is not None:
            return _HEADING_GAP
        above = self._page.items[-1]
        goes_on = block.is_compact and isinstance(above, PlacedText) and above.block.is_compact
        return _ITEM_GAP if goes_on else _GAP

    def add_text(self, block: TextBlock) -> None:
        size = text_size(block)
        leading = LEADING * size
        width = self._page.width - 2 * MARGIN - text_indent(block)
        if self._page.start.is_sheet:
            width = max(width, 800.0)  # texts of sheets overlap the cells beside them
        lines = break_lines(block.text, width, size, is_bold(block))
        self._y += self._gap(block)
        kept = len(lines) + (_KEPT_LINES if block.level is not None else 0)
        if self._page.items and self._left < leading * min(kept, 8) and kept <= 8:
            self._add_page()
        first = True
        while lines:
            count = max(int(self._left / leading), 0)
            if not count:
                self._add_page()
                continue
            self._page.items.append(PlacedText(block, lines[:count], self._y, first))
            self._y += leading * len(lines[:count])
            lines, first = lines[count:], False

    def add_picture(self, block: PictureBlock) -> None:
        """Add a picture at its size, or as large as a page allows."""
        start = self._page
        room = start.width - 2 * MARGIN, start.start.size[1] - 2 * MARGIN
        scale = min(1.0, *(most / wanted for most, wanted in zip(room, block.size, strict=True)))
        width, height = (scale * one for one in block.size)
        self._y += _GAP if self._page.items else 0.0
        if self._page.items and self._left < height:
            self._add_page()
        self._page.items.append(PlacedPicture(block, self._y, width, height))
        self._y += height

    def add_table(self, block: TableBlock, caption: tuple[str, ...]) -> None:
        start = self._page.start
        table = TableLayout(block, self._page.width - 2 * MARGIN, caption)
        heights, header = table.heights, list(range(table.header_rows))
        header_height = sum(heights[: table.header_rows])
        self._y += _GAP if self._page.items else 0.0
        top = LETTERS if start.is_sheet else 0.0
        width = table.width + 2 * MARGIN + (GUTTER if start.is_sheet else 0.0)
        if self._page.items and self._left < top + sum(heights[: table.header_rows + 2]):
            self._add_page()
        first_page = self._page.index
        row = 0
        while row < len(heights):
            repeats = row > table.header_rows and header_height < self._page.height / 3
            rows = list(header) if repeats else []
            y = begin = self._y + top
            y += header_height if repeats else 0.0
            # A wide page shows as much of a sheet as its height at the usual ratio of a page.
            self._page.width = max(self._page.width, width)
            if start.is_sheet:
                self._page.height = max(self._page.height, self._page.width / 1.6)
            bottom = self._page.height - MARGIN
            count = 0
            while row < len(heights) and (not count or y + heights[row] <= bottom):
                rows.append(row)
                y += heights[row]
                row, count = row + 1, count + 1
            if y > bottom:  # a row that is higher than a page makes the page higher
                self._page.height = y + MARGIN
            self._page.items.append(PlacedTable(table, rows, begin, first_page))
            self._y = y
            if row < len(heights):
                self._add_page()
