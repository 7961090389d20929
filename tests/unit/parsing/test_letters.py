"""Letters whose places, shapes or code maps mislead: letterspacing, boxes of forms, ligatures, marks, cut cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.support.drawn_pdfs import lines, make, raw_pdf, read

Drawing = Callable[[Canvas], None]


def spaced(*words: str, gap: float = 5) -> Drawing:
    """Draw words with a gap after each letter, as a designer spaces a title."""

    def draw(canvas: Canvas) -> None:
        lines("Please read the following.", top=780)(canvas)
        canvas.setFont("Helvetica", 11)
        place = 72.0
        for letter in " ".join(words):
            canvas.drawString(place, 750, letter)
            place += canvas.stringWidth(letter, "Helvetica", 11) + gap

    return draw


def boxed(value: str, pitch: float = 16, height: float = 18) -> Drawing:
    """Draw a label and a value with one letter in each box; boxes of a blank stay empty."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 750, "Surname")
        for number, letter in enumerate(value):
            canvas.rect(180 + pitch * number, 750 - height / 3, pitch, height)
            canvas.drawCentredString(180 + pitch * (number + 0.5), 750, letter)

    return draw


def tabulated(*rows: str) -> Drawing:
    """Draw a table with one character in each cell, all with borders."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        for row, letters in enumerate(rows):
            for number, letter in enumerate(letters):
                canvas.rect(180 + 16 * number, 744 - 18 * row, 16, 18)
                canvas.drawCentredString(188 + 16 * number, 750 - 18 * row, letter)

    return draw


def written(sentence: str) -> Drawing:
    """Draw a sentence."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 750, sentence)

    return draw


def overflowing(first: str, second: str) -> Drawing:
    """Draw two cells of which the first one touches the second one."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 750, first)
        canvas.drawString(71 + canvas.stringWidth(first, "Helvetica", 11), 750, second)

    return draw


def tight(text: str) -> Drawing:
    """Draw a text glyph by glyph, each over the end of the one before it."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        place = 72.0
        for letter in text:
            canvas.drawString(place, 750, letter)
            place += canvas.stringWidth(letter, "Helvetica", 11) - 0.6

    return draw


def stream(body: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(body), entries, body)


def tall_page(text: bytes, entries: bytes, font: bytes, *more: bytes) -> bytes:
    """Return a PDF of one page, which inherits its box, with a text at its top; further objects begin at number 6."""
    return raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 400 1600] >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> %s >>" % entries,
            stream(b"BT /F1 12 Tf 40 1500 Td (%s) Tj ET" % text),
            font,
            *more,
        ]
    )


@pytest.mark.parametrize(
    ("drawing", "text"),
    [
        (spaced("NOTICE"), "NOTICE"),
        (tabulated("43544", "32415"), "3 2 4 1 5"),
        (written("The guitar is tuned E A D G B E from below."), "The guitar is tuned E A D G B E from below."),
        (spaced("WINTER", "TIMETABLE"), "WINTER TIMETABLE"),
        (spaced("slowly", gap=3), "slowly"),
        (spaced("ABCDE"), "A B C D E"),
        (spaced("XKRTQ"), "X K R T Q"),
        (spaced("NOTICE", gap=30), "N O T I C E"),
        (boxed("OKONJO"), "Surname OKONJO"),
        (boxed("27081963"), "Surname 27081963"),
        (boxed("ANNA LIND"), "Surname ANNA LIND"),
        (boxed("27081963", pitch=40), "Surname 2 7 0 8 1 9 6 3"),
        (boxed("27081963", height=90), "Surname 2 7 0 8 1 9 6 3"),
        (boxed("12345678"), "Surname 1 2 3 4 5 6 7 8"),
        (overflowing("Refund of 2021/0447", "88120"), "Refund of 2021/0447 88120"),
        (overflowing("Paid to the warehouse", "640"), "Paid to the warehouse 640"),
        (overflowing("Paid to the ware", "house"), "Paid to the warehouse"),
        (tight("Total of 1993: 24,571"), "Total of 1993: 24,571"),
    ],
)
def test_gaps_between_letters(tmp_path: Path, drawing: Drawing, text: str) -> None:
    assert text in read(make(tmp_path / "a.pdf", drawing)).page.text.split("\n")


@pytest.mark.parametrize(
    ("written", "joined"),
    [
        (("The club played in the years from 1993\u2013", "2004 and won nothing."), "1993\u20132004 and"),
        (("And all of it is now at https://example.org/", "estates-1993.csv for a year."), "org/estates-1993.csv for"),
        (("And all of it is now at https://example.org/", "2019/list.csv for a year."), "org/2019/list.csv for"),
        (("And all of it is now at https://example.org/", "for a whole year."), "example.org/\nfor"),
        (("Find us at https://example.org/", "estates-1993.csv has a list."), "example.org/\nestates"),
        (("https://www.example.org/archive/all/", "www.example.com/shop"), "all/\nwww"),
        (("https://www.example.org/archive/all/", "a.lind@example.com"), "all/\na.lind"),
        (("https://www.example.org/archive/all/", "10.5 per cent more"), "all/\n10.5"),
        (("https://www.example.org/archive/all/", "12/05/2021"), "all/\n12/05"),
        (("Ages 10\u2013", "20 boys and 12 girls"), "10\u2013\n20"),
        (("1993\u2013", "2004"), "1993\u2013\n2004"),
        (("The mayors are in office since 2019\u2013", "2021\u2013 is the last one."), "2019\u2013\n2021"),
    ],
)
def test_ranges_and_addresses_at_line_ends(tmp_path: Path, written: Sequence[str], joined: str) -> None:
    page = read(make(tmp_path / "a.pdf", lines("The line above is not longer than these are.", *written))).page
    assert joined in page.text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (
            "Interna:onal coopera:on and the organisa:on of ac:on.",
            "International cooperation and the organisation of action.",
        ),
        ("The commiMee has wriMen to liMle effect.", "The committee has written to little effect."),
        ("The eMail of the iMac and the ratio of x:y.", "The eMail of the iMac and the ratio of x:y."),
        ("See note:the sums are in euros, note:all of them.", "See note:the sums are in euros, note:all of them."),
    ],
)
def test_ligatures_mapped_to_other_characters(tmp_path: Path, written: str, text: str) -> None:
    def draw(canvas: Canvas) -> None:
        pen = canvas.beginText(72, 750)
        pen.setFont("Courier", 10)  # all characters are as wide as two narrow letters
        pen.setHorizScale(80)
        pen.textLine(written)
        canvas.drawText(pen)

    assert read(make(tmp_path / "a.pdf", draw)).page.text == text


@pytest.mark.parametrize(("drawn", "text"), [("hyphen", "Oulu -11"), ("comma", "Oulu ,11"), ("x", "Oulu \ufffd11")])
def test_unread_marks_show_by_their_shape(tmp_path: Path, drawn: str, text: str) -> None:
    encoding = b"<< /Type /Encoding /Differences [2 /%s] >>" % drawn.encode()
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding %s /ToUnicode 6 0 R >>" % encoding
    ranges = b"2 beginbfrange\n<02> <02> <0002>\n<20> <7a> <0020>\nendbfrange"
    maps = b"1 begincodespacerange <00> <ff> endcodespacerange\n" + ranges
    path = tmp_path / "a.pdf"
    path.write_bytes(tall_page(b"Oulu \00211", b"/MediaBox [0 0 400 1600]", font, stream(maps)))
    assert read(path).page.text == text


def test_words_divided_in_a_language_without_a_dictionary(tmp_path: Path) -> None:
    page = read(
        make(
            tmp_path / "a.pdf",
            lines("Styrelsen har beslutat att höja avgiften och att reger-", "ingen ska få veta det."),
        )
    ).page
    assert page.text.endswith("regeringen ska få veta det.")


def test_page_with_a_form_field_keeps_an_inherited_box(tmp_path: Path) -> None:
    stamp = b"<< /Type /Annot /Subtype /Stamp /Rect [40 40 90 60] /F 4 /AP << /N 7 0 R >> >>"
    look = stream(b"q Q", b"/Type /XObject /Subtype /Form /BBox [0 0 50 20]")
    path = tmp_path / "a.pdf"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    path.write_bytes(tall_page(b"Top of a tall page", b"/Annots [6 0 R]", font, stamp, look))
    assert read(path).page.text == "Top of a tall page"
