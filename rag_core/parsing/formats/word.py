"""The format DOCX of Microsoft Word."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.flow.content import Content
from rag_core.parsing.flow.recognition import is_office_file
from rag_core.parsing.formats.flow import FlowFormat, describe, name_version


class WordFormat(FlowFormat):
    """Word documents; macros do not run, and nothing outside the file is loaded."""

    description = describe(
        "DOCX",
        "Word document",
        (".docx", ".docm"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    )
    parser_version = name_version("docx", 1)

    def recognizes(self, file: BinaryIO) -> bool:
        return is_office_file(file, "word/document.xml")

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.word import read_word

        return Content(read_word(path, password, max_unpacked))
