"""Recognize files by their first bytes. This module loads no readers, because the main process uses it."""

from __future__ import annotations

import codecs
from typing import BinaryIO

_SIGNATURE, _END = b"PK\x03\x04", b"PK\x05\x06"
_HEAD, _TAIL, _MAX_DIRECTORY = 65_536, 65_557, 4_000_000
# The header of the container of encrypted files and of the formats before 2007, and the name of the encrypted part.
CONTAINER, _ENCRYPTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "EncryptedPackage".encode("utf-16-le")
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


def contains_part(file: BinaryIO, name: str) -> bool:
    """Return whether an open file is a zip archive with a part of that name; the archive may be cut off."""
    head = file.read(_HEAD)
    if not head.startswith(_SIGNATURE):
        return False
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    place = tail.rfind(_END)
    if place < 0:
        return name.encode() in head
    length, start = (int.from_bytes(tail[place + at : place + at + 4], "little") for at in (12, 16))
    file.seek(min(start, size))
    return name.encode() in file.read(min(length, _MAX_DIRECTORY))


def is_office_file(file: BinaryIO, main_part: str) -> bool:
    """Return whether an open file has a part of that name, or is encrypted, so that its parts are unknown."""
    if contains_part(file, main_part):
        return True
    file.seek(0)
    return file.read(len(CONTAINER)) == CONTAINER and _ENCRYPTED in file.read()


def is_text(file: BinaryIO) -> bool:
    """Return whether the beginning of an open file is text."""
    head = file.read(_SAMPLE)
    return bool(head) and (find_mark(head) is not None or not _NOT_TEXT.intersection(head))


def find_mark(data: bytes) -> str | None:
    """Return the encoding that the first bytes of a text name."""
    return next((encoding for mark, encoding in _MARKS.items() if data.startswith(mark)), None)
