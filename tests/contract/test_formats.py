"""What every file format must satisfy: a sample of each is recognized, read, drawn and, if it is damaged, refused.

The formats are those of the application and `TextFormat`, of which the application knows nothing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rag_core.errors import RejectedDocument, UnknownFormat
from rag_core.parsing.formats import accepted
from rag_core.parsing.formats.accepted import find_format, require_format
from rag_core.parsing.formats.base import FileFormat
from rag_core.parsing.parser import DocumentParser
from rag_core.parsing.rendering import PageRenderer
from rag_core.parsing.workers import process
from rag_core.parsing.workers.document_reader import DocumentHeader
from rag_core.types.chunks import PARSER_SEPARATOR
from rag_core.types.documents import Page, PageState
from rag_core.types.formats import AcceptedFormats
from tests.support import text_format
from tests.support.documents import (
    make_csv,
    make_docx,
    make_epub,
    make_html,
    make_mail,
    make_markdown,
    make_opendocument,
    make_picture,
    make_pptx,
    make_rtf,
    make_xlsx,
)
from tests.support.outlook import make_outlook_mail
from tests.support.pdfs import make_pdf
from tests.support.text_format import WITH_TEXT


@dataclass(frozen=True)
class Sample:
    """A file with ``WORDS`` on one of its pages, and a file that is recognized but cannot be read, if there is one."""

    data: bytes
    damaged: bytes = b""
    state: PageState = PageState.TEXT


WORDS = "The canal was dug in 1869 and widened twice."
LINE = "A line of a long text.\n"
# Half a character of UTF-16.
CUT = b"\xff\xfeT"
SAMPLES = {
    "PDF": Sample(make_pdf(WORDS, ["A second page.", "It has two lines."]), b"%PDF-1.4\nand then nothing of the sort"),
    "DOCX": Sample(make_docx(WORDS), make_docx(WORDS)[:2000]),
    "XLSX": Sample(make_xlsx(WORDS), make_xlsx(WORDS)[:2000]),
    "PPTX": Sample(make_pptx(WORDS), make_pptx(WORDS)[:9000]),
    "OpenDocument": Sample(make_opendocument("text", WORDS), make_opendocument("text", WORDS)[:300]),
    "RTF": Sample(make_rtf(WORDS), make_rtf(WORDS)[:200]),
    "EPUB": Sample(make_epub(WORDS), make_epub(WORDS)[:300]),
    "image": Sample(make_picture(WORDS), make_picture(WORDS)[:300], PageState.OCR),
    "MSG": Sample(make_outlook_mail("Canal", "Anna Berg", WORDS), make_outlook_mail("Canal", "Anna", WORDS)[:2000]),
    # Any mail, page, table or text in UTF-8 can be read.
    "EML": Sample(make_mail(WORDS)),
    "HTML": Sample(make_html(WORDS)),
    "Markdown": Sample(make_markdown(WORDS), CUT),
    "CSV": Sample(make_csv([("Text", "Year"), (WORDS, "1869"), ("Another canal", "1902")]), CUT),
    "text": Sample(f"{WORDS}\n\n{LINE * 70}".encode(), CUT),
    "sample": Sample(f"{WORDS}\n\n{LINE * 70}".encode(), b"Caf\xe9 au lait"),
}
OTHER = {"zip": b"PK\x03\x04\x14\x00\x00\x00", "program": b"\x7fELF\x02\x01\x01\x00", "zeros": bytes(2000)}

every_format = pytest.mark.parametrize("file_format", WITH_TEXT, ids=lambda one: one.description.name)


@pytest.fixture(autouse=True, scope="module")
def _text_is_a_format() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accepted, "FORMATS", WITH_TEXT)
        patch.setattr(process, "WORKER_MODULE", text_format.__name__)
        yield


@pytest.fixture(scope="module")
def parser() -> Iterator[DocumentParser]:
    with closing(DocumentParser(ocr="auto")) as parser:
        yield parser


@pytest.fixture(scope="module")
def renderer() -> Iterator[PageRenderer]:
    with closing(PageRenderer()) as renderer:
        yield renderer


@pytest.fixture
def sample(file_format: FileFormat, tmp_path: Path) -> Path:
    """Return a file of the format, which is stored under the hash of its content."""
    path = tmp_path / "0a1b2c"
    path.write_bytes(SAMPLES[file_format.description.name].data)
    return path


@pytest.fixture
def name(file_format: FileFormat) -> str:
    """Return a name of a file whose ending says what it is."""
    return f"Report{file_format.description.suffixes[0].upper()}"


def read(parser: DocumentParser, path: Path, name: str) -> tuple[DocumentHeader, list[Page]]:
    header, *pages = parser.parse(path, name=name)
    assert isinstance(header, DocumentHeader)
    return header, [page for page in pages if isinstance(page, Page)]


def test_names_endings_and_versions_are_unique() -> None:
    described = tuple(one.description for one in WITH_TEXT)
    names, versions = [one.name for one in described], [one.parser_version for one in WITH_TEXT]
    suffixes = AcceptedFormats(described).suffixes
    assert all(len(set(values)) == len(values) for values in (names, versions, suffixes))
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in suffixes)
    assert all(version and PARSER_SEPARATOR not in version for version in versions)


@every_format
def test_file_has_its_own_format(file_format: FileFormat, name: str) -> None:
    sample = SAMPLES[file_format.description.name]
    for data in filter(None, (sample.data, sample.damaged)):
        assert require_format(io.BytesIO(data), name) is file_format
        if not file_format.needs_suffix:
            assert require_format(io.BytesIO(data), "Report.pdf") is file_format


@pytest.mark.parametrize("data", OTHER.values(), ids=OTHER)
def test_other_files_are_not_recognized(data: bytes) -> None:
    assert find_format(io.BytesIO(data), "Report.txt") is None
    with pytest.raises(UnknownFormat, match=r"^Report\.pdf is not a .+ file\. Export it"):
        require_format(io.BytesIO(data), "Report.pdf")


@every_format
def test_words_have_places_on_the_page_and_are_drawn_there(
    file_format: FileFormat, sample: Path, name: str, parser: DocumentParser, renderer: PageRenderer
) -> None:
    header, pages = read(parser, sample, name)
    assert header.parser_version == file_format.parser_version
    assert [page.page_index for page in pages] == list(range(header.page_count))
    assert any(WORDS in page.text for page in pages)
    for page in pages:
        boxes = page.boxes
        assert page.state is SAMPLES[file_format.description.name].state
        assert [page.text[start:end] for start, end in zip(boxes.starts, boxes.ends, strict=True)] == page.text.split()
        assert page.width > 0
        assert page.height > 0
        assert (boxes.rects[:, :2] < boxes.rects[:, 2:]).all()
        assert (boxes.rects >= 0).all()
        assert (boxes.rects <= 1).all()
        image = renderer.render(sample, page.page_index, name=name, rects=boxes.rects, scale=2.0)
        assert image.highlighted == len(boxes.rects)
        pixels = np.asarray(Image.open(io.BytesIO(image.png)).convert("L"))
        assert pixels.shape == (image.height, image.width)
        assert abs(image.width / page.width - image.height / page.height) < 0.01
        for x0, y0, x1, y1 in boxes.rects * np.array([image.width, image.height] * 2):
            assert pixels[int(y0) : int(y1) + 1, int(x0) : int(x1) + 1].min() < 128


@every_format
def test_damaged_file_is_refused_by_name(
    file_format: FileFormat, name: str, tmp_path: Path, parser: DocumentParser, renderer: PageRenderer
) -> None:
    path = tmp_path / "0a1b2c"
    # Of the formats of which every file can be read, none is an empty one.
    path.write_bytes(SAMPLES[file_format.description.name].damaged)
    for read_file in (lambda: list(parser.parse(path, name=name)), lambda: renderer.render(path, 0, name=name)):
        with pytest.raises(RejectedDocument, match=r"^Report\.\w+ "):
            read_file()
