"""Draw the office documents in ways that make reading order difficult, for `benchmarks.layout`.

    python -m benchmarks.layout_documents OUT

Each text file of `benchmarks.office_documents` is drawn once in every style of `STYLES`. The tests in
``OUT/tests.jsonl`` require that the extracted text has each paragraph in one piece and each table row on one line.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Callable, Iterator
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from benchmarks.office_documents import SOURCES

SIZE, PITCH, LEFT, TOP, LINES = 10, 13, 60, 780, 54
WIDE, NARROW = 90, 40
CELL = 110
SECOND_COLUMN = 310
# Number of characters of a divided word that are before the hyphen, and the minimum length of a word to be divided.
DIVIDED_AFTER, LONG_WORD = 4, 8

Drawn = list[tuple[float, float, str]]


def wrap(text: str, width: int, *, divide: bool = False) -> list[str]:
    """Break a paragraph into lines.

    With ``divide``, a long word at the start of a line is divided, and its beginning moves to the previous line.
    """
    lines = textwrap.wrap(text, width)
    for number in range(1, len(lines) if divide else 0):
        first, _, rest = lines[number].partition(" ")
        if len(first) >= LONG_WORD and first.isalpha():
            lines[number - 1] += f" {first[:DIVIDED_AFTER]}-"
            lines[number] = f"{first[DIVIDED_AFTER:]} {rest}".strip()
    return lines


def read_paragraphs(text: str) -> list[str | list[str]]:
    """Return the paragraphs of a document; a table row is a list of cells."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else line.lstrip("# ")
        for line in text.splitlines()
        if line.strip("= ")
    ]


def draw_one_column(
    paragraphs: list[str | list[str]], *, divide: bool = False, numbered: bool = False
) -> Iterator[Drawn]:
    """Yield pages with one column; with ``numbered``, each line of text has its number in the margin."""
    rows: list[list[tuple[float, str]]] = []
    for paragraph in paragraphs:
        if isinstance(paragraph, list):
            rows.append([(LEFT + CELL * place, cell) for place, cell in enumerate(paragraph)])
        else:
            rows += [[(LEFT, line)] for line in wrap(paragraph, NARROW if divide else WIDE, divide=divide)]
            rows.append([])
    for page in range(0, len(rows), LINES):
        drawn: Drawn = []
        numbers = count(1)
        for number, row in enumerate(rows[page : page + LINES]):
            height = TOP - PITCH * number
            drawn += [(LEFT - 30, height, str(next(numbers)))] if numbered and row else []
            drawn += [(x, height, text) for x, text in row]
        yield drawn


def draw_columns_row_by_row(paragraphs: list[str | list[str]]) -> Iterator[Drawn]:
    """Yield pages with two columns, written row by row: each left line, then the right line next to it; no tables."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*wrap(paragraph, NARROW), ""] if isinstance(paragraph, str) else []
    for page in range(0, len(lines), 2 * LINES):
        left, right = lines[page : page + LINES], lines[page + LINES : page + 2 * LINES]
        drawn: Drawn = []
        for number, row in enumerate(zip_longest(left, right, fillvalue="")):
            height = TOP - PITCH * number
            drawn += [(x, height, text) for x, text in zip((LEFT, SECOND_COLUMN), row, strict=True) if text]
        yield drawn


def draw_tables_by_column(paragraphs: list[str | list[str]]) -> Iterator[Drawn]:
    """Yield pages that contain only table rows, written column by column."""
    rows = [paragraph for paragraph in paragraphs if isinstance(paragraph, list)]
    for page in range(0, len(rows), LINES):
        cells = zip_longest(*rows[page : page + LINES], fillvalue="")
        yield [
            (LEFT + CELL * place, TOP - PITCH * number, cell)
            for place, column in enumerate(cells)
            for number, cell in enumerate(column)
            if cell
        ]


STYLES: dict[str, Callable[[list[str | list[str]]], Iterator[Drawn]]] = {
    "plain": draw_one_column,
    "divided": lambda paragraphs: draw_one_column(paragraphs, divide=True),
    "numbered": lambda paragraphs: draw_one_column(paragraphs, numbered=True),
    "columns": draw_columns_row_by_row,
    "tables": draw_tables_by_column,
}


def write_pdf(path: Path, pages: Iterator[Drawn]) -> list[Drawn]:
    canvas, written = Canvas(str(path), pagesize=A4), []
    for drawn in pages:
        canvas.setFont("Helvetica", SIZE)
        for x, y, text in drawn:
            canvas.drawString(x, y, text)
        canvas.showPage()
        written.append(drawn)
    canvas.save()
    return written


def build_tests(style: str, file: str, paragraphs: list[str | list[str]]) -> Iterator[dict[str, Any]]:
    """Yield the tests of what the extracted text of a document must contain."""
    for paragraph in paragraphs:
        if isinstance(paragraph, list) and style != "columns":
            yield {"file": file, "kind": "row", "value": [cell for cell in paragraph if cell]}
        elif isinstance(paragraph, str) and style != "tables":
            yield {"file": file, "kind": "present", "value": paragraph}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    folder = parser.parse_args().out
    (folder / "pdfs").mkdir(parents=True, exist_ok=True)
    with (folder / "tests.jsonl").open("w", encoding="utf-8") as tests:
        for source in sorted(SOURCES.glob("*.txt")):
            paragraphs = read_paragraphs(source.read_text("utf-8"))
            for style, draw in STYLES.items():
                path = folder / "pdfs" / f"{source.stem}_{style}.pdf"
                if write_pdf(path, draw(paragraphs)):
                    tests.writelines(json.dumps(test) + "\n" for test in build_tests(style, path.name, paragraphs))


if __name__ == "__main__":
    main()
