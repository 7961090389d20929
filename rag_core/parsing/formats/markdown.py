"""The format Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.flow.content import Content
from rag_core.parsing.flow.recognition import is_text
from rag_core.parsing.formats.flow import FlowFormat, build_parser_version, describe

_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)


class MarkdownFormat(FlowFormat):
    """Markdown, converted to HTML."""

    description = describe("Markdown", "Markdown file", (".md", ".markdown"), "text/markdown")
    parser_version = build_parser_version("markdown", 2)
    needs_suffix = True

    def recognizes(self, file: BinaryIO) -> bool:
        return is_text(file)

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from markdown_it import MarkdownIt

        from rag_core.parsing.flow.html import read_html
        from rag_core.parsing.flow.plain_text import read_text

        text = _FRONT_MATTER.sub("", read_text(path).replace("\r\n", "\n"))
        html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
        return Content(read_html(html) if html.strip() else ())
