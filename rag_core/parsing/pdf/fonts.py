"""Read PDF objects that pdfium does not expose: the page tree, and the glyph names of fonts.

Pdfium reports no pages for a file that it cannot read, so the page tree shows whether a file really has no pages. Only
this module uses pypdf.
"""

from __future__ import annotations

import logging
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from rag_core.parsing.pdf.code_maps import correct_text, read_code_map, read_glyph_characters, write_code_map
from rag_core.parsing.pdf.glyph_names import find_glyph_character

if TYPE_CHECKING:
    from pypdf import PdfReader

# Errors in broken files, because pypdf does not check the types of objects.
_BROKEN = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, NotImplementedError),
    *(RecursionError, OSError, ZeroDivisionError, OverflowError),
)
# Maximum number of fonts of a page or group, and of groups of a page.
_MAX_FONTS = 200
_MAX_GROUPS = 200
# Glyph names of longer files are not read, because pypdf would take too long to find a page.
_MAX_PAGES = 5000
# The code maps of larger files are not corrected, because this needs the whole file in memory.
_MAX_BYTES = 100_000_000
_SUBSET = re.compile(r"^/?(?:[A-Z]{6}\+)?")
# An entry of the encoding in a Type 1 font program, and the word that ends the readable part of the program.
_ENTRY = re.compile(rb"dup\s+(\d{1,3})\s*/([!-.0-~]{1,64})\s+put")
_ENCRYPTED = b"eexec"


def has_no_pages(path: Path) -> bool:
    """Return whether the file is a valid PDF with an empty page tree; false if the file cannot be read."""
    with suppress(*_pypdf_errors()), path.open("rb") as file:
        pages: Any = _open_reader(file, strict=True).root_object["/Pages"].get_object()
        return bool(pages["/Count"] == 0 and len(pages["/Kids"]) == 0)
    return False


class Fonts:
    """The fonts of a file: their glyph names, and corrections of their code maps.

    Parameters
    ----------
    path : Path
        Path of the file, which is opened when it is first needed.
    password : str, optional
    """

    def __init__(self, path: Path, password: str | None) -> None:
        self._path = path
        self._password = password
        self._file: BinaryIO | None = None
        self._pages: Any = None
        self._reader: Any = None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def read_glyph_names(self, page_index: int) -> dict[str, dict[int, str]]:
        """Return the glyph names of each font of a page, by font name and code.

        A code is left out if two fonts of the same name have different glyphs for it. The fonts after a broken font are
        left out as well.
        """
        fonts: dict[str, dict[int, str]] = {}
        conflicts: set[tuple[str, int]] = set()
        with suppress(*_pypdf_errors()):
            for font in _iter_fonts(self._get_page(page_index).get("/Resources")):
                name = strip_subset_prefix(str(font.get("/BaseFont", "")))
                glyphs = fonts.setdefault(name, {})
                for code, glyph in _read_encoding(font).items():
                    if glyphs.setdefault(code, glyph) != glyph:
                        conflicts.add((name, code))
        return {
            name: {code: glyph for code, glyph in glyphs.items() if (name, code) not in conflicts}
            for name, glyphs in fonts.items()
        }

    def append_corrections(self, page_index: int) -> bytes:
        """Return the content of the file, followed by corrected code maps of a page's fonts; see `code_maps`.

        Return empty bytes in each of these cases:

        - No code map is to be corrected.
        - The file is encrypted, so that the appended maps would have to be encrypted as well.
        - The file is larger than ``_MAX_BYTES``, or has more than ``_MAX_PAGES`` pages.
        - The file is damaged.
        """
        errors: tuple[type[Exception], ...] = (*_pypdf_errors(), struct.error)
        with suppress(*errors):
            maps: dict[int, bytes] = {}
            for font in _iter_fonts(self._get_page(page_index).get("/Resources")):
                reference: Any = font.raw_get("/ToUnicode") if "/ToUnicode" in font else None
                number = getattr(reference, "idnum", None)
                if number is not None and number not in maps:
                    with suppress(*errors):  # leave a broken font as it is
                        if data := _correct_code_map(font):
                            maps[number] = data
            if maps and not self._reader.is_encrypted and self._path.stat().st_size <= _MAX_BYTES:
                content = self._path.read_bytes()
                return content + _write_update(self._reader, maps, len(content))
        return b""

    def _get_page(self, page_index: int) -> Any:
        if self._file is None:
            self._file = self._path.open("rb")
            self._reader = reader = _open_reader(self._file, strict=False)
            if reader.is_encrypted:
                reader.decrypt(self._password or "")
            # Use the page count that the file states, because pypdf would have to read all pages to count them.
            page_tree: Any = reader.root_object["/Pages"].get_object()
            self._pages = reader.pages if page_tree["/Count"] <= _MAX_PAGES else ()
        return self._pages[page_index]


def strip_subset_prefix(written: str) -> str:
    """Return a font name without its subset prefix.

    >>> strip_subset_prefix("/QIMEJQ+LinLibertineT")
    'LinLibertineT'
    """
    return _SUBSET.sub("", written)


def _open_reader(file: Any, *, strict: bool) -> PdfReader:
    # Import pypdf only here, because the import takes time and memory, and few files need it.
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    return PdfReader(file, strict=strict)


def _pypdf_errors() -> tuple[type[Exception], ...]:
    from pypdf.errors import DependencyError, PyPdfError

    return (PyPdfError, DependencyError, *_BROKEN)


def _iter_fonts(resources: Any) -> Iterator[Any]:
    """Yield the fonts of a page and of the groups on the page.

    Each group is read only once, because a group may contain other groups, and even itself.
    """
    pending, seen = [resources], set[int]()
    while pending and len(seen) < _MAX_GROUPS:
        resource = _resolve(pending.pop())
        if id(resource) in seen:
            continue
        seen.add(id(resource))
        for font in list(_resolve(resource.get("/Font")).values())[:_MAX_FONTS]:
            yield _resolve(font)
        for group in list(_resolve(resource.get("/XObject")).values())[:_MAX_GROUPS]:
            if _resolve(group).get("/Subtype") == "/Form":
                pending.append(_resolve(group).get("/Resources"))


def _resolve(entry: Any) -> Any:
    """Return the object of an entry or reference; an empty dictionary for a missing entry."""
    return {} if entry is None else entry.get_object()


def _read_encoding(font: Mapping[str, Any]) -> dict[int, str]:
    """Return the glyph names of a font by code.

    Names in the ``/Differences`` of the encoding replace names in the font program.
    """
    names: dict[int, str] = {}
    program = _resolve(font.get("/FontDescriptor")).get("/FontFile")
    if program is not None:
        readable = program.get_object().get_data().partition(_ENCRYPTED)[0]
        names = {int(code): name.decode("ascii") for code, name in _ENTRY.findall(readable)}
    encoding = _resolve(font.get("/Encoding"))
    code = 0
    for entry in encoding.get("/Differences", ()) if isinstance(encoding, dict) else ():
        entry = entry.get_object()
        if isinstance(entry, int):
            code = entry
        else:
            names[code] = str(entry).removeprefix("/")
            code += 1
    return names


def _correct_code_map(font: Mapping[str, Any]) -> bytes:
    """Return the corrected code map of a font; empty if nothing is to be corrected."""
    texts, width, is_plain = read_code_map(_resolve(font["/ToUnicode"]).get_data())
    drawn = _read_drawn_characters(font)
    corrected = {code: correct_text(code, text, drawn.get(code, "")) for code, text in texts.items()}
    return write_code_map(corrected, width) if corrected != texts or not is_plain else b""


def _read_drawn_characters(font: Mapping[str, Any]) -> dict[int, str]:
    """Return the character that each code of a font draws, as far as glyph names or the font program show it."""
    from pypdf._codecs import adobe_glyphs, charset_encoding

    if font.get("/Subtype") == "/Type0":
        inner = _resolve(_resolve(font["/DescendantFonts"])[0])
        program = _resolve(inner.get("/FontDescriptor")).get("/FontFile2")
        if (
            font.get("/Encoding") != "/Identity-H"
            or inner.get("/CIDToGIDMap", "/Identity") != "/Identity"
            or not program
        ):
            return {}
        return read_glyph_characters(program.get_object().get_data())
    encoding = _resolve(font.get("/Encoding"))
    base = encoding.get("/BaseEncoding", "") if isinstance(encoding, dict) else str(encoding)
    drawn = dict(enumerate(charset_encoding[base])) if base in charset_encoding else {}
    for code, name in _read_encoding(font).items():
        drawn[code] = adobe_glyphs.get(f"/{name}", "") or find_glyph_character(name)
    return drawn


def _write_update(reader: Any, maps: Mapping[int, bytes], start: int) -> bytes:
    """Return an incremental update (ISO 32000-1, 7.5.6) that replaces streams of a file.

    ``maps`` contains the new streams by object number, and ``start`` is the size of the file in bytes. Cross-references
    are written as a stream if the file has such a stream, because readers do not mix the two kinds.
    """
    body, offsets = b"\n", {}
    for number, data in maps.items():
        offsets[number] = start + len(body)
        body += b"%d 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n" % (number, len(data), data)
    trailer, previous = reader.trailer, reader._startxref  # pypdf has no public name for it
    root, place = trailer.raw_get("/Root"), start + len(body)
    size = int(trailer["/Size"])
    common = b"/Root %d %d R /Prev %d" % (root.idnum, root.generation, previous)
    if trailer.get("/Type") == "/XRef":
        index = b" ".join(b"%d 1" % number for number in [*offsets, size])
        rows = b"".join(struct.pack(">BQH", 1, offset, 0) for offset in [*offsets.values(), place])
        head = b"%d 0 obj\n<< /Type /XRef /Size %d /Index [%s] /W [1 8 2] /Length %d %s >>\nstream\n"
        body += head % (size, size + 1, index, len(rows), common) + rows + b"\nendstream\nendobj\n"
    else:
        rows = b"".join(b"%d 1\n%010d 00000 n \n" % entry for entry in offsets.items())
        body += b"xref\n%strailer\n<< /Size %d %s >>\n" % (rows, size, common)
    return body + b"startxref\n%d\n%%%%EOF\n" % place
