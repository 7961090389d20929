"""Numbers in the margin that count the lines of a page, and numbers that belong to what they stand beside."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.support.drawn_pdfs import PROSE, make, read

DRAFT = PROSE + PROSE + PROSE


def numbered(texts: tuple[str, ...], place: float, first: int = 31, every: int = 1):
    """A page with the numbers of its lines, which end at ``place``."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        for number, text in enumerate(texts):
            height = 750 - 14 * number
            canvas.drawString(72, height, text)
            if (first + number) % every == 0:
                canvas.drawRightString(place, height, str(first + number))

    return draw


def text_of(path: Path, draw) -> str:
    return read(make(path / "page.pdf", draw)).page.text


@pytest.mark.parametrize("place", [60, 560])
def test_numbers_of_lines_are_no_part_of_what_they_say(tmp_path: Path, place: float) -> None:
    assert text_of(tmp_path, numbered(DRAFT, place)) == "\n".join(DRAFT)


def test_so_are_those_of_every_fifth_line(tmp_path: Path) -> None:
    assert text_of(tmp_path, numbered(DRAFT * 3, 60, every=5)) == "\n".join(DRAFT * 3)


def test_numbers_of_rows_are_kept(tmp_path: Path) -> None:
    rows = tuple(f"{name} came from {town}" for name in ("Ada", "Ben", "Cy") for town in ("Bern", "Oslo", "Riga"))
    assert text_of(tmp_path, numbered(rows, 60, first=1)).split("\n")[3] == f"4 {rows[3]}"


def test_numbers_of_rows_beside_a_column_of_prose_are_kept(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 8)
        for number in range(40):
            canvas.drawString(310, 750 - 14 * number, PROSE[number % 3][:50])
        for number in range(6):
            canvas.drawString(50, 750 - 14 * number, str(number + 1))
            canvas.drawString(72, 750 - 14 * number, "a tool that was sold to people in this town")

    assert "3 a tool that was sold" in text_of(tmp_path, draw)


def test_numbers_that_do_not_count_the_lines_are_kept(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        for number, text in enumerate(DRAFT):
            canvas.drawString(72, 750 - 14 * number, text)
            canvas.drawRightString(60, 750 - 14 * number, str(number**2))

    assert text_of(tmp_path, draw).split("\n")[3] == f"9 {DRAFT[3]}"


def test_a_page_of_numbers_alone_keeps_them(tmp_path: Path) -> None:
    assert text_of(tmp_path, numbered(("",) * 12, 60)).split() == [str(number) for number in range(31, 43)]
