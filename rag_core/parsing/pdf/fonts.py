"""The objects of a file as it holds them, and the one module that imports pypdf.

Pdfium makes do with anything. What it does not tell: whether a file obeys the rules, so that one without any page is
known from one that it cannot make sense of; and what a font calls its glyphs.
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

# What pypdf raises on broken input besides its own errors: it trusts the types of what it reads.
_BROKEN = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, NotImplementedError),
    *(RecursionError, OSError, ZeroDivisionError, OverflowError),
)
# Fonts of a page or group, and groups of a page; more are not looked at.
_MOST_FONTS, _MOST_GROUPS = 200, 200
# Beyond so many pages, finding one takes pypdf longer than reading it is worth.
_MOST_PAGES = 5000
_SUBSET = re.compile(r"^/?(?:[A-Z]{6}\+)?")
# The encoding of a Type 1 font program stands before its encrypted part.
_ENTRY = re.compile(rb"dup\s+(\d{1,3})\s*/([!-.0-~]{1,64})\s+put")
_ENCRYPTED = b"eexec"


def has_no_pages(path: Path) -> bool:
    """Whether the file is a sound PDF with a page tree that is empty."""
    with suppress(*_errors()), path.open("rb") as file:
        pages: Any = _opened(file, strict=True).root_object["/Pages"].get_object()
        return bool(pages["/Count"] == 0 and len(pages["/Kids"]) == 0)
    return False


class Fonts:
    """What the fonts of a file call their glyphs.

    Parameters
    ----------
    path : Path
        Opened when a page is first asked for.
    password : str, optional
    """

    def __init__(self, path: Path, password: str | None) -> None:
        self._path = path
        self._password = password
        self._file: BinaryIO | None = None
        self._pages: Any = None

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def glyph_names(self, page_index: int) -> dict[str, dict[int, str]]:
        """For each font of a page, by its name, the names of its glyphs by code.

        A code for which two fonts of one name disagree is left out, and so is what is broken.
        """
        found: dict[str, dict[int, str]] = {}
        torn: set[tuple[str, int]] = set()
        with suppress(*_errors()):
            for font in _fonts(self._page(page_index).get("/Resources")):
                name = font_name(str(font.get("/BaseFont", "")))
                known = found.setdefault(name, {})
                for code, glyph in _encoding(font).items():
                    if known.setdefault(code, glyph) != glyph:
                        torn.add((name, code))
        return {
            name: {code: glyph for code, glyph in known.items() if (name, code) not in torn}
            for name, known in found.items()
        }

    def _page(self, page_index: int) -> Any:
        if self._file is None:
            self._file = self._path.open("rb")
            reader = _opened(self._file, strict=False)
            if reader.is_encrypted:
                reader.decrypt(self._password or "")
            # By what the file says: to count them, pypdf would find them all.
            said: Any = reader.root_object["/Pages"].get_object()
            self._pages = reader.pages if said["/Count"] <= _MOST_PAGES else ()
        return self._pages[page_index]


def font_name(written: str) -> str:
    """A font's name without the letters that mark a subset of it.

    >>> font_name("/QIMEJQ+LinLibertineT")
    'LinLibertineT'
    """
    return _SUBSET.sub("", written)


def _opened(file: Any, *, strict: bool) -> PdfReader:
    # Imported here: a tenth of a second and 10 MB that few files need.
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    return PdfReader(file, strict=strict)


def _errors() -> tuple[type[Exception], ...]:
    from pypdf.errors import DependencyError, PyPdfError

    return (PyPdfError, DependencyError, *_BROKEN)


def _fonts(resources: Any) -> Iterator[Mapping[str, Any]]:
    """The fonts of a page, and of the groups in it, each group once: one may hold another, or itself."""
    waiting, seen = [resources], set[int]()
    while waiting and len(seen) < _MOST_GROUPS:
        one = _resolved(waiting.pop())
        if id(one) in seen:
            continue
        seen.add(id(one))
        for font in list(_resolved(one.get("/Font")).values())[:_MOST_FONTS]:
            yield _resolved(font)
        for group in list(_resolved(one.get("/XObject")).values())[:_MOST_GROUPS]:
            if _resolved(group).get("/Subtype") == "/Form":
                waiting.append(_resolved(group).get("/Resources"))


def _resolved(entry: Any) -> Any:
    return {} if entry is None else entry.get_object()


def _encoding(font: Mapping[str, Any]) -> dict[int, str]:
    """Names by code: what the font program says, and over it what the file says."""
    names: dict[int, str] = {}
    program = _resolved(font.get("/FontDescriptor")).get("/FontFile")
    if program is not None:
        readable = program.get_object().get_data().partition(_ENCRYPTED)[0]
        names = {int(code): name.decode("ascii") for code, name in _ENTRY.findall(readable)}
    encoding = _resolved(font.get("/Encoding"))
    code = 0
    for entry in encoding.get("/Differences", ()) if isinstance(encoding, dict) else ():
        entry = entry.get_object()
        if isinstance(entry, int):
            code = entry
        else:
            names[code] = str(entry).removeprefix("/")
            code += 1
    return names
