"""Build a page from its placed items: the text, the boxes of the words, the tables, and the drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from time import monotonic

import numpy as np

from rag_core.parsing.flow.content import Cell, PictureBlock
from rag_core.parsing.flow.header_rows import is_section
from rag_core.parsing.flow.lines import TextLine
from rag_core.parsing.flow.pagination import (
    GUTTER,
    LEADING,
    LETTERS,
    MARGIN,
    PAD,
    TABLE_SIZE,
    Item,
    LaidOutPage,
    PlacedPicture,
    PlacedTable,
    PlacedText,
    TableLayout,
    choose_text_indent,
    choose_text_size,
    is_bold,
)
from rag_core.parsing.flow.pictures import PictureText, move_picture_text
from rag_core.parsing.flow.typefaces import measure
from rag_core.parsing.tables.finder import find_unit
from rag_core.text.struck import MARK
from rag_core.types.cells import format_column
from rag_core.types.documents import STRUCK, HeadingLine, Page, PageState, ParsedPage, WordBoxes
from rag_core.types.tables import Span, Table, TableCell, TableRow

_MAX_HEADING = 110
# Distance from the top of a line to its baseline, as a share of the size of the characters.
_BASELINE = 1.0
# Size of the letters of columns and the numbers of rows.
_LETTER_SIZE = 7.5
# Time limit for the pictures of a page, which is shorter than the limit for the page, so that the text is always read.
_PICTURE_SECONDS = 20.0
_MAX_LISTED_PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class DrawnWord:
    """A word to draw, with all lengths in points.

    ``x`` is the left end of the word, ``y`` the baseline, ``size`` the font size, and ``width`` the largest width at
    which the word may be drawn.
    """

    text: str
    x: float
    y: float
    width: float
    size: float
    bold: bool = False
    is_struck: bool = False
    is_grey: bool = False


@dataclass(slots=True)
class Drawing:
    """The drawing of a page: words, pictures with their boxes, and the boxes of borders, ``x0, y0, x1, y1``."""

    words: list[DrawnWord] = field(default_factory=list)
    pictures: list[tuple[PictureBlock, float, float, float, float]] = field(default_factory=list)
    borders: list[tuple[float, float, float, float]] = field(default_factory=list)


class PageBuilder:
    """Write the text of one page, and record the places of its words and tables.

    Parameters
    ----------
    laid_out : LaidOutPage
    recognize : callable or None
        Function that returns the text of a picture; ``None`` if pictures are not read.
    problems : sequence of str
        Messages about parts of the file that were left out.
    """

    def __init__(
        self,
        laid_out: LaidOutPage,
        recognize: Callable[[PictureBlock], PictureText] | None,
        problems: Sequence[str] = (),
    ) -> None:
        self._page = laid_out
        self._recognize = recognize
        self._until = monotonic() + _PICTURE_SECONDS
        self._text: list[str] = []
        self._length = 0
        self._spans: list[Span] = []
        self._rects: list[tuple[float, float, float, float]] = []
        self._tables: list[Table] = []
        self._headings: list[HeadingLine] = []
        self._divided: list[tuple[int, str, str]] = []
        self._confidences: list[float] = []
        self._reasons = [_describe_problems(problems)] if problems else []
        self.drawing = Drawing()
        self._left = MARGIN + (GUTTER if laid_out.start.is_sheet else 0.0)
        self._previous: Item | None = None
        for item in laid_out.items:
            if isinstance(item, PlacedText):
                self._add_text(item)
            elif isinstance(item, PlacedPicture):
                self._add_picture(item)
            else:
                self._add_table(item)
            self._previous = item

    @cached_property
    def parsed(self) -> ParsedPage:
        """The page, with an empty label and an empty heading."""
        page, text = self._page, "".join(self._text)
        starts, ends = (np.array([span[at] for span in self._spans], np.int32) for at in (0, 1))
        rects = np.array(self._rects, np.float32).reshape(-1, 4) / np.array([page.width, page.height] * 2, np.float32)
        return ParsedPage(
            Page(
                page.index,
                "",
                text,
                self._find_state(text),
                page.width,
                page.height,
                reason="; ".join(dict.fromkeys(self._reasons)),
                confidence=round(float(np.mean(self._confidences)), 4) if self._confidences else None,
                boxes=WordBoxes(starts, ends, np.clip(rects, 0.0, 1.0)),
                tables=tuple(self._tables),
            ),
            tuple(self._headings),
            tuple(self._divided),
        )

    def _find_state(self, text: str) -> PageState:
        if self._confidences:
            has_text = any(not isinstance(item, PlacedPicture) for item in self._page.items)
            return PageState.MIXED if has_text else PageState.OCR
        return PageState.TEXT if text.strip() else PageState.EMPTY

    def _write(self, text: str) -> None:
        self._text.append(text)
        self._length += len(text)

    def _separate(self, separator: str) -> None:
        if self._length:
            self._write(separator)

    def _add_words(
        self, text: str, lines: Sequence[TextLine], left: float, top: float, size: float, bold: bool, right: float = 0.0
    ) -> Span:
        """Append the lines of a text to the page, record their words, and return their span in the page text.

        The lines begin at ``left`` or, if ``right`` is not 0, end at ``right``.
        """
        first, last = lines[0], lines[-1]
        # The words of a right-to-left text are not in the order of the text.
        origin, end = min(word.start for word in first), max(word.end for word in last)
        shift = self._length - origin
        self._write(text[origin:end])
        struck = _find_struck(text)
        for number, line in enumerate(lines):
            baseline = top + LEADING * size * number + _BASELINE * size
            moved = right - line[-1].x - line[-1].width if right else left
            for word in line:
                x = moved + word.x
                self._spans.append((word.start + shift, word.end + shift))
                self._rects.append((x, baseline - 0.85 * size, x + max(word.width, 0.5), baseline + 0.25 * size))
                is_struck = any(start <= word.start < stop for start, stop in struck)
                shown = text[word.start : word.end].replace(MARK, "")
                self.drawing.words.append(DrawnWord(shown, x, baseline, word.width, size, bold, is_struck))
        return origin + shift, end + shift

    def _add_text(self, placed: PlacedText) -> None:
        block = placed.block
        before = self._previous.block if isinstance(self._previous, PlacedText) else None
        continues = before is not None and ((block.is_compact and before.is_compact) or (block.row and before.row))
        self._separate("\n" if continues else "\n\n")
        size, bold = choose_text_size(block), is_bold(block)
        left = self._left + choose_text_indent(block)
        start, end = self._add_words(block.text, placed.lines, left, placed.top, size, bold)
        if bold and placed.is_start and end - start <= _MAX_HEADING and not block.text.endswith((".", ",", ";")):
            self._headings.append(HeadingLine(start, end, size, bold))
        if block.row:
            self._draw_small(str(block.row), MARGIN, placed.top + _BASELINE * size)

    def _add_picture(self, placed: PlacedPicture) -> None:
        right, bottom = self._left + placed.width, placed.top + placed.height
        self.drawing.pictures.append((placed.block, self._left, placed.top, right, bottom))
        if self._recognize is None:
            return
        if monotonic() > self._until:
            self._reasons.append("some of its pictures were not read, because text recognition took too long")
            return
        found = self._recognize(placed.block)
        self._reasons += [found.reason] if found.reason else []
        if found.text:
            self._separate("\n\n")
            found = move_picture_text(found, self._length, self._left, placed.top, placed.width, placed.height)
            self._write(found.text)
            self._spans += zip(found.boxes.starts.tolist(), found.boxes.ends.tolist(), strict=True)
            self._rects += map(tuple, found.boxes.rects.tolist())
            self._tables += found.tables
            self._divided += found.divided
            self._confidences += found.confidences

    def _add_table(self, placed: PlacedTable) -> None:
        table, block = placed.table, placed.table.block
        self._separate("\n\n")
        y = placed.top
        if self._page.start.is_sheet:
            self._draw_letters(table, y)
        rows: list[TableRow] = []
        for number in placed.rows:
            cells = [self._add_cell(table, cell, number, y) for cell in block.rows[number]]
            cells += [TableCell(cell.text, (), cell.column, cell.column_span) for cell in table.carried.get(number, ())]
            if block.numbers:
                self._draw_small(str(block.numbers[number]), MARGIN, y + PAD / 2 + _BASELINE * TABLE_SIZE)
            if cells:
                cells.sort(key=lambda cell: cell.column)
                begins_section = is_section(block, number) and number >= table.header_rows
                sheet_row = block.numbers[number] if block.numbers else 0
                rows.append(TableRow(tuple(cells), table.sections[number], is_section=begins_section, number=sheet_row))
                self._write("\n")
            y += table.heights[number]
        if rows:  # remove the last line end
            self._text.pop()
            self._length -= 1
        self._append_table(placed, rows)

    def _append_table(self, placed: PlacedTable, rows: list[TableRow]) -> None:
        """Append the part of a table on this page to the tables of the page.

        A part without header rows gets the header of the table, whose cells then have no spans. Nothing is appended if
        no row below the header has text on this page, or if the table has a single column.
        """
        table = placed.table
        shown = sum(number < table.header_rows for number in placed.rows)
        if not any(cell.spans for row in rows[shown:] for cell in row.cells) or table.column_count < 2:
            return
        headers = rows[: sum(bool(table.block.rows[number]) for number in range(shown))]
        body = rows[len(headers) :]
        if not headers:
            headers = [
                TableRow(tuple(TableCell(cell.text, (), cell.column, cell.column_span, True) for cell in cells))
                for cells in table.block.rows[: table.header_rows]
                if cells
            ]
        lefts = [round(self._left + left, 1) for left in table.lefts]
        header_cells = [cell for row in headers for cell in row.cells]
        self._tables.append(
            Table(
                (*headers, *body),
                len(headers),
                tuple(pairwise(lefts)),
                table.caption,
                find_unit(table.caption[::-1], header_cells),
                placed.first_page if placed.first_page != self._page.index else None,
                table.block.first_column,
            )
        )

    def _add_cell(self, table: TableLayout, cell: Cell, number: int, y: float) -> TableCell:
        is_header = number < table.header_rows
        text = " ".join(STRUCK.sub(" ", cell.text).split())
        left = self._left + table.lefts[cell.column]
        width = table.measure_cell(cell)
        bottom = y + sum(table.heights[number : table.find_last_row(cell, number) + 1])
        self.drawing.borders.append((left, y, left + width, bottom))
        lines = table.break_cell(cell, number)
        if not lines:
            return TableCell(text, (), cell.column, cell.column_span, is_header)
        right = left + width - PAD if cell.is_figure and len(lines) == 1 else 0.0
        if self._length and self._text and not self._text[-1].endswith("\n"):
            self._write(" ")
        span = self._add_words(cell.text, lines, left + PAD, y + PAD / 2, TABLE_SIZE, is_header, right)
        return TableCell(text, (span,), cell.column, cell.column_span, is_header)

    def _draw_small(self, text: str, x: float, y: float) -> None:
        width = measure(text, _LETTER_SIZE)
        self.drawing.words.append(DrawnWord(text, x, y, width, _LETTER_SIZE, is_grey=True))

    def _draw_letters(self, table: TableLayout, top: float) -> None:
        for column, (left, right) in enumerate(pairwise(table.lefts)):
            letters = format_column(table.block.first_column + column)
            middle = self._left + (left + right - measure(letters, _LETTER_SIZE)) / 2
            self._draw_small(letters, middle, top - LETTERS / 3)


def _describe_problems(problems: Sequence[str]) -> str:
    more = f"; and {len(problems) - _MAX_LISTED_PROBLEMS} more" if len(problems) > _MAX_LISTED_PROBLEMS else ""
    return f"parts that cannot be read were left out ({'; '.join(problems[:_MAX_LISTED_PROBLEMS])}{more})"


def _find_struck(text: str) -> list[Span]:
    """Return the spans between marks of struck words."""
    if MARK not in text:
        return []
    marks = [place for place in range(len(text) - 1) if text.startswith(MARK, place)]
    return list(zip(marks[::2], marks[1::2], strict=False))
