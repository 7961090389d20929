"""Decode files of plain text."""

from __future__ import annotations

import codecs
from pathlib import Path

from rag_core.parsing.formats.base import UnreadableError

_SAMPLE = 8192
# Control characters that no text has.
_NOT_TEXT = frozenset(range(32)) - {7, 8, 9, 10, 12, 13, 26, 27}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def is_text(head: bytes) -> bool:
    """Return whether the beginning of a file is text."""
    return bool(head) and (_find_mark(head) is not None or not _NOT_TEXT.intersection(head[:_SAMPLE]))


def _find_mark(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS.items() if data.startswith(mark)), None)


def read_text(path: Path) -> str:
    """Return the text of a file; see `decode_text`."""
    return decode_text(path.read_bytes())


def decode_text(data: bytes) -> str:
    """Return a text with an encoding that its first bytes name, in UTF-8, or in the encoding that fits it best.

    Raises
    ------
    UnreadableError
        It is no text in any encoding.
    """
    mark = _find_mark(data)
    try:
        return data.decode(mark or "utf-8")
    except UnicodeDecodeError as error:
        if mark:
            raise UnreadableError(f"byte {error.start:,} is not {mark.upper()}") from None
        from charset_normalizer import from_bytes
    best = from_bytes(data[: _SAMPLE * 16]).best()
    if best is None or not is_text(data):
        raise UnreadableError("it is text in an unknown encoding; save it in UTF-8")
    return data.decode(best.encoding, "replace")
