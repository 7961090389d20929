"""Notes that readers added to a page."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import Highlight, Text
from pypdf.generic import ArrayObject, FloatObject, NameObject, NumberObject, TextStringObject

from rag_core.parsing.pdf.document import PdfiumDocument
from rag_core.parsing.pdf.fonts import Fonts
from rag_core.parsing.pdf.page_parser import parse_page
from rag_core.types.documents import PageState
from tests.support.pdfs import make_pdf

QUADS = ArrayObject(map(FloatObject, (72, 760, 200, 760, 72, 770, 200, 770)))


def read(path: Path, pdf: bytes) -> tuple[str, PageState]:
    path.write_bytes(pdf)
    document, fonts = PdfiumDocument(path), Fonts(path, None)
    with document.open_page(0) as page:
        parsed = parse_page(page, 0, fonts)
    fonts.close()
    document.close()
    return parsed.page.text, parsed.page.state


def annotated(pdf: bytes, *, hidden: bool = False) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf)))
    note = Text(text="The deadline has moved\nto 4 May.", rect=(72, 700, 92, 720))
    note[NameObject("/T")] = TextStringObject("Maren")
    comment = Highlight(rect=(72, 760, 200, 770), quad_points=QUADS)
    comment[NameObject("/Contents")] = TextStringObject("Check this figure.")
    for annotation in (note, comment):
        if hidden:
            annotation[NameObject("/F")] = NumberObject(2)
        writer.add_annotation(0, annotation)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_notes_follow_the_text_and_are_marked(tmp_path: Path) -> None:
    text, state = read(tmp_path / "a.pdf", annotated(make_pdf("The fee is 40 euros.")))
    assert text == (
        "The fee is 40 euros.\n\nNote by Maren: The deadline has moved to 4 May.\n\nNote: Check this figure."
    )
    assert state is PageState.TEXT


@pytest.mark.parametrize("words", ["The fee is 40 euros.", ""])
def test_hidden_notes_are_not_read(tmp_path: Path, words: str) -> None:
    text, _ = read(tmp_path / "a.pdf", annotated(make_pdf(words), hidden=True))
    assert text == words


def test_page_with_notes_only_has_text(tmp_path: Path) -> None:
    text, state = read(tmp_path / "a.pdf", annotated(make_pdf("")))
    assert text.startswith("Note by Maren")
    assert state is PageState.TEXT
