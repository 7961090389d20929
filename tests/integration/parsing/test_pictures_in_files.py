"""Pictures inside files of other formats than PDF: their text is recognized where they stand, and they are drawn."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

from rag_core.errors import EmptyDocument
from rag_core.parsing.flow import drawing
from rag_core.parsing.flow import file as flow_file
from rag_core.parsing.flow.content import PictureBlock
from rag_core.parsing.flow.file import FlowFile
from rag_core.parsing.formats.accepted import require_format
from rag_core.parsing.formats.base import OpenFile
from rag_core.parsing.parser import DocumentParser
from rag_core.types.documents import Page, PageState
from tests.support.documents import change_part, make_epub, make_html, make_opendocument, make_picture, with_part

BEFORE, SAID, AFTER = "The harbour lies in the north.", "Berth seven is closed until May.", "The ferry leaves at nine."
PICTURE = make_picture(SAID)


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


def make_word(picture: bytes, times: int = 1) -> bytes:
    import docx
    from docx.shared import Inches

    document = docx.Document()
    document.add_paragraph(BEFORE)
    for _ in range(times):
        document.add_picture(io.BytesIO(picture), width=Inches(5))
    document.add_paragraph(AFTER)
    return saved(document.save)


def make_slides(picture: bytes, times: int = 1, text: str = "") -> bytes:
    from pptx import Presentation

    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    if text:
        slide.shapes.add_textbox(0, 0, 10_000, 10_000).text_frame.text = text
    for _ in range(times):
        slide.shapes.add_picture(io.BytesIO(picture), 0, 0, width=presentation.slide_width)
    return saved(presentation.save)


def make_book(picture: bytes, times: int = 1) -> bytes:
    import xlsxwriter

    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Berths")
        sheet.write_row(0, 0, ["Berth", "Length"])
        sheet.write_row(1, 0, ["seven", 40])
        for number in range(times):
            sheet.insert_image(4, number, "berth.png", {"image_data": io.BytesIO(picture)})
    return buffer.getvalue()


def make_text(picture: bytes, times: int = 1) -> bytes:
    image = '<draw:image xlink:href="Pictures/a.png"/>'
    frame = f'<text:p><draw:frame svg:width="12cm" svg:height="3.6cm">{image}</draw:frame></text:p>'
    names = ' xmlns:svg="urn:s" xmlns:xlink="urn:x" xmlns:text='
    data = make_opendocument("text", BEFORE)
    data = change_part(data, "content.xml", f"<text:p>{BEFORE}</text:p>", f"<text:p>{BEFORE}</text:p>{frame * times}")
    data = change_part(data, "content.xml", " xmlns:text=", names)
    return with_part(data, "Pictures/a.png", picture)


def make_web_page(picture: bytes, times: int = 1) -> bytes:
    address = base64.b64encode(picture).decode()
    images = f'<img src="data:image/png;base64,{address}">' * times
    return make_html(BEFORE, f"<p>{images}</p><p>{AFTER}</p>")


def make_ebook(picture: bytes, times: int = 1) -> bytes:
    data = change_part(make_epub(BEFORE), "OPS/a.xhtml", "</p>", '</p><img src="images/a%20b.png">' * times)
    return with_part(data, "OPS/images/a b.png", picture)


FILES = {
    "a.docx": make_word,
    "a.pptx": make_slides,
    "a.xlsx": make_book,
    "a.odt": make_text,
    "a.html": make_web_page,
    "a.epub": make_ebook,
}


@pytest.fixture(scope="module")
def parser() -> Iterator[DocumentParser]:
    with closing(DocumentParser(ocr="auto")) as parser:
        yield parser


def read(parser: DocumentParser, path: Path, data: bytes) -> list[Page]:
    path.write_bytes(data)
    return [part for part in parser.parse(path, name=path.name) if isinstance(part, Page)]


def open_in_process(path: Path, data: bytes) -> OpenFile:
    """Open a file in this process, since a worker that recognized text ends and the next one loads the models again."""
    path.write_bytes(data)
    with path.open("rb") as file:
        return require_format(file, path.name).open(path, None, None)


@pytest.mark.parametrize("name", FILES)
def test_text_of_a_picture_stands_where_the_picture_does(tmp_path: Path, name: str) -> None:
    opened = open_in_process(tmp_path / name, FILES[name](PICTURE))
    pages = [opened.read_page(number, "auto").page for number in range(opened.page_count)]
    [page] = [page for page in pages if SAID in page.text]
    known = [page.text.index(one) for one in (BEFORE, SAID, AFTER) if one in page.text]
    assert known == sorted(known)
    assert page.state is (PageState.MIXED if len(known) > 1 else PageState.OCR)
    assert page.confidence > 0.9
    start = page.text.index("closed")
    left, top, right, bottom = page.boxes.find_overlapping(start, start + 6)[0]
    drawn = opened.draw_page(page.page_index, 2.0)
    box = (int(left * drawn.width), int(top * drawn.height), int(right * drawn.width), int(bottom * drawn.height))
    assert drawn.crop(box).convert("L").getextrema()[0] < 100


@pytest.mark.parametrize("name", FILES)
def test_picture_that_is_shown_often_is_kept_read_and_drawn_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    calls: list[str] = []

    def count_calls(module: ModuleType, function: str) -> None:
        run = getattr(module, function)
        monkeypatch.setattr(module, function, lambda one: [calls.append(function), run(one)][1])

    count_calls(flow_file, "recognize_picture")
    count_calls(drawing, "load_picture")
    opened = open_in_process(tmp_path / name, FILES[name](PICTURE, times=3))
    assert isinstance(opened, FlowFile)
    assert len({id(one.data) for one in opened.content.blocks if isinstance(one, PictureBlock)}) == 1
    pages = [opened.read_page(number, "auto").page for number in range(opened.page_count)]
    assert "".join(page.text for page in pages).count(SAID) == 3
    assert calls == ["recognize_picture"]
    opened.draw_page(next(page.page_index for page in pages if SAID in page.text), 1.0)
    assert calls == ["recognize_picture", "load_picture"]


def test_pictures_are_not_read_without_text_recognition(tmp_path: Path) -> None:
    with closing(DocumentParser(ocr="off")) as parser, pytest.raises(EmptyDocument, match="RAG_OCR=auto"):
        read(parser, tmp_path / "a.pptx", make_slides(PICTURE))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "a.docx",
            change_part(make_word(PICTURE), "word/_rels/document.xml.rels", "media/image1.png", "media/gone.png"),
        ),
        ("a.pptx", change_part(make_slides(PICTURE, text=AFTER), "ppt/slides/slide1.xml", "r:embed=", "r:link=")),
        ("a.odt", change_part(make_text(PICTURE), "content.xml", "Pictures/a.png", "http://203.0.113.1/a.png")),
    ],
)
def test_missing_and_linked_pictures_leave_the_text(
    parser: DocumentParser, tmp_path: Path, name: str, data: bytes
) -> None:
    [page] = read(parser, tmp_path / name, data)
    assert page.state is PageState.TEXT
    assert any(one in page.text for one in (BEFORE, AFTER))


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(saved(lambda buffer: Image.new("RGB", (40, 40)).save(buffer, "PNG")), id="icon"),
        pytest.param(PICTURE[:300], id="cut off"),
        pytest.param(saved(lambda buffer: Image.new("1", (12_000, 12_000)).save(buffer, "PNG")), id="bomb"),
        pytest.param(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 500 500\nshowpage\n", id="program"),
    ],
)
def test_pictures_that_are_not_read_leave_the_text(parser: DocumentParser, tmp_path: Path, picture: bytes) -> None:
    [page] = read(parser, tmp_path / "a.html", make_web_page(picture))
    assert BEFORE in page.text
    assert AFTER in page.text
    assert page.state is PageState.TEXT
