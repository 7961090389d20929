"""Glyphs without a mapping to characters, and accents drawn separately from their letters."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path

import pypdf
import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.parsing.pdf.fonts import Fonts
from rag_core.parsing.pdf.glyph_names import decode_glyphs, find_glyph_character
from tests.support.drawn_pdfs import make, raw_pdf, read

NAMES = {"Math": {104: "angbracketleft", 105: "angbracketright"}, "Text": {27: "f_i", 97: "a.sc"}}
PROGRAM = b"%!PS-AdobeFont-1.0\ndup 104 /angbracketleft put\ndup 105/angbracketright put\neexec dup 106 /f_i put"


def stream(body: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(body), entries, body)


def page_with(font: bytes, text: bytes, *more: bytes, resources: bytes = b"<< /Font << /F1 5 0 R >> >>") -> bytes:
    return raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources %s >>" % resources,
            stream(b"BT /F1 12 Tf 40 100 Td (%s) Tj ET" % text),
            font,
            *more,
        ]
    )


def type_1(differences: bytes, name: bytes = b"ABCDEF+Grove", extra: bytes = b"") -> bytes:
    encoding = b"<< /Type /Encoding /Differences [%s] >>" % differences
    return b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding %s %s >>" % (name, encoding, extra)


def text_of(path: Path, pdf: bytes) -> str:
    path.write_bytes(pdf)
    return read(path).page.text


def glyph_names(path: Path, pdf: bytes, index: int = 0, password: str | None = None) -> dict[str, dict[int, str]]:
    path.write_bytes(pdf)
    with closing(Fonts(path, password)) as fonts:
        return fonts.read_glyph_names(index)


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("f_i", "ﬁ"),
        ("f_f_l", "ﬄ"),
        ("ffi.alt", "ﬃ"),
        ("parenleftBigg", "("),
        ("summationdisplay", "∑"),
        ("prime", "′"),
        ("a27", ""),
        ("T_h", ""),
        ("", ""),
        ("big", ""),
    ],
)
def test_character_of_glyph_name(name: str, letter: str) -> None:
    assert find_glyph_character(name) == letter


def test_glyphs_are_decoded_by_name() -> None:
    unmapped = [("Math", 104), ("Text", 27), ("Math", 27), ("Other", 1 << 32), ("Math", 105)]
    assert decode_glyphs(unmapped, lambda: NAMES) == [ord("⟨"), ord("ﬁ"), 0, 0xFFFD, ord("⟩")]


def test_ligatures_and_brackets_are_read_by_glyph_name(tmp_path: Path) -> None:
    font = type_1(b"27 /f_i /f_f 104 /angbracketleft /angbracketright")
    text = text_of(tmp_path / "a.pdf", page_with(font, b"A \033eld, hnamei, put o\034"))
    assert text == "A field, ⟨name⟩, put off"


def test_fonts_of_a_form_object_and_negation_strokes_are_read(tmp_path: Path) -> None:
    group = stream(
        b"BT /F2 12 Tf 40 60 Td (a 6= b) Tj ET",
        b"/Type /XObject /Subtype /Form /BBox [0 0 400 200] /Resources << /Font << /F2 7 0 R >> >>",
    )
    pdf = page_with(
        type_1(b"1 /f_l", b"Other"),
        b"\001oor) Tj ET /Group Do BT (",
        group,
        type_1(b"54 /negationslash"),
        resources=b"<< /Font << /F1 5 0 R >> /XObject << /Group 6 0 R >> >>",
    )
    text = text_of(tmp_path / "a.pdf", pdf)
    assert "floor" in text
    assert "≠ b" in text


def test_glyph_names_come_from_the_font_program(tmp_path: Path) -> None:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Grove /FontDescriptor 6 0 R >>"
    descriptor = b"<< /Type /FontDescriptor /FontName /Grove /Flags 4 /FontFile 7 0 R >>"
    names = glyph_names(tmp_path / "a.pdf", page_with(font, b"hi", descriptor, stream(PROGRAM)))
    assert names == {"Grove": {104: "angbracketleft", 105: "angbracketright"}}


def test_contradictory_codes_of_fonts_with_one_name_are_left_out(tmp_path: Path) -> None:
    first, second = type_1(b"1 /f_i /f_l"), type_1(b"1 /f_f /f_l", b"GHIJKL+Grove")
    pdf = page_with(first, b"a", second, resources=b"<< /Font << /F1 5 0 R /F2 6 0 R >> >>")
    assert glyph_names(tmp_path / "a.pdf", pdf) == {"Grove": {2: "f_l"}}


def test_fonts_of_an_encrypted_file_are_read(tmp_path: Path) -> None:
    writer, encrypted = pypdf.PdfWriter(io.BytesIO(page_with(type_1(b"1 /f_i"), b"a"))), io.BytesIO()
    writer.encrypt("word", algorithm="AES-256")
    writer.write(encrypted)
    assert glyph_names(tmp_path / "a.pdf", encrypted.getvalue(), password="word") == {"Grove": {1: "f_i"}}


@pytest.mark.parametrize(
    ("pdf", "index"),
    [
        (b"%PDF-1.4\nnothing", 0),
        (page_with(type_1(b"1 /f_i"), b"a"), 7),
        (page_with(type_1(b"1 /f_i"), b"a").replace(b"/Count 1 ", b"/Count 9999 "), 0),
    ],
    ids=["broken file", "no such page", "very many pages"],
)
def test_unreadable_fonts_have_no_names(tmp_path: Path, pdf: bytes, index: int) -> None:
    assert glyph_names(tmp_path / "a.pdf", pdf, index) == {}


def test_fonts_can_be_closed_twice(tmp_path: Path) -> None:
    fonts = Fonts(tmp_path / "broken.pdf", None)
    fonts.close()
    fonts.close()


def accented(*parts: str, raised: float = 0.0):
    """Draw a line in which each accent is drawn before the letter below it."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 12)
        across = 72.0
        for part in parts:
            if part in "´¨`ˆ¸":
                canvas.drawString(across + 1.5, 700 + raised, part)
                continue
            canvas.drawString(across, 700, part)
            across += canvas.stringWidth(part, "Helvetica", 12)

    return draw


@pytest.mark.parametrize("raised", [0.0, 2.5], ids=["over small letters", "over capitals"])
@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("Schr", "¨", "odinger und G", "¨", "odel"), "Schrödinger und Gödel"),
        (("acc", "´", "el", "´", "eration"), "accélération"),
        (("¨", "Uber die ", "´", "Ecole"), "Über die École"),
        (("a gar", "¸", "con ", "`", "a la carte"), "a garçon à la carte"),
    ],
)
def test_accents_are_combined_with_their_letters(
    tmp_path: Path, parts: tuple[str, ...], text: str, raised: float
) -> None:
    page = read(make(tmp_path / "a.pdf", accented(*parts, raised=raised))).page
    assert page.text == text
    assert [page.text[start:end] for start, end in zip(page.boxes.starts, page.boxes.ends, strict=True)] == (
        page.text.split()
    )


def test_accents_without_a_letter_are_kept(tmp_path: Path) -> None:
    page = read(make(tmp_path / "a.pdf", accented("´", "7 or ", "´", "x", "   ´ alone"))).page
    assert page.text.count("´") == 3
    assert "7 or" in page.text


def test_form_objects_that_contain_each_other_are_read_once(tmp_path: Path) -> None:
    both = b"/XObject << %s >>" % b" ".join(b"/G%d %d 0 R" % (number, 6 + number % 2) for number in range(150))
    groups = [stream(b"", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << %s >>" % both)] * 2
    resources = b"<< /Font << /F1 5 0 R >> %s >>" % both
    pdf = page_with(type_1(b"1 /f_i"), b"a", *groups, resources=resources)
    assert glyph_names(tmp_path / "a.pdf", pdf) == {"Grove": {1: "f_i"}}
