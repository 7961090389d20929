"""Files with a damaged part that the other text can be read without, and with absurd values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rag_core.errors import DamagedDocument
from rag_core.parsing.parser import DocumentParser
from rag_core.types.documents import Page, PageState
from tests.integration.parsing.test_pictures_in_files import PICTURE, make_book, make_slides, make_text, make_word
from tests.support.documents import (
    change_part,
    make_docx,
    make_epub,
    make_opendocument,
    make_pptx,
    make_xlsx,
    remove_part,
    with_part,
)

SENTENCE = "The ferry was launched in 1931 and refitted twice."
CUT = b"<?xml version='1.0'?><root><child>"
RELATION = '<Relationship Id="rId99" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{}" '
RELATION += 'Target="{}"/></Relationships>'
DOCX, XLSX, PPTX = make_docx(SENTENCE), make_xlsx(SENTENCE), make_pptx(SENTENCE)
ODT, ODS = make_opendocument("text", SENTENCE), make_opendocument("spreadsheet", SENTENCE)
WORD, BOOK, SLIDES, TEXT = (
    make_word(PICTURE),
    make_book(PICTURE),
    make_slides(PICTURE, text=SENTENCE),
    make_text(PICTURE),
)
DRAWING = "xl/drawings/drawing1.xml"


@pytest.fixture(scope="module")
def parser() -> Iterator[DocumentParser]:
    with closing(DocumentParser(ocr="off")) as parser:
        yield parser


def read(parser: DocumentParser, path: Path, name: str, data: bytes) -> list[Page]:
    path.write_bytes(data)
    return [part for part in parser.parse(path, name=name) if isinstance(part, Page)]


def make_two_slides() -> bytes:
    import io

    from pptx import Presentation

    presentation = Presentation(io.BytesIO(PPTX))
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Tugs"
    slide.notes_slide.notes_text_frame.text = "Two of them."
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def make_two_sheets() -> bytes:
    return change_part(XLSX, "xl/workbook.xml", ' state="hidden"', "")


LEFT_OUT = [
    *(
        ("a.docx", with_part(DOCX, f"word/{one}.xml", CUT), f"word/{one}.xml")
        for one in ("styles", "numbering", "header1", "footer1", "footnotes", "endnotes", "comments")
    ),
    ("a.docx", with_part(DOCX, "word/comments.xml", b"<other/>"), "word/comments.xml"),
    ("a.docx", with_part(WORD, "word/_rels/document.xml.rels", CUT), "word/_rels/document.xml.rels"),
    ("a.docx", remove_part(WORD, "word/media/image1.png"), "word/media/image1.png"),
    (
        "a.docx",
        change_part(
            DOCX, "word/_rels/document.xml.rels", "</Relationships>", RELATION.format("comments", "comments.xml")
        ),
        "word/comments.xml",
    ),
    ("a.xlsx", with_part(XLSX, "xl/styles.xml", CUT), "xl/styles.xml"),
    ("a.xlsx", change_part(XLSX, "xl/worksheets/sheet1.xml", "<v>3</v>", "<v>99</v>"), "xl/sharedStrings.xml"),
    ("a.xlsx", with_part(BOOK, DRAWING, CUT), DRAWING),
    ("a.xlsx", with_part(BOOK, "xl/drawings/_rels/drawing1.xml.rels", b""), "xl/drawings/_rels/drawing1.xml.rels"),
    ("a.xlsx", with_part(BOOK, "xl/worksheets/_rels/sheet1.xml.rels", CUT), "xl/worksheets/_rels/sheet1.xml.rels"),
    ("a.xlsx", remove_part(BOOK, DRAWING), DRAWING),
    ("a.pptx", with_part(make_two_slides(), "ppt/notesSlides/notesSlide1.xml", CUT), "notesSlides/notesSlide1.xml"),
    ("a.pptx", remove_part(make_two_slides(), "ppt/notesSlides/notesSlide1.xml"), "notesSlides/notesSlide1.xml"),
    ("a.pptx", with_part(PPTX, "ppt/slideLayouts/slideLayout2.xml", CUT), "ppt/slideLayouts/slideLayout2.xml"),
    ("a.pptx", with_part(PPTX, "ppt/slides/_rels/slide1.xml.rels", CUT), "ppt/slides/_rels/slide1.xml.rels"),
    ("a.pptx", with_part(PPTX, "docProps/core.xml", CUT), "docProps/core.xml"),
    ("a.pptx", remove_part(SLIDES, "ppt/media/image1.png"), "ppt/media/image1.png"),
    ("a.odt", with_part(ODT, "styles.xml", CUT), "styles.xml"),
    ("a.ods", with_part(ODS, "styles.xml", CUT), "styles.xml"),
    ("a.odp", with_part(make_opendocument("presentation", SENTENCE), "styles.xml", CUT), "styles.xml"),
    ("a.odt", remove_part(TEXT, "Pictures/a.png"), "Pictures/a.png"),
    (
        "a.epub",
        change_part(
            change_part(make_epub(SENTENCE), "OPS/book.opf", "</manifest>", '<item id="b" href="b.xhtml"/></manifest>'),
            "OPS/book.opf",
            "</spine>",
            '<itemref idref="b"/></spine>',
        ),
        "OPS/b.xhtml",
    ),
]


@pytest.mark.parametrize(("name", "data", "part"), LEFT_OUT, ids=[f"{name} {part}" for name, _, part in LEFT_OUT])
def test_damaged_or_missing_part_is_left_out_and_named(
    parser: DocumentParser, tmp_path: Path, name: str, data: bytes, part: str
) -> None:
    pages = read(parser, tmp_path / name, name, data)
    assert "\n".join(page.text for page in pages).strip()
    reasons = [page.reason for page in pages if page.reason]
    assert len(reasons) == 1
    assert reasons[0].startswith("parts that cannot be read were left out (")
    assert part in reasons[0]


@pytest.mark.parametrize(
    ("name", "data", "lost"),
    [
        ("a.xlsx", with_part(make_two_sheets(), "xl/worksheets/sheet2.xml", CUT), 1),
        ("a.xlsx", remove_part(make_two_sheets(), "xl/worksheets/sheet2.xml"), 1),
        ("a.pptx", with_part(make_two_slides(), "ppt/slides/slide2.xml", CUT), 1),
        ("a.pptx", remove_part(make_two_slides(), "ppt/slides/slide1.xml"), 0),
    ],
)
def test_damaged_sheet_or_slide_is_a_failed_page(
    parser: DocumentParser, tmp_path: Path, name: str, data: bytes, lost: int
) -> None:
    pages = read(parser, tmp_path / name, name, data)
    assert [page.state for page in pages].index(PageState.FAILED) == lost
    assert pages[lost].reason.startswith("the page is damaged (its part ")
    assert pages[1 - lost].text


VALUES = [
    *(
        ("a.docx", change_part(WORD, "word/document.xml", '<wp:extent cx="4572000"', f'<wp:extent cx="{one}"'))
        for one in ("NaN", "-7", "", "1e999", "9" * 40)
    ),
    ("a.docx", change_part(DOCX, "word/document.xml", "<w:tcPr>", '<w:tcPr><w:gridSpan w:val="1000000000"/>')),
    ("a.docx", change_part(DOCX, "word/document.xml", "<w:tcPr>", '<w:tcPr><w:gridSpan w:val="NaN"/>')),
    ("a.docx", change_part(DOCX, "word/document.xml", "<w:r>", '<w:r><w:sym w:char="wrong"/>')),
    *(
        ("a.xlsx", change_part(BOOK, DRAWING, "<xdr:col>0</xdr:col>", f"<xdr:col>{one}</xdr:col>"))
        for one in ("-5", "NaN", "", "9" * 40)
    ),
    *(
        ("a.xlsx", change_part(XLSX, "xl/worksheets/sheet1.xml", 'r="A1"', f'r="{one}"'))
        for one in ("ZZZZZZZ1", "1", "-1")
    ),
    *(
        ("a.xlsx", change_part(XLSX, "xl/worksheets/sheet1.xml", '<row r="1"', f'<row r="{one}"'))
        for one in ("NaN", "-4", "9" * 5000)
    ),
    ("a.xlsx", change_part(XLSX, "xl/worksheets/sheet1.xml", ' s="1"', ' s="-90"')),
    (
        "a.xlsx",
        change_part(
            XLSX, "xl/worksheets/sheet1.xml", "<sheetData>", '<cols><col min="-99999999999" max="0"/></cols><sheetData>'
        ),
    ),
    (
        "a.xlsx",
        change_part(
            XLSX,
            "xl/worksheets/sheet1.xml",
            "</sheetData>",
            f'</sheetData><mergeCells><mergeCell ref="A3:ZZZZZZ{"9" * 5000}"/></mergeCells>',
        ),
    ),
    ("a.pptx", change_part(PPTX, "ppt/slides/slide1.xml", '<a:off x="914400"', '<a:off x="NaN"')),
    ("a.pptx", change_part(PPTX, "ppt/slides/slide1.xml", "<a:tc>", '<a:tc gridSpan="1000000000">')),
    (
        "a.ods",
        change_part(ODS, "content.xml", "<table:table-row/>", '<table:table-row table:number-rows-repeated="-1"/>'),
    ),
    (
        "a.odt",
        change_part(
            ODT, "content.xml", "<table:table-cell>", '<table:table-cell table:number-columns-spanned="1000000000">'
        ),
    ),
    ("a.odt", change_part(TEXT, "content.xml", 'svg:width="12cm"', 'svg:width="99999999999cm"')),
]


@pytest.mark.parametrize(("name", "data"), VALUES)
def test_absurd_values_leave_the_text(parser: DocumentParser, tmp_path: Path, name: str, data: bytes) -> None:
    pages = read(parser, tmp_path / name, name, data)
    text = "\n".join(page.text for page in pages)
    assert any(one in text for one in ("1931", "seven", "harbour"))


@pytest.mark.parametrize(
    ("name", "data", "part"),
    [
        ("a.docx", with_part(DOCX, "word/document.xml", CUT), "word/document.xml"),
        ("a.xlsx", with_part(XLSX, "xl/workbook.xml", CUT), "xl/workbook.xml"),
        ("a.xlsx", with_part(XLSX, "xl/_rels/workbook.xml.rels", CUT), "xl/_rels/workbook.xml.rels"),
        ("a.xlsx", with_part(XLSX, "xl/sharedStrings.xml", CUT), "xl/sharedStrings.xml"),
        ("a.pptx", with_part(PPTX, "ppt/presentation.xml", CUT), "ppt/presentation.xml"),
        ("a.odt", with_part(ODT, "content.xml", CUT), "content.xml"),
    ],
)
def test_file_with_a_damaged_main_part_is_refused(
    parser: DocumentParser, tmp_path: Path, name: str, data: bytes, part: str
) -> None:
    with pytest.raises(DamagedDocument, match=f"its part {part} is damaged"):
        read(parser, tmp_path / name, name, data)
