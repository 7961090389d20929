"""Parse files in worker processes, so that a file that crashes a worker does not stop the application."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from rag_core.parsing.formats.accepted import require_format
from rag_core.parsing.workers.document_reader import READERS, Attachment, DocumentHeader, DocumentReader, ParserLimits
from rag_core.parsing.workers.process import ReadCancelledError, WorkerPool
from rag_core.types.documents import Page


class DocumentParser:
    """Read files of all formats in reusable worker processes.

    Parameters
    ----------
    page_timeout_s : float
        Time limit for each page. If a page takes longer, only this page fails.
    memory_mb : int
        Memory limit of a worker, if the platform supports such limits.
    max_pages : int
        Largest allowed number of pages of a document.
    max_decompressed_mb : int
        Largest allowed size, after decompression, of each stream of a PDF or of all parts of an archive together.
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
        self._pool = WorkerPool(memory_mb)

    def warm_up(self) -> None:
        """Start the workers for one file, so that the first file does not wait for them."""
        for worker in [self._pool.acquire() for _ in range(READERS)]:
            self._pool.release(worker)

    def parse(
        self,
        path: Path,
        *,
        name: str | None = None,
        password: str | None = None,
        ocr: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[DocumentHeader | Page | Attachment]:
        """Read a file and yield its pages.

        Parameters
        ----------
        path : Path
        name : str, optional
            Name of the file in messages, by default its name on disk.
        password : str, optional
            Password of an encrypted file; not needed if an empty password opens the file.
        ocr : {"auto", "on", "off"}, optional
            Text recognition for this file; by default that of the parser.
        cancelled : callable
            Called several times a second. As soon as it returns true, the iterator ends without an error.

        Yields
        ------
        DocumentHeader, then Page, then Attachment
            The header of the document, every page in order, and the attached files. Up to four further pages are read
            before a page is yielded, because they show which lines are page headers.

        Raises
        ------
        UnknownFormat, EncryptedDocument, EmptyDocument, DamagedDocument, DocumentTooLarge, ExtractionFailed
            Errors are raised before the header is yielded, except that `EmptyDocument`, `DamagedDocument` or
            `ExtractionFailed` is raised at the end if no page has text.
        """
        name = name or path.name
        with path.open("rb") as file:
            file_format = require_format(file, name)
        limits = replace(self._limits, ocr=ocr or self._limits.ocr)
        reading = DocumentReader(limits, self._pool, file_format, path, name, password, cancelled)
        try:
            yield from reading.run()
        except ReadCancelledError:
            return
        finally:
            reading.close()

    def close(self) -> None:
        """End the idle workers; a busy worker ends when its file is done."""
        self._pool.close()
