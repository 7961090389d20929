"""The format DOCX of Microsoft Word."""

from __future__ import annotations

from pathlib import Path

from rag_core.parsing.flow.content import Content
from rag_core.parsing.formats.flow import build_parser_version, describe
from rag_core.parsing.formats.office import OfficeFormat


class WordFormat(OfficeFormat):
    """Word documents; macros do not run, and nothing outside the file is loaded."""

    description = describe(
        "DOCX",
        "Word document",
        (".docx", ".docm"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        is_office=True,
    )
    parser_version = build_parser_version("docx", 2)
    main_part = "word/document.xml"

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.word import read_word

        return read_word(path, password, max_unpacked)
