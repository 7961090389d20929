"""The format PPTX of Microsoft PowerPoint."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.flow.content import Content
from rag_core.parsing.flow.recognition import is_office_file
from rag_core.parsing.formats.flow import FlowFormat, describe, name_version


class PowerPointFormat(FlowFormat):
    """Presentations: a page for each slide, with its notes."""

    description = describe(
        "PPTX",
        "presentation",
        (".pptx", ".pptm"),
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    )
    parser_version = name_version("pptx", 1)

    def recognizes(self, file: BinaryIO) -> bool:
        return is_office_file(file, "ppt/presentation.xml")

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.presentation import read_presentation

        return Content(read_presentation(path, password, max_unpacked))
