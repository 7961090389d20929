"""The format RTF."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.flow.content import Content
from rag_core.parsing.formats.flow import FlowFormat, build_parser_version, describe

_BEGINNING = b"{\\rtf"


class RtfFormat(FlowFormat):
    """Rich text; embedded objects are left out."""

    description = describe("RTF", "rich text file", (".rtf",), "application/rtf", is_office=True)
    parser_version = build_parser_version("rtf", 1)

    def recognizes(self, file: BinaryIO) -> bool:
        return file.read(64).lstrip().startswith(_BEGINNING)

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.rich_text import read_rich_text

        return Content(read_rich_text(path.read_bytes()))
