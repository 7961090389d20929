"""The format PPTX of Microsoft PowerPoint."""

from __future__ import annotations

from pathlib import Path

from rag_core.parsing.flow.content import Content
from rag_core.parsing.formats.flow import build_parser_version, describe
from rag_core.parsing.formats.office import OfficeFormat


class PowerPointFormat(OfficeFormat):
    """Presentations: a page for each slide, with its notes."""

    description = describe(
        "PPTX",
        "presentation",
        (".pptx", ".pptm"),
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        is_office=True,
    )
    parser_version = build_parser_version("pptx", 3)
    main_part = "ppt/presentation.xml"

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.presentation import read_presentation

        return read_presentation(path, password, max_unpacked)
