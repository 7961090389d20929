"""The parent side of extraction: files in, pages out, whatever the files do to the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

from rag_core.errors import EmptyDocument, NotAPdf
from rag_core.parsing.workers.document_reader import READERS, DocumentReader, ParserLimits, PdfHeader
from rag_core.parsing.workers.process import ReadCancelledError, WorkerPool
from rag_core.types import Page

_HEADER_WITHIN = 1024

# Raised with every change to layout, cleaning or reading order that changes the text of some page: citations
# are offsets into that text.
LAYOUT_REVISION = 6
PARSER_VERSION = f"pypdfium2 {version('pypdfium2')}, layout {LAYOUT_REVISION}"


def check_pdf_header(data: bytes, name: str) -> None:
    """Refuse at once what cannot be a PDF.

    Parameters
    ----------
    data : bytes
        The file, or at least its first 1,024 bytes.
    name : str
        What to call it in a message.

    Raises
    ------
    EmptyDocument, NotAPdf
    """
    if not data:
        raise EmptyDocument(f"{name} is empty: it holds no bytes at all. Save or download it again.")
    # Mail gateways and printers put lines of their own before the header; readers allow 1,024 bytes of it.
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise NotAPdf(f"{name} is not a PDF, whatever its name says. Export it as a PDF and add that.")


class PdfParser:
    """Reads PDFs in worker processes that it owns and reuses.

    Parameters
    ----------
    page_timeout_s : float
        Longest time on one page; a page that takes longer fails alone.
    memory_mb : int
        Memory limit of a worker, where the platform has such limits.
    max_pages : int
        Most pages a document may have.
    max_decompressed_mb : int
        Most that one stream of a file may unpack to.
    ocr : {"auto", "on", "off"}
        Read pages as pictures: those without enough text, all, or none.

    Notes
    -----
    Several threads may extract at once; each gets workers of its own.
    """

    def __init__(
        self,
        *,
        page_timeout_s: float = 60.0,
        memory_mb: int = 2048,
        max_pages: int = 20_000,
        max_decompressed_mb: int = 500,
        ocr: str = "auto",
    ) -> None:
        self._limits = ParserLimits(page_timeout_s, memory_mb, max_pages, max_decompressed_mb, ocr)
        self._pool = WorkerPool(memory_mb, ocr)

    def warm_up(self) -> None:
        """Start as many workers as read a file, so that the first one need not wait for them."""
        for worker in [self._pool.acquire() for _ in range(READERS)]:
            self._pool.release(worker)

    def parse(
        self,
        path: Path,
        *,
        name: str | None = None,
        password: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[PdfHeader | Page]:
        """Read a file.

        Parameters
        ----------
        path : Path
        name : str, optional
            What to call the file in messages, by default its name on disk.
        password : str, optional
            Of an encrypted file; one that opens with an empty password needs none.
        cancelled : callable
            Asked several times a second; once it says so, the iterator ends early.

        Yields
        ------
        PdfHeader, then Page
            Every page in order. Running headers need the next pages to be seen, so a page comes up to four
            pages after it was read.

        Raises
        ------
        NotAPdf, EncryptedPdf, EmptyDocument, DamagedPdf, DocumentTooLarge, ExtractionFailed
            `EmptyDocument` for want of any text comes after the last page.
        """
        name = name or path.name
        with path.open("rb") as file:
            check_pdf_header(file.read(_HEADER_WITHIN), name)
        reading = DocumentReader(self._limits, self._pool, path, name, password, cancelled)
        try:
            yield from reading.run()
        except ReadCancelledError:
            return
        finally:
            reading.close()

    def close(self) -> None:
        """End the workers; an extraction that still runs ends its own."""
        self._pool.close()
