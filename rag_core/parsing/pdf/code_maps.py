"""Correct the maps from codes to text (ToUnicode, ISO 32000-1, 9.10.3) of fonts.

Some producers map a drawn character to a control character, a blank, a soft hyphen or one letter of a ligature. The
name of the glyph, or the character map of the font program, then shows the right character.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Iterator, Mapping

_BLOCK = re.compile(rb"begin(bfchar|bfrange)(.*?)end\1", re.DOTALL)
_TOKEN = re.compile(rb"<([0-9A-Fa-f\s]*)>|(\[)|(\])")
# Number of codes with two bytes.
_MAX_CODES = 65536
_BLOCK_ENTRIES = 100
# Texts without any readable character.
_NOTHING = re.compile("[\x00-\x20\x7f-\xa0\xad\ufffd-\uffff]*")
_LIGATURES = {"ff": "\ufb00", "fi": "\ufb01", "fl": "\ufb02", "ffi": "\ufb03", "ffl": "\ufb04", "st": "\ufb06"}
# Ornaments such as arrows, circled figures and the glyphs of Zapf Dingbats.
_ORNAMENT = re.compile("[\u2600-\u27bf]")
_LATIN_1 = re.compile("[\x80-\xff]")
# Hebrew and Arabic letters, which some fonts map to characters of Latin-1.
_BACKWARDS = re.compile("[\u0590-\u06ff]")


def read_code_map(data: bytes) -> tuple[dict[int, str], int, bool]:
    """Return the text of each code in a ToUnicode map, the length of a code in bytes, and whether the map is plain.

    Pdfium reads only a plain map as written, because pdfium cuts ranges that contain codes with different first bytes.
    """
    texts: dict[int, str] = {}
    width, is_plain = 1, True
    for kind, body in _BLOCK.findall(data):
        tokens = _TOKEN.findall(body)
        place = 0
        while place + (1 if kind == b"bfchar" else 2) < len(tokens) and len(texts) < _MAX_CODES:
            first = int(tokens[place][0] or b"0", 16)
            width = max(width, (len(tokens[place][0]) + 1) // 2)
            if kind == b"bfchar":
                texts[first] = _decode(tokens[place + 1][0])
                place += 2
                continue
            last = min(int(tokens[place + 1][0] or b"0", 16), first + _MAX_CODES - 1)
            is_plain &= first >> 8 == last >> 8
            place += 2
            if tokens[place][1]:
                place += 1
                code = first
                while place < len(tokens) and not tokens[place][2]:
                    texts[code] = _decode(tokens[place][0])
                    code, place = code + 1, place + 1
            elif (start := _decode(tokens[place][0])) and ord(start[-1]) + last - first <= 0x10FFFF:
                texts.update((code, start[:-1] + chr(ord(start[-1]) + code - first)) for code in range(first, last + 1))
            place += 1
    return texts, width, is_plain


def _decode(written: bytes) -> str:
    """Return the text of hexadecimal digits: one byte is a code point, and more bytes are UTF-16."""
    digits = b"".join(written.split())
    data = bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))
    return chr(data[0]) if len(data) == 1 else data[: len(data) // 2 * 2].decode("utf-16-be", "replace")


def write_code_map(texts: Mapping[int, str], width: int) -> bytes:
    """Return a ToUnicode map that pdfium reads as written.

    Consecutive codes with consecutive characters share an entry, and codes with an empty text have none. ``width`` is
    the length of a code in bytes.
    """
    rows: list[list[int]] = []
    for code in sorted(texts):
        follows = rows and rows[-1][1] == code - 1 and code & 0xFF and len(texts[code]) == len(texts[code - 1]) == 1
        if follows and ord(texts[code]) == ord(texts[code - 1]) + 1:
            rows[-1][1] = code
        else:
            rows.append([code, code])
    digits = 2 * width
    lines = [
        f"<{first:0{digits}x}> <{last:0{digits}x}> <{texts[first].encode('utf-16-be', 'replace').hex()}>"
        for first, last in rows
        if texts[first]
    ]
    blocks = [lines[start : start + _BLOCK_ENTRIES] for start in range(0, len(lines), _BLOCK_ENTRIES)]
    body = "\n".join(f"{len(block)} beginbfrange\n" + "\n".join(block) + "\nendbfrange" for block in blocks)
    space = f"1 begincodespacerange <{0:0{digits}x}> <{256**width - 1:x}> endcodespacerange"
    head = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def"
    return f"{head}\n{space}\n{body}\nendcmap end end".encode("ascii")


def correct_text(code: int, mapped: str, drawn: str) -> str:
    """Return the text of a code: ``mapped`` by the font, or ``drawn`` by its glyph if the map cannot be right.

    >>> correct_text(45, "\\x03", "-"), correct_text(27, "l", "fl"), correct_text(97, "b", "a")
    ('-', 'ﬂ', 'b')
    """
    drawn = drawn.replace("\u2212", "-")
    spelled = unicodedata.normalize("NFKC", drawn)
    if not spelled.strip() or _NOTHING.fullmatch(spelled):
        return mapped
    ligature = _LIGATURES.get(spelled, "")
    if _NOTHING.fullmatch(mapped):
        is_blank = bool(mapped) and not mapped.strip(" \xa0")
        return mapped if is_blank and code in (0x20, 0xA0) else ligature or drawn
    if ligature and len(mapped) == 1 and mapped in spelled:
        return ligature
    is_letter = drawn.isalpha() and len(drawn) == 1
    if is_letter and _ORNAMENT.fullmatch(mapped):
        return drawn
    return drawn if is_letter and _BACKWARDS.match(drawn) and _LATIN_1.fullmatch(mapped) else mapped


def read_glyph_characters(program: bytes) -> dict[int, str]:
    """Return the character of each glyph number, according to the Unicode character map of a TrueType font program.

    Return an empty dictionary without such a map. Raise `struct.error` if the program is truncated.
    """
    tables = dict(_iter_tables(program))
    if "cmap" not in tables:
        return {}
    start = tables["cmap"]
    glyphs: dict[int, str] = {}
    for number in range(struct.unpack_from(">H", program, start + 2)[0]):
        platform, encoding, offset = struct.unpack_from(">HHL", program, start + 4 + 8 * number)
        if platform == 0 or (platform == 3 and encoding in (1, 10)):
            for char, glyph in _iter_characters(program, start + offset):
                known = glyphs.setdefault(glyph, chr(char))
                # Of several characters, choose the first that is no compatibility form.
                if unicodedata.decomposition(known) and not unicodedata.decomposition(chr(char)):
                    glyphs[glyph] = chr(char)
    return glyphs


def _iter_tables(program: bytes) -> Iterator[tuple[str, int]]:
    """Yield the name and the offset of each table of a TrueType program."""
    for number in range(struct.unpack_from(">H", program, 4)[0]):
        tag, _, offset, _ = struct.unpack_from(">4sLLL", program, 12 + 16 * number)
        yield tag.decode("latin-1"), offset


def _iter_characters(program: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Yield the code point and the glyph number of each entry of a character map that starts at an offset.

    Yield nothing if the map is not in format 4, the usual format.
    """
    form, _, _, double = struct.unpack_from(">HHHH", program, start)
    if form != 4:
        return
    count = double // 2
    ends, starts, deltas, offsets = (
        struct.unpack_from(f">{count}H", program, start + 14 + double * number + (2 if number else 0))
        for number in range(4)
    )
    for segment in range(count):
        for char in range(starts[segment], min(ends[segment], 0xFFFE) + 1):
            glyph = char + deltas[segment]
            if offsets[segment]:
                place = start + 16 + 3 * double + 2 * segment + offsets[segment] + 2 * (char - starts[segment])
                glyph = struct.unpack_from(">H", program, place)[0]
                glyph += deltas[segment] if glyph else 0
            if glyph & 0xFFFF and not 0xD800 <= char < 0xE000:
                yield char, glyph & 0xFFFF
