"""Small generated PDFs, and pages parsed without a worker."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pypdf
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from rag_core.parsing.layout.hyphenation import Vocabulary, join_hyphenated
from rag_core.parsing.pdf.document import PdfiumDocument
from rag_core.parsing.pdf.fonts import Fonts
from rag_core.parsing.pdf.page_parser import parse_page
from rag_core.types.documents import ParsedPage

PROSE = (
    "The company sells tools to people who repair bridges and it has done so",
    "since the year in which its founder, a retired engineer, came back from",
    "the coast and found that nobody made a wrench that would not rust there.",
)
# Places of the columns of `rows`: the left end of the labels, and the right ends of the figures.
PLACES = (60, 330, 410, 490)
SALES = (("", "2023", "2022"), ("Net sales", "3,642", "3,507"), ("Cost of sales", "2,980", "2,862"))


def make(path: Path, *pages: Callable[[Canvas], None], **options: object) -> Path:
    """Write a PDF with one page for each drawing function."""
    canvas = Canvas(str(path), pagesize=A4, **options)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def lines(*texts: str, top: float = 750, left: float = 72, pitch: float = 14, size: float = 11):
    """Return a function that draws lines one below the other; an empty line leaves a gap."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", size)
        for number, text in enumerate(texts):
            if text:
                canvas.drawString(left, top - number * pitch, text)

    return draw


def rows(
    *texts: Sequence[str], places: Sequence[float] = PLACES, left: bool = False, top: float = 600, pitch: float = 14
):
    """Draw rows of cells. The first cell is left-aligned; the others too if ``left`` is true."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        for number, row in enumerate(texts):
            for place, x, text in zip(range(len(row)), places, row, strict=False):
                write = canvas.drawString if left or not place else canvas.drawRightString
                write(x, top - pitch * number, text)

    return draw


def read(path: Path, index: int = 0, ocr: str = "off") -> ParsedPage:
    document, fonts = PdfiumDocument(path), Fonts(path, None)
    try:
        with document.open_page(index) as reader:
            parsed = parse_page(reader, index, fonts, ocr)
            return join_hyphenated(parsed, Vocabulary(parsed.words))
    finally:
        fonts.close()
        document.close()


def raw_pdf(objects: list[bytes], root: int = 1, extra: bytes = b"") -> bytes:
    """Return a PDF from the bodies of its objects, numbered from 1, with a correct cross-reference table."""
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    out.write(b"trailer\n<< /Size %d /Root %d 0 R %s >>\n" % (len(objects) + 1, root, extra))
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


def three(path: Path) -> Path:
    return make(path, *(lines(f"This is page {word}.", *PROSE) for word in ("one", "two", "three")))


def encrypted(path: Path, user: str) -> Path:
    writer = pypdf.PdfWriter(clone_from=three(path.with_suffix(".plain.pdf")))
    writer.encrypt(user_password=user, owner_password="the owner's", algorithm="AES-256")
    writer.write(path)
    return path
