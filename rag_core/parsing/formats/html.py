"""The format HTML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.flow.content import Content
from rag_core.parsing.formats.flow import FlowFormat, build_parser_version, describe

_HEAD = 4096
_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", re.I | re.S
)


class HtmlFormat(FlowFormat):
    """Web pages; scripts do not run, and nothing is loaded."""

    description = describe("HTML", "web page", (".html", ".htm", ".xhtml"), "text/html")
    parser_version = build_parser_version("html", 2)

    def recognizes(self, file: BinaryIO) -> bool:
        return _BEGINNING.match(file.read(_HEAD)) is not None

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.html import read_html

        return Content(read_html(path.read_bytes()))
