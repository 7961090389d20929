"""Line numbers in the margin are left out; other numbers are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.support.drawn_pdfs import PROSE, make, read

DRAFT = PROSE + PROSE + PROSE


def numbered(texts: tuple[str, ...], place: float, first: int = 31, every: int = 1):
    """Draw lines with their numbers, which end at ``place``."""

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


@pytest.mark.parametrize(
    ("texts", "place", "every"),
    [(DRAFT, 60, 1), (DRAFT, 560, 1), (DRAFT * 3, 60, 5)],
    ids=["left", "right", "every fifth line"],
)
def test_line_numbers_are_left_out(tmp_path: Path, texts: tuple[str, ...], place: float, every: int) -> None:
    assert text_of(tmp_path, numbered(texts, place, every=every)) == "\n".join(texts)


def test_numbers_of_table_rows_are_kept(tmp_path: Path) -> None:
    rows = tuple(f"{name} came from {town}" for name in ("Ada", "Ben", "Cy") for town in ("Bern", "Oslo", "Riga"))
    assert text_of(tmp_path, numbered(rows, 60, first=1)).split("\n")[3] == f"4 {rows[3]}"


def test_numbers_below_a_header_are_kept(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        canvas.drawRightString(70, 764, "No.")
        numbered(tuple(f"paint the stairs of house {name}" for name in "abcdefg"), 60, first=1)(canvas)

    assert "3 paint the stairs of house c" in text_of(tmp_path, draw)


def test_numbers_of_table_rows_next_to_prose_are_kept(tmp_path: Path) -> None:
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


def test_page_of_numbers_keeps_them(tmp_path: Path) -> None:
    assert text_of(tmp_path, numbered(("",) * 12, 60)).split() == [str(number) for number in range(31, 43)]
