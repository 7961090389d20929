"""Values and ticks of form fields are read in place and rendered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pypdf import PdfWriter
from pypdf.generic import BooleanObject, NameObject, TextStringObject
from reportlab.lib.colors import transparent
from reportlab.pdfgen.canvas import Canvas

from rag_core.parsing.pdf.document import PdfiumDocument
from tests.support.drawn_pdfs import PROSE, lines, make, read


def _form(path: Path) -> Path:
    """Return a form with values but without their appearance."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        for row, label in enumerate(("Name of tenant", "Monthly rent", "City")):
            canvas.drawString(72, 700 - 40 * row, label)
            canvas.acroForm.textfield(name=label, x=200, y=692 - 40 * row, width=200, height=20)
        canvas.drawString(72, 560, "Pets allowed")
        canvas.acroForm.checkbox(name="pets", x=200, y=555, checked=True)
        canvas.drawString(72, 530, "Smoking allowed")
        canvas.acroForm.checkbox(name="smoke", x=200, y=525, checked=False)
        canvas.drawString(72, 460, "Payment")
        for number, way in enumerate(("cash", "bank")):
            canvas.acroForm.radio(name="pay", value=way, selected=way == "bank", x=200 + number * 80, y=455)
            canvas.drawString(225 + number * 80, 460, way)
        canvas.drawString(72, 400, "Remarks")
        canvas.acroForm.textfield(name="Remarks", x=72, y=370, width=200, height=20)

    values = {"Name of tenant": "Anna Berg", "Monthly rent": "1,450 pounds", "City": "Leeds", "Remarks": "No lift"}
    writer = PdfWriter(make(path, draw))
    for entry in writer.pages[0]["/Annots"]:
        field = entry.get_object()
        if field.get("/T") == "pets":
            del field["/AP"]
        if field.get("/FT") == "/Tx":
            field[NameObject("/V")] = TextStringObject(values[field["/T"]])
            del field["/AP"]
    writer.root_object["/AcroForm"].get_object()[NameObject("/NeedAppearances")] = BooleanObject(True)
    writer.write(path)
    return path


def test_values_and_ticks_follow_their_labels(tmp_path: Path) -> None:
    page = read(_form(tmp_path / "a.pdf")).page
    texts = [line for line in page.text.split("\n") if line]
    assert texts == [
        "Name of tenant: Anna Berg",
        "Monthly rent: 1,450 pounds",
        "City: Leeds",
        "Pets allowed ☒",
        "Smoking allowed ☐",
        "Payment ☐ cash ☒ bank",
        "Remarks",
        "No lift",
        "Remarks: No lift",
    ]
    words = [page.text[start:end] for start, end in zip(page.boxes.starts, page.boxes.ends, strict=True)]
    assert words == [*page.text.removesuffix("Remarks: No lift").split(), "No lift"]
    assert page.boxes.rects[-1] == pytest.approx([72 / 595, 1 - 390 / 842, 272 / 595, 1 - 370 / 842], abs=0.01)
    tick = page.boxes.find_overlapping(page.text.index("☒"), page.text.index("☒") + 1)[0]
    assert tick[0] == pytest.approx(200 / 595, abs=0.01)
    assert tick[1] < 1 - 565 / 842 < tick[3]


def test_label_of_a_large_box_is_not_a_heading(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        lines(*PROSE)(canvas)
        canvas.drawString(72, 560, "Agreed")
        canvas.acroForm.checkbox(name="agreed", x=120, y=548, size=30)

    parsed = read(make(tmp_path / "a.pdf", draw))
    assert "Agreed ☐" in parsed.page.text
    assert parsed.headings == ()


def test_values_are_rendered(tmp_path: Path) -> None:
    document = PdfiumDocument(_form(tmp_path / "a.pdf"))
    with document.open_page(0) as reader:
        picture = np.asarray(reader.draw(1.0).convert("L"))
    document.close()
    name = picture[842 - 710 : 842 - 694, 203:260]
    assert (name < 128).sum() > 20


def test_field_over_printed_text_keeps_the_text(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Signed on 4 May 2021 by the tenant")
        canvas.acroForm.textfield(name="empty", x=120, y=695, width=80, height=20, fillColor=transparent)
        canvas.acroForm.checkbox(name="large", x=70, y=640, size=200, fillColor=transparent)
        canvas.drawString(72, 650, "Press here to agree")

    text = read(make(tmp_path / "a.pdf", draw)).page.text
    assert "Signed on 4 May 2021 by the tenant" in text
    assert "Press here to agree" in text


def test_labels_above_and_below_fields_are_paired_with_their_values(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        for column, (above, below) in enumerate((("Applicant", "Make of car"), ("Street and number", "Colour"))):
            x = 72 + 260 * column
            canvas.drawString(x, 700, above)
            canvas.acroForm.textfield(name=above, value=f"value of {above}", x=x, y=674, width=200, height=20)
            canvas.acroForm.textfield(name=below, value=f"value of {below}", x=x, y=600, width=200, height=20)
            canvas.drawString(x, 588, below)

    text = read(make(tmp_path / "a.pdf", draw)).page.text
    for label in ("Applicant", "Make of car", "Street and number", "Colour"):
        assert f"\n\n{label}: value of {label}" in text


def test_value_with_blanks_between_its_letters_occurs_once(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Tax number")
        canvas.acroForm.textfield(name="tax", value="2 7 0 8 1 9 6 3", x=200, y=695, width=200, height=20)

    assert read(make(tmp_path / "a.pdf", draw)).page.text == "Tax number: 27081963"
