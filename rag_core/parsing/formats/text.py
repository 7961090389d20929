"""The format plain text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.flow.content import Content, PageStart, TextBlock, clean_text
from rag_core.parsing.flow.recognition import is_text
from rag_core.parsing.formats.flow import FlowFormat, build_parser_version, describe

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")


class TextFormat(FlowFormat):
    """Plain text, whose paragraphs are separated by empty lines."""

    description = describe("text", "text file", (".txt",), "text/plain")
    parser_version = build_parser_version("text", 1)
    needs_suffix = True

    def recognizes(self, file: BinaryIO) -> bool:
        return is_text(file)

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.plain_text import read_text

        blocks: list[PageStart | TextBlock] = []
        text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
        for number, page in enumerate(text.split("\f")):
            blocks += [PageStart()] if number else []
            paragraphs = (clean_text(paragraph) for paragraph in _BLANK_LINES.split(page))
            blocks += [TextBlock(paragraph) for paragraph in paragraphs if paragraph]
        return Content(blocks)
