"""The content of a file without pages: headings, paragraphs, tables and pictures in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_core.parsing.characters import clean_word, needs_cleaning
from rag_core.text.struck import MARK, escape_marks

# Readers put this sign before and after struck words; `clean_words` replaces the sign by `MARK`.
STRUCK_SIGN = "\x01"
# Maximum number of columns that a cell may cover.
_MAX_SPAN = 500
PORTRAIT, LANDSCAPE = (595.0, 842.0), (842.0, 595.0)


@dataclass(frozen=True, slots=True)
class PageStart:
    """The start of a page, such as a slide or a sheet.

    Attributes
    ----------
    label : str
        Label of the page in citations; empty if the page number is the label. The label of a sheet is its name, to
        which the cells of each page are added, as in "Sales!A1:F40".
    size : tuple of (float, float)
        Width and height in points. A page grows if a table needs more, and a page of a sheet is then cropped to its
        content.
    is_sheet : bool
        Whether the page shows the letters of columns and the numbers of rows.
    problem : str
        The reason why the page cannot be read; empty if it can be read.
    """

    label: str = ""
    size: tuple[float, float] = PORTRAIT
    is_sheet: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A heading, a paragraph or an item of a list.

    Attributes
    ----------
    text : str
        The lines as the file shows them, without needless white space.
    level : int or None
        Level of a heading, from 0 for an outermost heading; ``None`` for other text.
    indent : int
        Number of steps by which the text is indented.
    is_compact : bool
        Whether the text follows a compact text without a blank line, as list items and footnotes do.
    is_bold : bool
        Whether all of the text is bold; false for a bold paragraph that is too long for a heading.
    row : int
        Number of the row of a sheet that contains the text, from 1; 0 for a text that is not in a row.
    """

    text: str
    level: int | None = None
    indent: int = 0
    is_compact: bool = False
    is_bold: bool = False
    row: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """A non-empty cell of a table.

    Attributes
    ----------
    text : str
    column : int
        Index of the first column that the cell covers, counted from the first column of the table.
    column_span, row_span : int
        Numbers of columns and rows that the cell covers.
    is_figure : bool
        Whether the text is a number, a date or another value rather than words.
    """

    text: str
    column: int
    column_span: int = 1
    row_span: int = 1
    is_figure: bool = False


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table.

    Attributes
    ----------
    rows : sequence of sequence of Cell
        The non-empty cells of each row from left to right.
    header_rows : int or None
        Number of header rows at the top; ``None`` if the file does not state it.
    numbers : sequence of int
        The number of each row in its sheet; empty in other files.
    first_column : int
        Index in the sheet of the first column of the table; 0 in other files.
    """

    rows: Sequence[Sequence[Cell]]
    header_rows: int | None = None
    numbers: Sequence[int] = ()
    first_column: int = 0

    @property
    def width(self) -> int:
        """Number of columns."""
        return max((cell.column + cell.column_span for row in self.rows for cell in row), default=0)


@dataclass(frozen=True, slots=True)
class PictureBlock:
    """A picture: its file, and the size in points at which it is shown."""

    data: bytes
    size: tuple[float, float]


Block = PageStart | TextBlock | TableBlock | PictureBlock


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file that a mail contains."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file; ``problems`` are messages about parts that were left out."""

    blocks: Sequence[Block]
    attachments: Sequence[AttachedFile] = ()
    problems: Sequence[str] = ()


def clean_text(text: str) -> str:
    """Return a text whose lines are cleaned with `clean_words`; empty lines are left out."""
    return "\n".join(filter(None, (clean_words(line) for line in text.splitlines())))


def clean_words(text: str) -> str:
    """Return a text as one line without control characters, with `MARK` for each `STRUCK_SIGN`.

    Tildes that would be read as a mark are replaced; see `escape_marks`.
    """
    words = escape_marks(text).replace(STRUCK_SIGN, MARK).split()
    if needs_cleaning(text):
        words = [cleaned for word in words if (cleaned := clean_word(word).strip())]
    return " ".join(words)


@lru_cache(maxsize=1 << 16)
def read_cell(text: str, column: int, column_span: int = 1, row_span: int = 1, is_figure: bool | None = None) -> Cell:
    """Return a cell with a cleaned text; if ``is_figure`` is ``None``, `looks_like_figure` decides."""
    text = clean_words(text)
    column_span, row_span = min(max(column_span, 1), _MAX_SPAN), max(row_span, 1)
    return Cell(text, column, column_span, row_span, looks_like_figure(text) if is_figure is None else is_figure)


def looks_like_figure(text: str) -> bool:
    """Return whether a text is a number, possibly with signs and a short unit after the number.

    >>> looks_like_figure("(1,204)"), looks_like_figure("12.5 %"), looks_like_figure("Q3 2024")
    (True, True, False)
    """
    digits = sum(map(str.isdecimal, text))
    return digits > 0 and sum(map(str.isalpha, text)) <= min(digits, 3) and not text[0].isalpha()
