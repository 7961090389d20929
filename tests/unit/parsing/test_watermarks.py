"""Watermarks across the text of a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.types.documents import WATERMARK
from tests.support.drawn_pdfs import PROSE, lines, make, read

Draw = Callable[[Canvas], None]
TEXT = "\n".join(PROSE * 3)


def mark(text: str, size: float, angle: float = 0, grey: float = 0.8, *places: tuple[float, float]) -> Draw:
    def draw(canvas: Canvas) -> None:
        for x, y in places or ((250, 715),):
            canvas.saveState()
            canvas.setFillGray(grey)
            canvas.setFont("Helvetica-Bold", size)
            canvas.translate(x, y)
            canvas.rotate(angle)
            canvas.drawCentredString(0, 0, text)
            canvas.restoreState()

    return draw


def group(draw: Draw, angle: float) -> Draw:
    """Return a drawing that turns a group as a whole, so that the text in it is upright in the group."""

    def draw_group(canvas: Canvas) -> None:
        canvas.beginForm("group", -500, -500, 500, 500)
        draw(canvas)
        canvas.endForm()
        canvas.saveState()
        canvas.translate(250, 715)
        canvas.rotate(angle)
        canvas.doForm("group")
        canvas.restoreState()

    return draw_group


@pytest.mark.parametrize(
    "watermark",
    [
        mark("ENTWURF", 60, 45),
        mark("ENTWURF", 60, 200, 0.0),
        mark("ENTWURF", 40),
        group(mark("ENTWURF", 60, 0, 0.0, (0, 0)), 30),
        mark("ENTWURF", 9, 30, 0.8, *((150 * x, 600 + 50 * y) for x in (1, 2, 3) for y in (1, 2, 3))),
    ],
)
@pytest.mark.parametrize("is_below", [True, False])
def test_watermark_follows_the_text_after_a_sign(tmp_path: Path, watermark: Draw, is_below: bool) -> None:
    def draw(canvas: Canvas) -> None:
        for drawing in (watermark, lines(*PROSE * 3))[:: 1 if is_below else -1]:
            drawing(canvas)

    assert read(make(tmp_path / "page.pdf", draw)).page.text == f"{TEXT}\n\n{WATERMARK}ENTWURF"


@pytest.mark.parametrize(
    "other",
    [
        mark("The Pale Title", 30, 0, 0.7, (200, 780)),
        mark("January", 9, 45, 0.0, *((100, 60 * row) for row in range(2, 7))),
        mark("Revenue", 20, 45, 0.0, (300, 400)),
        mark("Sideways", 30, 90, 0.7, (40, 400)),
    ],
)
def test_other_large_or_slanted_text_is_read_where_it_is(tmp_path: Path, other: Draw) -> None:
    def draw(canvas: Canvas) -> None:
        other(canvas)
        lines(*PROSE * 3)(canvas)

    text = read(make(tmp_path / "page.pdf", draw)).page.text
    assert text.startswith(("The Pale Title", "\n\n".join(["January"] * 5), "Revenue", "Sideways"))
