"""Pages of Office documents as LibreOffice draws them: with a stand-in for its program, and with LibreOffice."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rag_core.engine import Engine
from rag_core.indexing.office_drawings import OfficePdf
from rag_core.parsing.libreoffice import convert_to_pdf, find_soffice
from rag_core.parsing.parser import DocumentParser
from rag_core.parsing.rendering import render_page
from rag_core.types.documents import Page, PageView
from tests.support.documents import (
    change_part,
    make_docx,
    make_opendocument,
    make_pptx,
    make_rtf,
    make_xlsx,
)
from tests.support.engines import add_document, opened
from tests.support.office import StandIn, make_stand_in
from tests.support.pdfs import make_pdf

SENTENCE = "The canal was dug in 1869 and widened twice."
# As LibreOffice may print the document: with a page before it, and with a header.
PRINTED = make_pdf("A cover.", ["Harbour board", "Boats", SENTENCE, "Boat 2023 2024 Ferry 1,204 1,310 Tug 88 92"])
OFFICE = {
    "DOCX": make_docx(SENTENCE),
    "XLSX": make_xlsx(SENTENCE),
    "PPTX": make_pptx(SENTENCE),
    "RTF": make_rtf(SENTENCE),
    "ODT": make_opendocument("text", SENTENCE),
}


@pytest.fixture
def soffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    yield make_stand_in(tmp_path, monkeypatch)
    find_soffice.cache_clear()


@pytest.fixture(scope="module")
def parser() -> Iterator[DocumentParser]:
    with closing(DocumentParser(ocr="off")) as parser:
        yield parser


@pytest.fixture
def libreoffice() -> None:
    find_soffice.cache_clear()
    assert find_soffice(), "LibreOffice is missing: `make office` installs it on Debian"


def add(engine: Engine, data: bytes, name: str = "boats.docx") -> str:
    return str(add_document(engine, name, data).document_id)


def view(engine: Engine, document_id: str, marked: str = "", wait_s: float = 30.0) -> PageView:
    """Return the first page with marked words."""
    text = engine.documents.page(document_id, 0).text
    spans = [(text.index(marked), text.index(marked) + len(marked))] if marked else []
    return engine.documents.render_view(document_id, 0, highlights=spans, wait_s=wait_s)


def is_at(page: PageView, text: str) -> bool:
    """Return whether the highlight is where `PRINTED` has a line."""
    lines = ["Harbour board", "Boats", SENTENCE]
    pixels = np.asarray(Image.open(io.BytesIO(page.images[0].png)).convert("RGB"), np.int16)
    rows = np.flatnonzero((pixels[:, :, 0] - pixels[:, :, 2] > 100).any(1))
    return bool(abs(rows.mean() / len(pixels) * 842 - (69 + 23 * lines.index(text))) < 5)


def test_page_of_the_pdf_with_the_words_is_shown(fresh_engine: Engine, soffice: StandIn) -> None:
    soffice.prepare(PRINTED)
    document_id = add(fresh_engine, OFFICE["DOCX"])
    shown = view(fresh_engine, document_id, "dug in 1869")
    assert (shown.drawn_by, len(shown.images), shown.highlighted) == ("libreoffice", 1, 1)
    assert is_at(shown, SENTENCE)
    assert is_at(view(fresh_engine, document_id, "Boats"), "Boats")
    whole = view(fresh_engine, document_id)
    assert (whole.drawn_by, whole.highlighted) == ("libreoffice", 0)
    assert soffice.conversions == 1
    assert fresh_engine.status().libreoffice.startswith(str(soffice.log.parent))


def test_footnote_draws_until_libreoffice_is_ready(fresh_engine: Engine, soffice: StandIn) -> None:
    soffice.prepare(PRINTED, "while [ ! -e go ] && [ ! -e ../../../stand-in/go ]; do sleep 0.05; done")
    document_id = add(fresh_engine, OFFICE["DOCX"])
    shown = view(fresh_engine, document_id, "dug in 1869", wait_s=0)
    assert (shown.drawn_by, shown.is_pending, shown.highlighted) == ("footnote", True, 3)
    soffice.log.with_name("go").touch()
    assert view(fresh_engine, document_id, "dug in 1869").drawn_by == "libreoffice"
    assert soffice.conversions == 1


def test_words_that_the_pdf_lacks_are_shown_as_before(fresh_engine: Engine, soffice: StandIn) -> None:
    soffice.prepare(make_pdf(["Boats", "Boat 2023 2024 Ferry 1,204 1,310 Tug 88 92"]))
    document_id = add(fresh_engine, OFFICE["DOCX"])
    shown = view(fresh_engine, document_id, "widened twice")
    assert (shown.drawn_by, shown.highlighted) == ("footnote", 2)
    assert shown.reason == "its pages do not contain enough of the text"
    assert view(fresh_engine, document_id, "Ferry 1,204").drawn_by == "libreoffice"


@pytest.mark.parametrize(
    ("pdf", "commands", "reason"),
    [
        (b"", "exit 7", "the conversion failed (exit status 7)"),
        (b"%PDF-1.4\nand then nothing of the sort", "", "its PDF cannot be used (boats.docx cannot be shown"),
    ],
)
def test_failure_is_remembered_and_reported(
    fresh_engine: Engine, soffice: StandIn, pdf: bytes, commands: str, reason: str
) -> None:
    soffice.prepare(pdf, commands)
    document_id = add(fresh_engine, OFFICE["DOCX"])
    for _ in range(2):
        shown = view(fresh_engine, document_id, "widened twice")
        assert (shown.drawn_by, shown.is_pending, shown.highlighted) == ("footnote", False, 2)
        assert shown.reason.startswith(reason)
    assert soffice.conversions == 1
    (notice,) = fresh_engine.status().notices
    assert notice.startswith(f"LibreOffice does not draw the pages of boats.docx, so Footnote does: {reason}")
    fresh_engine.documents.delete([document_id])
    assert list(fresh_engine.status().notices) == []


def test_pdf_is_kept_with_the_document_only(tmp_path: Path, soffice: StandIn) -> None:
    soffice.prepare(PRINTED)
    folder = tmp_path / "data" / "office-pdfs"
    with opened(tmp_path / "data") as engine:
        document_id = add(engine, OFFICE["DOCX"])
        view(engine, document_id)
        assert engine.status().disk_bytes["office-pdfs"] == len(PRINTED)
    with opened(tmp_path / "data") as engine:
        assert view(engine, document_id).drawn_by == "libreoffice"
        assert soffice.conversions == 1
        (pdf,) = folder.iterdir()
        pdf.unlink()
        assert view(engine, document_id).drawn_by == "libreoffice"
        assert soffice.conversions == 2
        (receipt,) = engine.documents.delete([document_id])
        assert receipt.chunks_remaining == 0
        assert list(folder.iterdir()) == []


def test_leftovers_of_a_crash_are_removed(tmp_path: Path, soffice: StandIn) -> None:
    soffice.prepare(PRINTED)
    folder = tmp_path / "data" / "office-pdfs"
    with opened(tmp_path / "data") as engine:
        view(engine, add(engine, OFFICE["DOCX"]))
        kept = list(folder.iterdir())
        engine._stores.preferences.set("clean_shutdown", None)
        engine._is_recovered = False
    (folder / ".converting-1").mkdir()
    (folder / ".converting-1" / "document").touch()
    (folder / f"{'0' * 64}.pdf").touch()
    with opened(tmp_path / "data"):
        assert list(folder.iterdir()) == kept


def test_document_that_is_removed_during_its_conversion_leaves_nothing(fresh_engine: Engine, soffice: StandIn) -> None:
    soffice.prepare(PRINTED, "sleep 1")
    document_id = add(fresh_engine, OFFICE["DOCX"])
    assert view(fresh_engine, document_id, wait_s=0).is_pending
    fresh_engine.documents.delete([document_id])
    folder = fresh_engine.settings.data_dir / "office-pdfs"
    deadline = time.monotonic() + 20
    while (not soffice.conversions or list(folder.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("is_installed", [True, False])
def test_other_documents_stay_as_they_are(fresh_engine: Engine, soffice: StandIn, is_installed: bool) -> None:
    if is_installed:
        soffice.prepare(PRINTED)
    pdf, text = add(fresh_engine, PRINTED, "boats.pdf"), add(fresh_engine, SENTENCE.encode(), "boats.txt")
    assert view(fresh_engine, pdf).drawn_by == ""
    assert view(fresh_engine, text, "dug").drawn_by == "footnote"
    word = add(fresh_engine, OFFICE["DOCX"])
    assert view(fresh_engine, word).drawn_by == ("libreoffice" if is_installed else "footnote")
    assert view(fresh_engine, word).reason == ""
    assert bool(fresh_engine.status().libreoffice) == is_installed


# With LibreOffice


@pytest.mark.parametrize("kind", OFFICE)
def test_libreoffice_draws_the_words(libreoffice: None, parser: DocumentParser, tmp_path: Path, kind: str) -> None:
    source, target = tmp_path / "0a1b2c", tmp_path / "a.pdf"
    source.write_bytes(OFFICE[kind])
    convert_to_pdf(source, target)
    pages = [one for one in parser.parse(source) if isinstance(one, Page)]
    pdf = OfficePdf(target, pages, kind)
    for words in (SENTENCE, "1,204", "Ferry"):
        start = pages[0].text.index(words)
        (rects,) = pdf.find(pages[0], [(start, start + len(words))]).values()
        assert ((rects >= 0) & (rects <= 1)).all()
        assert (rects[:, :2] < rects[:, 2:]).all()


@contextmanager
def listen() -> Iterator[tuple[str, list[str]]]:
    """Serve nothing on the loopback interface; yield the address and the list of the requests."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            requests.append(f"{self.command} {self.path}")
            self.send_error(404)

        do_GET = do_HEAD = do_OPTIONS = do_PROPFIND = do_CONNECT = answer  # noqa: N815 - names that the class prescribes

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_LINKED = (
    f'<w:p><w:r><w:drawing><wp:inline xmlns:wp="{_DRAWING}/wordprocessingDrawing"><wp:extent cx="900000" cy="900000"/>'
    f'<wp:docPr id="1" name="a"/><a:graphic xmlns:a="{_DRAWING}/main"><a:graphicData uri="{_DRAWING}/picture">'
    f'<pic:pic xmlns:pic="{_DRAWING}/picture"><pic:nvPicPr><pic:cNvPr id="1" name="a"/><pic:cNvPicPr/></pic:nvPicPr>'
    f'<pic:blipFill><a:blip xmlns:r="{_RELATIONS}" r:link="rIdLink"/></pic:blipFill><pic:spPr><a:xfrm>'
    '<a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic>'
    "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
)
_FRAME = (
    '<text:p><draw:frame xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" svg:width="3cm" '
    'svg:height="3cm" text:anchor-type="as-char">{}</draw:frame></text:p>'
)


def link_docx(address: str) -> bytes:
    relation = f'<Relationship Id="rIdLink" Type="{_RELATIONS}/image" Target="{address}/a.png" TargetMode="External"/>'
    linked = change_part(OFFICE["DOCX"], "word/document.xml", "<w:body>", f"<w:body>{_LINKED}")
    return change_part(linked, "word/_rels/document.xml.rels", "</Relationships>", f"{relation}</Relationships>")


def link_odt(address: str) -> bytes:
    link = (
        f'xmlns:xlink="http://www.w3.org/1999/xlink" xlink:type="simple" xlink:actuate="onLoad" xlink:href="{address}/a'
    )
    parts = [_FRAME.format(f'<draw:image {link}.png"/>'), _FRAME.format(f'<draw:object {link}.odt"/>')]
    return change_part(OFFICE["ODT"], "content.xml", "<office:text>", f"<office:text>{''.join(parts)}")


@pytest.mark.parametrize("make", [link_docx, link_odt])
def test_libreoffice_loads_nothing_from_elsewhere(
    libreoffice: None, tmp_path: Path, make: Callable[[str], bytes]
) -> None:
    document, target = tmp_path / "document", tmp_path / "a.pdf"
    with listen() as (address, requests):
        document.write_bytes(make(address))
        convert_to_pdf(document, target)
    assert requests == []
    Image.new("RGB", (50, 50), "red").save(tmp_path / "a.png")
    document.write_bytes(make(tmp_path.as_uri()))
    convert_to_pdf(document, target)
    pixels = np.asarray(Image.open(io.BytesIO(render_page(target, 0).png)).convert("RGB"), np.int16)
    assert (pixels[:, :, 0] - pixels[:, :, 1]).max() < 100
