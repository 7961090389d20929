"""List and read the files that are attached to a PDF as a whole, and not to one of its pages."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.parsing.pdf.document import PdfiumDocument, describe_attached_file, read_attached_file

# A damaged file may claim any number of attached files; more are not listed.
MAX_LISTED = 1000


def list_attachments(document: PdfiumDocument) -> Iterator[tuple[str, int]]:
    """Yield the name and the size in bytes of each attached file; the size is 0 if the file is not in the PDF."""
    for index in range(min(document.attachment_count, MAX_LISTED)):
        yield describe_attached_file(document.attachment(index))


def read_attachment(document: PdfiumDocument, index: int) -> bytes:
    """Return the bytes of an attached file; empty if the file is not in the PDF."""
    return read_attached_file(document.attachment(index))
