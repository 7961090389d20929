"""Recognize files by their first bytes, without loading readers, because the main process uses this module."""

from __future__ import annotations

import codecs
from typing import BinaryIO

# Signatures of the first file and of the end of the directory of a zip archive.
_SIGNATURE, _DIRECTORY_END = b"PK\x03\x04", b"PK\x05\x06"
# Number of bytes that are read at the start and at the end of an archive, and maximum number for its directory.
_HEAD_BYTES, _TAIL_BYTES, _MAX_DIRECTORY_BYTES = 65_536, 65_557, 4_000_000
# First bytes of the container of encrypted Office files and of the formats before 2007.
CONTAINER = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PART = "EncryptedPackage".encode("utf-16-le")
_SAMPLE_BYTES = 8192
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
    """Return whether an open file is a zip archive that contains a part with a name.

    The name is searched in the directory of the archive or, if the archive is cut off, in its first 64 KB.
    """
    head = file.read(_HEAD_BYTES)
    if not head.startswith(_SIGNATURE):
        return False
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL_BYTES))
    tail = file.read()
    place = tail.rfind(_DIRECTORY_END)
    if place < 0:
        return name.encode() in head
    length, start = (int.from_bytes(tail[field : field + 4], "little") for field in (place + 12, place + 16))
    file.seek(min(start, size))
    return name.encode() in file.read(min(length, _MAX_DIRECTORY_BYTES))


def is_office_file(file: BinaryIO, main_part: str) -> bool:
    """Return whether an open file is an Office file with the part ``main_part``.

    Return true for an encrypted Office file as well, because its parts are unknown.
    """
    if contains_part(file, main_part):
        return True
    file.seek(0)
    return file.read(len(CONTAINER)) == CONTAINER and _ENCRYPTED_PART in file.read()


def is_text(file: BinaryIO) -> bool:
    """Return whether the beginning of an open file is text; false for an empty file."""
    head = file.read(_SAMPLE_BYTES)
    return bool(head) and (find_mark(head) is not None or not _NOT_TEXT.intersection(head))


def find_mark(data: bytes) -> str | None:
    """Return the encoding that the byte order mark at the start of a text indicates; ``None`` without such a mark."""
    return next((encoding for mark, encoding in _MARKS.items() if data.startswith(mark)), None)
