"""Addresses of spreadsheet cells, such as "Sales!C14" and "Sales!A14:D14"."""

from __future__ import annotations

import re
from itertools import takewhile
from string import ascii_uppercase
from typing import NamedTuple

_ADDRESS = re.compile(
    r"(?:(?P<sheet>.+)!)?\$?(?P<left>[A-Z]{1,3})\$?(?P<top>\d{1,7})(?::\$?(?P<right>[A-Z]{1,3})\$?(?P<bottom>\d{1,7}))?",
    re.DOTALL,
)


class CellRange(NamedTuple):
    """A rectangle of cells. Columns are counted from 0, rows from 1, and all bounds are inclusive.

    ``sheet`` is empty for files that contain a single table, such as CSV files.
    """

    sheet: str
    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def parse(cls, address: str) -> CellRange | None:
        """Return the range of an address; ``None`` if the text is not an address.

        >>> str(CellRange.parse("Sales!$B$2:D7"))
        'Sales!B2:D7'
        """
        match = _ADDRESS.fullmatch(address)
        if match is None:
            return None
        left, top = parse_column(match["left"]), int(match["top"])
        right = parse_column(match["right"]) if match["right"] else left
        bottom = int(match["bottom"] or top)
        return cls(match["sheet"] or "", min(left, right), min(top, bottom), max(left, right), max(top, bottom))

    def __str__(self) -> str:
        first, last = f"{format_column(self.left)}{self.top}", f"{format_column(self.right)}{self.bottom}"
        cells = first if first == last else f"{first}:{last}"
        return f"{self.sheet}!{cells}" if self.sheet else cells

    def overlaps(self, other: CellRange) -> bool:
        """Return whether two ranges have cells in common. The names of their sheets are not compared."""
        across = self.left <= other.right and other.left <= self.right
        return across and self.top <= other.bottom and other.top <= self.bottom


def format_column(column: int) -> str:
    """Return the letters of the column with an index.

    >>> format_column(0), format_column(27)
    ('A', 'AB')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = ascii_uppercase[rest] + letters
    return letters


def parse_column(address: str) -> int:
    """Return the index of the column whose letters stand at the beginning of an address; -1 without letters.

    >>> parse_column("AB7")
    27
    """
    column = 0
    for letter in takewhile(ascii_uppercase.__contains__, address):
        column = column * 26 + ascii_uppercase.index(letter) + 1
    return column - 1
