"""The formats of OpenDocument, as LibreOffice writes them: texts, sheets and presentations."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.flow.content import Content
from rag_core.parsing.formats.flow import FlowFormat, build_parser_version, describe

_TYPE = "application/vnd.oasis.opendocument."
# Number of bytes at the start of the archive, which contain the uncompressed media type.
_HEAD = 200


class OpenDocumentFormat(FlowFormat):
    """Texts, sheets and presentations; macros do not run, and nothing outside the file is loaded."""

    description = describe("OpenDocument", "document", (".odt", ".ods", ".odp"), f"{_TYPE}text", is_office=True)
    parser_version = build_parser_version("opendocument", 3)

    def recognizes(self, file: BinaryIO) -> bool:
        head = file.read(_HEAD)
        kinds = (f"mimetype{_TYPE}{kind}".encode() for kind in ("text", "spreadsheet", "presentation"))
        return head.startswith(b"PK\x03\x04") and any(kind in head for kind in kinds)

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.opendocument import read_opendocument

        return read_opendocument(path, max_unpacked)
