"""Letters that a font does not name, and accents that stand beside their letters."""

from __future__ import annotations

from pathlib import Path

import pypdf
import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.parsing.pdf.fonts import Fonts
from rag_core.parsing.pdf.glyph_names import decode_glyphs, glyph_character
from tests.support.drawn_pdfs import make, raw_pdf, read

NAMES = {"Math": {104: "angbracketleft", 105: "angbracketright"}, "Text": {27: "f_i", 97: "a.sc"}}
DRAWN = b"600 0 0 0 600 700 d1 0 0 500 500 re f"
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


def type_3(*codes: int) -> bytes:
    """A font of pictures, whose glyphs have numbers for names, as TeX's have."""
    names = b" ".join(b"%d /a%d" % (code, code) for code in codes)
    drawn = b" ".join(b"/a%d 6 0 R" % code for code in codes)
    return (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 700] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 0 "
        b"/LastChar 255 /Widths [%s] /Encoding << /Type /Encoding /Differences [%s] >> /CharProcs << %s >> >>"
    ) % (b" ".join([b"600"] * 256), names, drawn)


def text_of(path: Path, pdf: bytes) -> str:
    path.write_bytes(pdf)
    return read(path).page.text


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
def test_what_a_glyph_of_this_name_draws(name: str, letter: str) -> None:
    assert glyph_character(name) == letter


def test_letters_come_from_the_names_and_are_none_without() -> None:
    unmapped = [("Math", 104), ("Text", 27), ("Math", 27), ("Other", 1 << 32), ("Math", 105)]
    assert decode_glyphs(unmapped, lambda: NAMES) == [ord("⟨"), ord("ﬁ"), 0, 0xFFFD, ord("⟩")]


def test_fonts_are_not_looked_into_for_those_without_a_name() -> None:
    def unexpected() -> dict[str, dict[int, str]]:
        raise AssertionError("the file was opened")

    tex = [("", ord(letter)) for letter in "diferent words"] + [("", 27)]
    assert decode_glyphs(tex, unexpected)[-1] == ord("ﬀ")
    assert decode_glyphs([], unexpected) == []
    numbered = [("", code) for code in range(1, 40)]
    assert not any(decode_glyphs(numbered, unexpected)), "glyphs numbered as they come"


def test_ligatures_and_brackets_that_only_their_names_tell(tmp_path: Path) -> None:
    font = type_1(b"27 /f_i /f_f 104 /angbracketleft /angbracketright")
    text = text_of(tmp_path / "a.pdf", page_with(font, b"A \033eld, hnamei, put o\034"))
    assert text == "A field, ⟨name⟩, put off"


def test_a_group_s_fonts_count_and_so_does_what_negates(tmp_path: Path) -> None:
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


def test_ligatures_of_fonts_that_are_pictures(tmp_path: Path) -> None:
    font = type_3(27, 28, 32, *range(97, 123))
    text = text_of(tmp_path / "a.pdf", page_with(font, b"many di\033erent and distant \034elds", stream(DRAWN)))
    assert text == "many different and distant fields"


def test_what_the_font_program_calls_its_glyphs(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    descriptor = b"<< /Type /FontDescriptor /FontName /Grove /Flags 4 /FontFile 7 0 R >>"
    path.write_bytes(
        page_with(
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Grove /FontDescriptor 6 0 R >>",
            b"hi",
            descriptor,
            stream(PROGRAM),
        )
    )
    fonts = Fonts(path, None)
    assert fonts.glyph_names(0) == {"Grove": {104: "angbracketleft", 105: "angbracketright"}}
    fonts.close()


def test_a_code_on_which_fonts_of_one_name_disagree_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    first, second = type_1(b"1 /f_i /f_l"), type_1(b"1 /f_f /f_l", b"GHIJKL+Grove")
    path.write_bytes(page_with(first, b"a", second, resources=b"<< /Font << /F1 5 0 R /F2 6 0 R >> >>"))
    fonts = Fonts(path, None)
    assert fonts.glyph_names(0) == {"Grove": {2: "f_l"}}
    assert fonts.glyph_names(7) == {}, "no such page"
    fonts.close()


def test_fonts_of_an_encrypted_file_and_of_one_that_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(page_with(type_1(b"1 /f_i"), b"a"))
    writer = pypdf.PdfWriter(clone_from=path)
    writer.encrypt("word", algorithm="AES-256")
    writer.write(tmp_path / "locked.pdf")
    fonts = Fonts(tmp_path / "locked.pdf", "word")
    assert fonts.glyph_names(0) == {"Grove": {1: "f_i"}}
    fonts.close()
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing")
    fonts = Fonts(tmp_path / "broken.pdf", None)
    assert fonts.glyph_names(0) == {}
    fonts.close()
    fonts.close()


def accented(*parts: str, raised: float = 0.0):
    """A line of words in which each part that is an accent is drawn over the next letter, before it."""

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
def test_accents_are_put_on_their_letters(tmp_path: Path, parts: tuple[str, ...], text: str, raised: float) -> None:
    page = read(make(tmp_path / "a.pdf", accented(*parts, raised=raised))).page
    assert page.text == text
    assert [page.text[start:end] for start, end in zip(page.boxes.starts, page.boxes.ends, strict=True)] == (
        page.text.split()
    )


def test_accents_over_no_letter_stay_where_they_are(tmp_path: Path) -> None:
    page = read(make(tmp_path / "a.pdf", accented("´", "7 or ", "´", "x", "   ´ alone"))).page
    assert page.text.count("´") == 3
    assert "7 or" in page.text


def test_fonts_of_a_page_among_very_many_are_not_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(page_with(type_1(b"1 /f_i"), b"a").replace(b"/Count 1 ", b"/Count 9999 "))
    fonts = Fonts(path, None)
    assert fonts.glyph_names(0) == {}
    fonts.close()


def test_groups_that_hold_one_another_are_looked_into_once(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    both = b"/XObject << %s >>" % b" ".join(b"/G%d %d 0 R" % (one, 6 + one % 2) for one in range(150))
    groups = [stream(b"", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << %s >>" % both)] * 2
    path.write_bytes(page_with(type_1(b"1 /f_i"), b"a", *groups, resources=b"<< /Font << /F1 5 0 R >> %s >>" % both))
    fonts = Fonts(path, None)
    assert fonts.glyph_names(0) == {"Grove": {1: "f_i"}}
    fonts.close()
