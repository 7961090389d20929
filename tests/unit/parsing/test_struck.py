"""Words with a line through them stand between marks; other lines strike out nothing."""

from __future__ import annotations

from pathlib import Path

import pypdf
import pytest
from pypdf.annotations import MarkupAnnotation
from pypdf.generic import ArrayObject, FloatObject, NameObject
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tests.support.drawn_pdfs import make, read, rows

TEXT = "Lockers cost nine twelve crowns a week."
STRUCK_TEXT = "Lockers cost ~~nine~~ twelve crowns a week."
LEFT = 72 + stringWidth("Lockers cost ", "Helvetica", 12)
RIGHT = LEFT + stringWidth("nine", "Helvetica", 12)


def text_of(path: Path, *shapes: tuple[str, float, float, float, float], text: str = TEXT) -> str:
    def draw(canvas: Canvas) -> None:
        canvas.setFillColorRGB(1, 0.9, 0.2)
        for kind, *place in shapes:
            getattr(canvas, kind)(*place, **({"fill": 1, "stroke": 0} if kind == "rect" else {}))
        canvas.setFillColorRGB(0, 0, 0)
        canvas.setFont("Helvetica", 12)
        canvas.drawString(72, 700, text)

    return read(make(path / "page.pdf", draw)).page.text


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (("line", LEFT, 703, RIGHT, 703), STRUCK_TEXT),
        (("rect", LEFT, 702.8, RIGHT - LEFT, 0.7), STRUCK_TEXT),
        (("line", LEFT, 698.5, RIGHT, 698.5), TEXT),
        (("line", LEFT, 711, RIGHT, 711), TEXT),
        (("line", 40, 703, 560, 703), TEXT),
        (("rect", LEFT, 697, RIGHT - LEFT, 12), TEXT),
    ],
    ids=["line", "rectangle", "underline", "overline", "rule", "highlight"],
)
def test_lines_through_words_strike_them_out(tmp_path: Path, shape: tuple, expected: str) -> None:
    assert text_of(tmp_path, shape) == expected


def test_narrow_character_between_struck_ones_is_struck(tmp_path: Path) -> None:
    narrow = LEFT + stringWidth("n", "Helvetica", 12)
    wide = narrow + stringWidth("i", "Helvetica", 12)
    assert text_of(tmp_path, ("line", LEFT, 703, narrow, 703), ("line", wide, 703, RIGHT, 703)) == STRUCK_TEXT


@pytest.mark.parametrize(
    ("middle", "expected"),
    [
        (((583, "Sander", "31"),), "~~Sander~~ ~~31~~"),
        (((590, "", "25"), (583, "Garden", "31"), (576, "", "9")), "Garden 31"),
    ],
    ids=["row", "label beside two rows"],
)
def test_line_through_a_row_strikes_what_is_in_its_cells(tmp_path: Path, middle: tuple, expected: str) -> None:
    def draw(canvas: Canvas) -> None:
        rows(("Tool", "Week"), ("Ladder", "12"), top=624)(canvas)
        rows(("Mower", "40"), top=558)(canvas)
        for top, *cells in middle:
            rows(cells, top=top, places=(60, 250 if not cells[0] else 330))(canvas)
        canvas.line(58, 586.5, 332, 586.5)

    assert expected in read(make(tmp_path / "page.pdf", draw)).page.text


def test_an_annotation_strikes_words_out(tmp_path: Path) -> None:
    make(tmp_path / "plain.pdf", lambda canvas: (canvas.setFont("Helvetica", 12), canvas.drawString(72, 700, TEXT)))
    writer = pypdf.PdfWriter(clone_from=tmp_path / "plain.pdf")
    corners = ArrayObject(map(FloatObject, (LEFT, 709, RIGHT, 709, LEFT, 698, RIGHT, 698)))
    note = MarkupAnnotation()
    note.update({NameObject("/Type"): NameObject("/Annot"), NameObject("/Subtype"): NameObject("/StrikeOut")})
    note.update({NameObject("/Rect"): ArrayObject(map(FloatObject, (LEFT, 698, RIGHT, 709)))})
    note[NameObject("/QuadPoints")] = corners
    writer.add_annotation(0, note)
    writer.write(tmp_path / "struck.pdf")
    assert read(tmp_path / "struck.pdf").page.text == STRUCK_TEXT


def test_tildes_of_a_document_are_not_marks(tmp_path: Path) -> None:
    assert text_of(tmp_path, text="The ~~old~~ rate is ~5 crowns.") == "The ∼∼old∼∼ rate is ~5 crowns."
