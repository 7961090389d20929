"""Characters that the code maps of fonts tell wrongly, characters without a meaning, and leaders."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.parsing.pdf.file import PdfFile
from tests.support.drawn_pdfs import lines, make, raw_pdf

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding %s /ToUnicode 6 0 R >>"
WIN = b"/WinAnsiEncoding"
DIFFERENCES = b"<< /BaseEncoding /WinAnsiEncoding /Differences [3 /minus 27 /fl] >>"


def stream(body: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(body), body)


def page_text(path: Path) -> str:
    file = PdfFile(path, None, None)
    try:
        return file.read_page(0, "off").page.text
    finally:
        file.close()


@pytest.mark.parametrize(
    ("drawn", "encoding", "entries", "read"),
    [
        (rb"(A loss of ) Tj <03> Tj (4.5 crowns)", DIFFERENCES, "<03> <0003>", "A loss of -4.5 crowns"),
        (rb"(The clock at the church)", WIN, "<63> <000d>", "The clock at the church"),
        (rb"(It took 2.5 hours.)", WIN, "<2e> <0020>", "It took 2.5 hours."),
        (rb"(The ) Tj <1b> Tj (ute was old)", DIFFERENCES, "<1b> <006c>", "The flute was old"),
        (rb"(One ) Tj <1b> Tj (ute is enough)", DIFFERENCES, "<1b> <006c>", "One flute is enough"),
        (rb"(Two ) Tj <1b> Tj (utes)", DIFFERENCES, "<1b> <0066006c>", "Two flutes"),
        (rb"(Pages 3\25514 are lost)", WIN, "<ad> <00ad>", "Pages 3-14 are lost"),
        (rb"(Doses of 5 ) Tj <04> Tj (g)", WIN, "<04> <0004>", "Doses of 5 g"),
        (rb"(The ferry leaves)", WIN, "<66> <0066>", "The ferry leaves"),
    ],
)
def test_drawn_characters_are_read(tmp_path: Path, drawn: bytes, encoding: bytes, entries: str, read: str) -> None:
    code_map = b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar\n%s\nendbfchar endcmap"
    pdf = raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>",
            stream(b"BT /F1 12 Tf 40 100 Td %s Tj ET" % drawn),
            FONT % encoding,
            stream(code_map % entries.encode()),
        ]
    )
    (tmp_path / "a.pdf").write_bytes(pdf)
    assert page_text(tmp_path / "a.pdf") == read


def test_dots_between_label_and_figure_are_left_out(tmp_path: Path) -> None:
    path = make(tmp_path / "a.pdf", lines("Ferries........17.5", "Bridges. . . . . . . . 4", "And so on... It ends."))
    assert page_text(path).splitlines() == ["Ferries 17.5", "Bridges 4", "And so on... It ends."]
