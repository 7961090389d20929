"""Read the files that are attached to a PDF."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from rag_core.parsing.characters import clean_line
from rag_core.parsing.pdf.document import PdfiumDocument, read_text
from rag_core.parsing.pdf.pdfium_calls import raw

# Attached files beyond this number are not read.
MAX_ATTACHMENTS = 100


def list_attachments(document: PdfiumDocument) -> Iterator[tuple[str, int]]:
    """Yield the name and the size in bytes of each attached file; the size is 0 if the file is not in the PDF."""
    for index in range(min(document.attachment_count, MAX_ATTACHMENTS)):
        attachment = document.attachment(index)
        yield (
            clean_line(read_text(raw.FPDFAttachment_GetName, attachment, unit=ctypes.c_ushort)),
            _read_size(attachment),
        )


def read_attachment(document: PdfiumDocument, index: int) -> bytes:
    """Return the bytes of an attached file; empty if the file is not in the PDF."""
    attachment = document.attachment(index)
    size = ctypes.c_ulong(_read_size(attachment))
    buffer = (ctypes.c_char * size.value)()
    if not size.value or not raw.FPDFAttachment_GetFile(attachment, buffer, size.value, ctypes.byref(size)):
        return b""
    return bytes(buffer)


def _read_size(attachment: object) -> int:
    size = ctypes.c_ulong()
    return size.value if raw.FPDFAttachment_GetFile(attachment, None, 0, ctypes.byref(size)) else 0
