"""Decode files of plain text."""

from __future__ import annotations

from pathlib import Path

from rag_core.parsing.flow.recognition import find_mark
from rag_core.parsing.formats.base import UnreadableError

_SAMPLE_BYTES = 131_072
# A text with a smaller share of non-ASCII bytes among its letters is read as Windows-1252.
_MAX_WESTERN_SHARE = 0.3
# Encodings of other texts.
_ENCODINGS = ["cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "gb18030", "cp932", "big5", "cp949"]


def read_text(path: Path) -> str:
    """Return the text of a file; see `decode_text`."""
    return decode_text(path.read_bytes())


def decode_text(data: bytes) -> str:
    """Return a text that may be in any of several encodings.

    The encoding is the first that applies:

    1. the encoding of the byte order mark,
    2. UTF-8,
    3. Windows-1252, if a small share of the letters is non-ASCII,
    4. the most probable one of `_ENCODINGS`.

    In the last two, bytes that cannot be decoded are replaced.

    Raises
    ------
    UnreadableError
        The bytes are not in the encoding of their byte order mark, or none of the encodings is probable.
    """
    mark = find_mark(data)
    try:
        return data.decode(mark or "utf-8")
    except UnicodeDecodeError as error:
        if mark:
            raise UnreadableError(f"byte {error.start:,} is not {mark.upper()}") from None
        from charset_normalizer import from_bytes
    sample = data[:_SAMPLE_BYTES]
    if sum(byte > 127 for byte in sample) < _MAX_WESTERN_SHARE * sum(map(_is_letter, sample)):
        return data.decode("cp1252", "replace")
    best = from_bytes(sample, cp_isolation=_ENCODINGS).best()
    if best is None:
        raise UnreadableError("it is text in an unknown encoding; save it in UTF-8")
    return data.decode(best.encoding, "replace")


def _is_letter(byte: int) -> bool:
    return byte > 127 or chr(byte).isalpha()
