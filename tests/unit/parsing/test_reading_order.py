"""The order of texts that are not written line by line from the top: cards, labels, columns, vertical text, strips."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_core.parsing.pdf.document import PdfiumDocument
from tests.support.drawn_pdfs import lines, make, raw_pdf, read

Drawing = Callable[[Canvas], None]


def texts(*places: tuple[float, float, float, str]) -> Drawing:
    """Draw texts, each with left end, baseline and size, in this order."""

    def draw(canvas: Canvas) -> None:
        for left, baseline, size, text in places:
            lines(text, left=left, top=baseline, size=size)(canvas)

    return draw


def words_from_the_end(*rows: str) -> Drawing:
    """Draw the words of each line from right to left."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 12)
        for number, row in enumerate(rows):
            for word in reversed(list(enumerate(row.split()))):
                before = " ".join([*row.split()[: word[0]], ""])
                canvas.drawString(72 + canvas.stringWidth(before, "Helvetica", 12), 750 - 16 * number, word[1])

    return draw


def upright(*columns: str) -> bytes:
    """Return a PDF with columns of characters from the top down, from the right, in a font that Courier replaces."""
    codes = {char: number for number, char in enumerate(dict.fromkeys("".join(columns)), ord("A"))}
    drawn = b"".join(
        b"BT /F1 14 Tf 1 0 0 1 %d %d Tm <%02x> Tj ET\n" % (300 - 24 * number, 750 - 14 * place, codes[char])
        for number, column in enumerate(columns)
        for place, char in enumerate(column)
    )
    maps = "\n".join(f"<{code:02x}> <{ord(char):04x}>" for char, code in codes.items())
    code_map = f"1 begincodespacerange <00> <ff> endcodespacerange\n{len(codes)} beginbfchar\n{maps}\nendbfchar"
    return raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R"
            b" /Resources << /Font << /F1 4 0 R >> >> >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 6 0 R >>",
            *(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(one), one) for one in (drawn, code_map.encode())),
        ]
    )


def blocks(*corners: tuple[float, float, str]) -> Drawing:
    prose = ("is a long story about the sea,", "which was told in the evening", "and ended before the sun rose.")
    return texts(
        *(
            (left, top - 14 * number, 11, line)
            for left, top, title in corners
            for number, line in enumerate((f"{title} of the old book", *prose))
        )
    )


@pytest.mark.parametrize(
    ("drawing", "parts"),
    [
        (
            words_from_the_end("Press the lower button", "and wait for a beep"),
            ("Press the lower button\nand wait for a beep",),
        ),
        (
            texts(
                *((72, 750, 11, "Date:"), (72, 735, 11, "Paid by:"), (72, 720, 11, "Interest:")),
                *((200, 750, 11, "3 May 2026"), (200, 735, 11, "Bank transfer"), (200, 720, 11, "none at all")),
            ),
            ("Date: 3 May 2026", "Paid by: Bank transfer", "Interest: none at all"),
        ),
        (
            blocks((72, 750, "Part one"), (320, 750, "Part three"), (320, 680, "Part four"), (72, 680, "Part two")),
            ("Part one", "Part two", "Part three", "Part four"),
        ),
        (
            texts(
                (72, 700, 24, "41 km                96,300"),
                *((72, 680, 10, "of track, most of it"), (72, 668, 10, "in tunnels")),
                *((255, 680, 10, "passengers on"), (255, 668, 10, "a working day")),
            ),
            ("41 km", "of track, most of it\nin tunnels", "96,300", "passengers on\na working day"),
        ),
        (
            texts(
                *((72, 700, 24, "60%             20%             20%"), (72, 680, 10, "of men")),
                *((72, 668, 10, "who sail"), (215, 680, 10, "of women"), (215, 668, 10, "who row")),
                *((365, 680, 10, "of pupils"), (365, 668, 10, "who swim")),
            ),
            ("60%\nof men", "20%\nof women", "20%\nof pupils"),
        ),
        (
            texts(
                *((72, 750 - 14 * number, 10, "The column is about rivers.") for number in range(3)),
                *((72, 660, 24, "41 km       96,300"), (72, 640, 10, "of track"), (72, 600, 10, "The column ends.")),
                *((180, 640, 10, "passengers"), *((320, 750 - 14 * row, 10, f"Right {row}.") for row in range(14))),
            ),
            ("about rivers.", "41 km", "of track", "96,300", "passengers", "The column ends.", "Right 0"),
        ),
        (
            texts(
                *((72, 700, 24, "2024                2023"), (72, 680, 10, "audited"), (72, 668, 10, "in full")),
                *((255, 680, 10, "audited"), (255, 668, 10, "in part")),
            ),
            ("2024 2023", "audited"),
        ),
    ],
)
def test_reading_order(tmp_path: Path, drawing: Drawing, parts: tuple[str, ...]) -> None:
    text = read(make(tmp_path / "a.pdf", drawing)).page.text
    places = [text.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_characters_from_the_top_down(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(upright("昔々ある所に", "爺と婆が居た"))
    assert read(tmp_path / "a.pdf").page.text == "昔々ある所に爺と婆が居た"


def test_strips_of_one_picture_count_as_one(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for number in range(3):
            canvas.drawImage(ImageReader(Image.new("RGB", (300, 40), "white")), 72, 500 + 40 * number, 300, 40)
        canvas.drawImage(ImageReader(Image.new("RGB", (30, 30), "white")), 72, 300, 30, 30)

    with closing(PdfiumDocument(make(tmp_path / "a.pdf", draw))) as document, document.open_page(0) as page:
        heights = (page.find_pictures()[:, 3] - page.find_pictures()[:, 1]) * page.height
    assert sorted(heights.round().tolist()) == [30, 120]
