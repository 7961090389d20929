"""Parse PDF files in worker processes, so that a file that crashes a worker does not stop the application."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

from rag_core.errors import EmptyDocument, NotAPdf
from rag_core.parsing.workers.document_reader import READERS, Attachment, DocumentReader, ParserLimits, PdfHeader
from rag_core.parsing.workers.process import ReadCancelledError, WorkerPool
from rag_core.types import Page

_HEADER_WITHIN = 1024

# Increase this number with every change that alters the text or the tables of any page. Citations are offsets into the
# text.
LAYOUT_REVISION = 10
# The first revision that reads attached files.
_READS_ATTACHMENTS = 7
PARSER_VERSION = f"pypdfium2 {version('pypdfium2')}, layout {LAYOUT_REVISION}"


def reads_attachments(parser_version: str) -> bool:
    """Return whether the parser of that version reads the files that are attached to a PDF."""
    revision = parser_version.rpartition("layout ")[2]
    return revision.isdecimal() and int(revision) >= _READS_ATTACHMENTS


def check_pdf_header(data: bytes, name: str) -> None:
    """Raise an error if the data cannot be a PDF.

    Parameters
    ----------
    data : bytes
        The file, or at least its first 1,024 bytes.
    name : str
        Name of the file in messages.

    Raises
    ------
    EmptyDocument, NotAPdf
    """
    if not data:
        raise EmptyDocument(f"{name} is empty: the file has no bytes. Save or download it again.")
    # Mail gateways and printers put lines before the header. PDF readers accept up to 1,024 bytes before it.
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise NotAPdf(f"{name} is not a PDF file. Export it as a PDF and add the exported file.")


class PdfParser:
    """Read PDFs in reusable worker processes.

    Parameters
    ----------
    page_timeout_s : float
        Time limit for each page. If a page takes longer, only this page fails.
    memory_mb : int
        Memory limit of a worker, if the platform supports such limits.
    max_pages : int
        Largest allowed number of pages of a document.
    max_decompressed_mb : int
        Largest allowed size of a stream of the file after decompression.
    ocr : {"auto", "on", "off"}
        Recognize text on pages without enough text (auto), on all pages (on), or on no page (off).

    Notes
    -----
    Several threads may parse files at the same time. Each file is read by its own workers.
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
        """Start the workers that one file needs, so that the first file does not wait for them."""
        for worker in [self._pool.acquire() for _ in range(READERS)]:
            self._pool.release(worker)

    def parse(
        self,
        path: Path,
        *,
        name: str | None = None,
        password: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[PdfHeader | Page | Attachment]:
        """Read a file and yield its pages.

        Parameters
        ----------
        path : Path
        name : str, optional
            Name of the file in messages, by default its name on disk.
        password : str, optional
            Password of an encrypted file; not needed if an empty password opens the file.
        cancelled : callable
            Called several times a second; once it returns true, the iterator ends early.

        Yields
        ------
        PdfHeader, then Page, then Attachment
            First the header of the document, then every page in order, then the attached files. A page is yielded
            after up to four more pages are read, because these pages are needed to detect page headers.

        Raises
        ------
        NotAPdf, EncryptedPdf, EmptyDocument, DamagedPdf, DocumentTooLarge, ExtractionFailed
            `EmptyDocument` is raised after the last page if no page has text.
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
        """End the idle workers; a busy worker ends when its file is done."""
        self._pool.close()
