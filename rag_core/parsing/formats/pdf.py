"""The format PDF."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.formats.base import FileFormat, OpenFile
from rag_core.types.formats import FormatDescription

# PDF readers accept up to 1,024 bytes before the header, because mail gateways and printers add lines there.
_HEADER, _HEADER_WITHIN = b"%PDF-", 1024
# Increase this number with every change that alters the text or the tables of any page.
LAYOUT_REVISION = 16
# The first revision that reads attached files.
_READS_ATTACHMENTS = 7


class PdfFormat(FileFormat):
    """PDFs, read by pdfium."""

    description = FormatDescription("PDF", "PDF", (".pdf",), "application/pdf", opens_at_page=True)
    parser_version = f"pypdfium2 {version('pypdfium2')}, layout {LAYOUT_REVISION}"

    def recognizes(self, file: BinaryIO) -> bool:
        return _HEADER in file.read(_HEADER_WITHIN)

    def open(self, path: Path, password: str | None, max_unpacked: int | None) -> OpenFile:
        from rag_core.parsing.pdf.file import PdfFile

        return PdfFile(path, password, max_unpacked)

    def load(self) -> None:
        import rag_core.parsing.pdf.file  # noqa: F401

    def reads_attachments(self, parser_version: str) -> bool:
        revision = parser_version.rpartition("layout ")[2]
        return revision.isdecimal() and int(revision) >= _READS_ATTACHMENTS
