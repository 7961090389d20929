"""Choose the format of a file among the accepted formats.

The names and extensions are in the `description` of each format, as in `formats/pdf.py`.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from rag_core.errors import EmptyDocument, UnknownFormat
from rag_core.parsing.formats import FORMATS
from rag_core.parsing.formats.base import FileFormat
from rag_core.types.formats import AcceptedFormats

ACCEPTED = AcceptedFormats(tuple(one.description for one in FORMATS))
PARSER_VERSIONS = tuple(one.parser_version for one in FORMATS)


def find_format(file: BinaryIO, name: str) -> FileFormat | None:
    """Return the format of an open file by its content; ``None`` if no format recognizes it.

    Formats with `needs_suffix` are tried only if no other format recognizes the content, and only for their own
    extension. Among other formats that recognize the same content, the extension of the name decides, else their order.
    """
    found: list[FileFormat] = []
    for one in sorted(FORMATS, key=lambda one: one.needs_suffix):
        has_suffix = name.lower().endswith(one.description.suffixes)
        if one.needs_suffix and (found or not has_suffix):
            continue
        file.seek(0)
        if one.recognizes(file):
            found.append(one)
    return next((one for one in found if name.lower().endswith(one.description.suffixes)), next(iter(found), None))


def require_format(file: BinaryIO, name: str) -> FileFormat:
    """Return the format of an open file; see `find_format`.

    Raises
    ------
    EmptyDocument
        The file has no bytes.
    UnknownFormat
        No format recognizes the content.
    """
    if file.seek(0, os.SEEK_END) == 0:
        raise EmptyDocument(f"{name} is empty: the file has no bytes. Save or download it again.")
    if (found := find_format(file, name)) is None:
        raise UnknownFormat(
            f"{name} is not a {ACCEPTED.names} file. Export it as a {ACCEPTED.formats[0].noun} and add the exported "
            "file."
        )
    return found


def reads_attachments(parser_version: str) -> bool:
    """Return whether the parser with a version reads the files that are attached to a document."""
    return any(one.reads_attachments(parser_version) for one in FORMATS)
