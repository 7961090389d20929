"""Read PDF objects that pdfium does not expose: the page tree, and the glyph names of fonts.

Pdfium accepts nearly any file, and reports no pages for a file that it cannot read. Only the page tree shows whether
the file really has no pages. No other module uses pypdf.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from pypdf import PdfReader

# pypdf does not check the types of objects, so broken files also cause these errors.
_BROKEN = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, NotImplementedError),
    *(RecursionError, OSError, ZeroDivisionError, OverflowError),
)
# Largest number of fonts that are read of a page or group, and largest number of groups that are read of a page.
_MAX_FONTS, _MAX_GROUPS = 200, 200
# In files with more pages, pypdf takes too long to find a page, so their glyph names are not read.
_MAX_PAGES = 5000
_SUBSET = re.compile(r"^/?(?:[A-Z]{6}\+)?")
# An entry of the encoding in a Type 1 font program, and the word that ends the readable part of the program.
_ENTRY = re.compile(rb"dup\s+(\d{1,3})\s*/([!-.0-~]{1,64})\s+put")
_ENCRYPTED = b"eexec"


def has_no_pages(path: Path) -> bool:
    """Return whether the file is a valid PDF with an empty page tree."""
    with suppress(*_pypdf_errors()), path.open("rb") as file:
        pages: Any = _open_reader(file, strict=True).root_object["/Pages"].get_object()
        return bool(pages["/Count"] == 0 and len(pages["/Kids"]) == 0)
    return False


class Fonts:
    """Glyph names of the fonts of a file.

    Parameters
    ----------
    path : Path
        Path of the file, which is opened at the first call of `glyph_names`.
    password : str, optional
    """

    def __init__(self, path: Path, password: str | None) -> None:
        self._path = path
        self._password = password
        self._file: BinaryIO | None = None
        self._pages: Any = None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def glyph_names(self, page_index: int) -> dict[str, dict[int, str]]:
        """Return a dictionary that maps each font name of a page to the glyph names of the font, by code.

        If two fonts have the same name but different glyphs for a code, the code is left out. If a font is broken, the
        fonts after it are left out as well.
        """
        fonts: dict[str, dict[int, str]] = {}
        conflicts: set[tuple[str, int]] = set()
        with suppress(*_pypdf_errors()):
            for font in _iter_fonts(self._page(page_index).get("/Resources")):
                name = strip_subset_prefix(str(font.get("/BaseFont", "")))
                glyphs = fonts.setdefault(name, {})
                for code, glyph in _read_encoding(font).items():
                    if glyphs.setdefault(code, glyph) != glyph:
                        conflicts.add((name, code))
        return {
            name: {code: glyph for code, glyph in glyphs.items() if (name, code) not in conflicts}
            for name, glyphs in fonts.items()
        }

    def _page(self, page_index: int) -> Any:
        if self._file is None:
            self._file = self._path.open("rb")
            reader = _open_reader(self._file, strict=False)
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


def _iter_fonts(resources: Any) -> Iterator[Mapping[str, Any]]:
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
