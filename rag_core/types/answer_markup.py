"""Parse the formatting in the text of an answer: Markdown tables, and bold text between ``**``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
# The second line of a Markdown table, such as ``|---|:--|``.
_DELIMITER_ROW = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
_CELL_BOUNDARY = re.compile(r"(?<!\\)\|")
_BLANK_LINES = re.compile(r"\n\s*\n")
# Replaces asterisks of quotes during parsing. This Unicode noncharacter does not occur in text.
_QUOTED_ASTERISK = "\ufdd1"


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text that is either all bold or all regular."""

    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, whose lines are separated by line feeds."""

    runs: tuple[Run, ...]

    @classmethod
    def of(cls, text: str) -> Paragraph:
        """Return a paragraph of regular text."""
        return cls((Run(text),))


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table as rows of cells. The first row is the header, and all rows have the same number of cells."""

    rows: tuple[tuple[tuple[Run, ...], ...], ...]


def parse_answer_text(text: str, quotes: Iterable[str] = ()) -> list[Paragraph | TextTable]:
    """Return the paragraphs and tables of the text of an answer.

    Parameters
    ----------
    text : str
        Consecutive lines that begin with ``|`` are a table if the second line is a row of dashes, such as
        ``|---|---|``, with as many cells as the first line. A ``|`` in a cell is written ``\\|``.
    quotes : iterable of str
        Quotes from documents. Their asterisks are not formatting.
    """
    for quote in quotes:
        one_line = " ".join(quote.split())
        text = text.replace(one_line, one_line.replace("*", _QUOTED_ASTERISK))
    return [block for part in _BLANK_LINES.split(text) for block in _parse_part(part.strip("\n").split("\n"))]


def remove_formatting(text: str) -> str:
    """Return a text without the ``**`` around bold text."""
    return _BOLD.sub(r"\1", text)


def _parse_part(lines: Sequence[str]) -> Iterator[Paragraph | TextTable]:
    paragraph: list[str] = []
    position = 0
    while position < len(lines):
        end = _find_table_end(lines, position)
        if end == position:
            paragraph.append(lines[position])
            position += 1
            continue
        yield from _build_paragraph(paragraph)
        paragraph = []
        yield _build_table([lines[position], *lines[position + 2 : end]])
        position = end
    yield from _build_paragraph(paragraph)


def _find_table_end(lines: Sequence[str], start: int) -> int:
    """Return the index after the last line of the table that begins at ``start``; ``start`` if none begins there."""
    if start + 1 >= len(lines) or not lines[start].startswith("|") or not _DELIMITER_ROW.fullmatch(lines[start + 1]):
        return start
    if len(_split_cells(lines[start])) != len(_split_cells(lines[start + 1])):
        return start
    end = start + 2
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return end


def _build_paragraph(lines: Sequence[str]) -> Iterator[Paragraph]:
    """Yield the paragraph of the lines, or nothing if all lines are blank."""
    if any(line.strip() for line in lines):
        yield Paragraph(_split_runs("\n".join(lines)))


def _build_table(lines: Sequence[str]) -> TextTable:
    rows = [_split_cells(line) for line in lines]
    width = max(map(len, rows))
    return TextTable(tuple(tuple(map(_split_runs, (*row, *[""] * (width - len(row))))) for row in rows))


def _split_cells(line: str) -> list[str]:
    cells = _CELL_BOUNDARY.split(line.strip())[1:]
    if cells and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _split_runs(text: str) -> tuple[Run, ...]:
    """Return the bold and the regular pieces of a text in order."""
    # The pattern has one group, so that each second piece is bold.
    pieces = enumerate(_BOLD.split(text))
    return tuple(Run(piece.replace(_QUOTED_ASTERISK, "*"), index % 2 == 1) for index, piece in pieces if piece)
