"""The formatting in the text of an answer: tables in Markdown, and bold text between ``**``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
_DELIMITER = re.compile(r"(?<!\\)\|")
_BLANK_LINES = re.compile(r"\n\s*\n")
# Stands for an asterisk in a quote. It is a Unicode noncharacter, which does not occur in text.
_ASTERISK = "\ufdd1"


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text, in bold type or not."""

    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; its lines are separated by line feeds."""

    runs: tuple[Run, ...]

    @classmethod
    def of(cls, text: str) -> Paragraph:
        """Return a paragraph without bold type."""
        return cls((Run(text),))


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table; the first row is the header, and all rows have the same number of cells."""

    rows: tuple[tuple[tuple[Run, ...], ...], ...]


def parse_answer_text(text: str, quotes: Iterable[str] = ()) -> list[Paragraph | TextTable]:
    """Return the paragraphs and tables of a text.

    Parameters
    ----------
    text : str
        Lines that begin with ``|`` are a table if the second of them is a row of dashes, such as ``|---|---|``, with as
        many cells as the first. A ``|`` in a cell is written ``\\|``.
    quotes : iterable of str
        Quotes from documents. Asterisks in them are ordinary characters.
    """
    for quote in quotes:
        folded = " ".join(quote.split())
        if "*" in folded:
            text = text.replace(folded, folded.replace("*", _ASTERISK))
    return [block for part in _BLANK_LINES.split(text) for block in _parse_part(part.strip("\n").split("\n"))]


def remove_formatting(text: str) -> str:
    """Return a text without the ``**`` around bold text."""
    return _BOLD.sub(r"\1", text)


def _parse_part(lines: Sequence[str]) -> Iterator[Paragraph | TextTable]:
    before: list[str] = []
    position = 0
    while position < len(lines):
        end = _find_table_end(lines, position)
        if end == position:
            before.append(lines[position])
            position += 1
            continue
        yield from _build_paragraph(before)
        before = []
        yield _build_table([lines[position], *lines[position + 2 : end]])
        position = end
    yield from _build_paragraph(before)


def _find_table_end(lines: Sequence[str], start: int) -> int:
    """Return the index after the last row of the table that begins at ``start``; ``start`` if there is no table."""
    if start + 1 >= len(lines) or not lines[start].startswith("|") or not _RULE.fullmatch(lines[start + 1]):
        return start
    if len(_split_cells(lines[start])) != len(_split_cells(lines[start + 1])):
        return start
    end = start + 2
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return end


def _build_paragraph(lines: Sequence[str]) -> Iterator[Paragraph]:
    if any(line.strip() for line in lines):
        yield Paragraph(_split_runs("\n".join(lines)))


def _build_table(lines: Sequence[str]) -> TextTable:
    rows = [_split_cells(line) for line in lines]
    width = max(map(len, rows))
    return TextTable(tuple(tuple(map(_split_runs, (*row, *[""] * (width - len(row))))) for row in rows))


def _split_cells(line: str) -> list[str]:
    cells = _DELIMITER.split(line.strip())[1:]
    if cells and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _split_runs(text: str) -> tuple[Run, ...]:
    runs = [Run(piece, bool(number % 2)) for number, piece in enumerate(_BOLD.split(text)) if piece]
    return tuple(replace(run, text=run.text.replace(_ASTERISK, "*")) for run in runs)
