"""The formats that are accepted, and the choice of the format of a file.

The names and endings are in the `description` of each format, such as `formats/pdf.py`.
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


def find_format(file: BinaryIO) -> FileFormat | None:
    """Return the format of an open file, by its content; ``None`` if no format recognizes it."""
    for one in FORMATS:
        file.seek(0)
        if one.recognizes(file):
            return one
    return None


def require_format(file: BinaryIO, name: str) -> FileFormat:
    """Return the format of an open file, by its content; ``name`` is the name of the file in messages.

    Raises
    ------
    EmptyDocument, UnknownFormat
    """
    if file.seek(0, os.SEEK_END) == 0:
        raise EmptyDocument(f"{name} is empty: the file has no bytes. Save or download it again.")
    if (found := find_format(file)) is None:
        raise UnknownFormat(
            f"{name} is not a {ACCEPTED.names} file. Export it as a {ACCEPTED.formats[0].noun} and add the exported "
            "file."
        )
    return found


def reads_attachments(parser_version: str) -> bool:
    """Return whether the parser of that version reads the files that are attached to a document."""
    return any(one.reads_attachments(parser_version) for one in FORMATS)
