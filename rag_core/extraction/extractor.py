"""The parent side of extraction: files in, pages out, whatever the files do to the worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag_core.errors import (
    DamagedPdf,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedPdf,
    ExtractionFailed,
    NotAPdf,
)
from rag_core.extraction.assembly import Assembler
from rag_core.extraction.headings import Sections
from rag_core.extraction.process import AbandonedError, WorkerDiedError, WorkerProcess, WorkerTimedOutError
from rag_core.extraction.protocol import ReadPage, unpack_page
from rag_core.types import Page, PageState

_HEADER_WITHIN = 1024
_OPEN_TIMEOUT_S = 60.0
_METADATA_TIMEOUT_S = 20.0
_AHEAD = 2
_MOST_LOSSES = 5


@dataclass(frozen=True, slots=True)
class DocumentHeader:
    """What is known of a document before its first page has been read.

    ``title`` is the file's own, often empty or meaningless. ``outline`` holds ``(page_index, path)``.
    """

    page_count: int
    title: str = ""
    encrypted: bool = False
    outline: tuple[tuple[int, str], ...] = ()
    labels: tuple[str, ...] = ()


def probe(data: bytes, name: str) -> None:
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


class Extractor:
    """Reads PDFs in worker processes that it owns and reuses.

    Parameters
    ----------
    page_timeout_s : float
        Longest time on one page; a page that takes longer fails alone.
    memory_mb : int
        Memory limit of a worker, where the platform has such limits.
    max_pages : int
        Most pages a document may have.
    ocr : {"auto", "on", "off"}
        Read pages as pictures: those without enough text, all, or none.

    Notes
    -----
    Several threads may extract at once; each gets a worker of its own.
    """

    def __init__(
        self,
        *,
        page_timeout_s: float = 60.0,
        memory_mb: int = 2048,
        max_pages: int = 20_000,
        ocr: str = "auto",
    ) -> None:
        self._page_timeout_s = page_timeout_s
        self._memory_mb = memory_mb
        self._max_pages = max_pages
        self._ocr = ocr
        self._idle: list[WorkerProcess] = []
        self._lock = threading.Lock()
        self._closed = False

    def extract(
        self,
        path: Path,
        *,
        name: str | None = None,
        password: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[DocumentHeader | Page]:
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
        DocumentHeader, then Page
            Every page in order. Running headers need the next pages to be seen, so a page comes up to four
            pages after it was read.

        Raises
        ------
        NotAPdf, EncryptedPdf, EmptyDocument, DamagedPdf, DocumentTooLarge, ExtractionFailed
            `EmptyDocument` for want of any text comes after the last page.
        """
        reading = _Reading(self, path, name or path.name, password, cancelled)
        try:
            yield from reading.run()
        except AbandonedError:
            return
        finally:
            reading.close()

    def close(self) -> None:
        """End the workers; an extraction that still runs ends its own."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()

    def __enter__(self) -> Extractor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _take(self) -> WorkerProcess:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                worker.close()
        return WorkerProcess(self._memory_mb, self._ocr)

    def _give(self, worker: WorkerProcess) -> None:
        with self._lock:
            if worker.alive and not self._closed:
                self._idle.append(worker)
                return
        worker.close()


class _Reading:
    """One run over one file: holds a worker, and replaces it when it dies."""

    def __init__(
        self, owner: Extractor, path: Path, name: str, password: str | None, cancelled: Callable[[], bool]
    ) -> None:
        self._owner = owner
        self._path = path.absolute()
        self._name = name
        self._password = password
        self._cancelled = cancelled
        self._worker: WorkerProcess | None = None
        self._unanswered = 0
        self._recognised = False

    def close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if self._unanswered:
            worker.kill()
        elif self._recognised:
            worker.close()  # text recognition keeps half a gigabyte that an idle worker has no use for
        elif worker.alive:
            with _suppressed():
                worker.ask({"do": "close"}, 5.0)
        self._owner._give(worker)

    def run(self) -> Iterator[DocumentHeader | Page]:
        with self._path.open("rb") as file:
            probe(file.read(_HEADER_WITHIN), self._name)
        header = self._header()
        yield header
        assembler = Assembler(Sections(header.outline))
        states: dict[PageState, int] = {}
        reason = ""
        for read in self._pages(header.page_count):
            label = header.labels[read.page.page_index] if header.labels else str(read.page.page_index + 1)
            page = replace(read.page, page_label=label or str(read.page.page_index + 1))
            self._recognised |= page.state in (PageState.OCR, PageState.MIXED)
            states[page.state] = states.get(page.state, 0) + 1
            reason = reason or (page.reason if page.state is PageState.FAILED else "")
            yield from assembler.add(replace(read, page=page))
        yield from assembler.flush()
        self._check_yield(states, reason)

    def _check_yield(self, states: dict[PageState, int], reason: str) -> None:
        if set(states) <= {PageState.EMPTY}:
            raise EmptyDocument(
                f"{self._name} holds no text on any of its pages. "
                + (
                    "Turn text recognition on (RAG_OCR=auto) if it is a scan."
                    if self._owner._ocr == "off"
                    else "Text recognition found none either."
                )
            )
        if set(states) <= {PageState.EMPTY, PageState.FAILED}:
            raise ExtractionFailed(f"No page of {self._name} could be read: {reason}. Save it anew and try again.")

    # Opening

    def _open(self) -> int:
        """Open the file in a worker, a new one if need be; the number of its pages."""
        if self._worker is None:
            self._worker = self._owner._take()
        request = {"do": "open", "path": str(self._path), "password": self._password}
        answer = self._worker.ask(request, _OPEN_TIMEOUT_S, self._cancelled)
        if "error" in answer:
            self._refuse(answer)
        return int(answer["result"]["page_count"])

    def _refuse(self, answer: dict[str, Any]) -> None:
        if answer["error"] == "password":
            what = "The password given does not open it" if self._password else "Give its password"
            raise EncryptedPdf(f"{self._name} is encrypted. {what}, or save a copy without one.")
        if answer["error"] == "unreadable":
            raise DamagedPdf(
                f"{self._name} begins like a PDF but cannot be read as one ({answer['detail']}). "
                "Download it again, or open it in a PDF reader and save it anew."
            )
        raise ExtractionFailed(
            f"{self._name} could not be opened ({answer['error']}: {answer['detail']}). Save it anew."
        )

    def _header(self) -> DocumentHeader:
        try:
            page_count = self._open()
        except (WorkerDiedError, WorkerTimedOutError) as loss:
            self._worker = None
            how = str(loss) or f"it took longer than {_OPEN_TIMEOUT_S:g} s"
            raise ExtractionFailed(f"{self._name} could not be opened: {how}. Save it anew and try again.") from None
        if page_count == 0:
            raise EmptyDocument(f"{self._name} has no pages. Save or download it again.")
        if page_count > self._owner._max_pages:
            raise DocumentTooLarge(
                f"{self._name} has {page_count:,} pages, more than the {self._owner._max_pages:,} allowed. "
                "Split it, or raise RAG_MAX_PAGES."
            )
        return self._described(page_count)

    def _described(self, page_count: int) -> DocumentHeader:
        assert self._worker is not None
        try:
            answer = self._worker.ask({"do": "metadata"}, _METADATA_TIMEOUT_S, self._cancelled)
        except (WorkerDiedError, WorkerTimedOutError):
            # Without outline and labels the text is still worth having.
            self._worker = None
            return DocumentHeader(page_count)
        found = answer.get("result", {})
        return DocumentHeader(
            page_count,
            found.get("title", ""),
            found.get("encrypted", False),
            tuple((int(index), str(title)) for index, title in found.get("outline", ())),
            tuple(found.get("labels", ())),
        )

    # Pages

    def _pages(self, page_count: int) -> Iterator[ReadPage]:
        """Every page, in order; the worker already reads the next one while a page is taken care of."""
        index, losses = 0, 0
        while index < page_count:
            if losses >= _MOST_LOSSES:
                yield _failed(index, f"not tried, since the {losses} pages before it were lost one after another")
                index += 1
                continue
            try:
                self._request(index, page_count)
                answer = self._receive()
            except (WorkerDiedError, WorkerTimedOutError) as loss:
                self._worker, self._unanswered = None, 0
                losses += 1
                how = str(loss) or f"reading it took longer than {self._owner._page_timeout_s:g} s"
                yield _failed(index, how)
            else:
                losses = 0
                yield self._read(answer, index)
            index += 1

    def _request(self, index: int, page_count: int) -> None:
        if self._worker is None:
            self._open()
        assert self._worker is not None
        while self._unanswered < _AHEAD and index + self._unanswered < page_count:
            self._worker.send({"do": "page", "index": index + self._unanswered})
            self._unanswered += 1

    def _receive(self) -> dict[str, Any]:
        assert self._worker is not None
        answer = self._worker.receive(self._owner._page_timeout_s, self._cancelled)
        self._unanswered -= 1
        return answer

    def _read(self, answer: dict[str, Any], index: int) -> ReadPage:
        if "result" in answer:
            return unpack_page(answer["result"])
        reasons = {
            "memory": f"it needs more than the {self._owner._memory_mb} MB a reader may use",
            "unreadable": f"the page is damaged ({answer.get('detail', '')})",
        }
        return _failed(index, reasons.get(answer["error"], f"the reader failed ({answer.get('detail', '')})"))


def _failed(index: int, reason: str) -> ReadPage:
    return ReadPage(Page(index, "", "", PageState.FAILED, reason=reason))


@contextmanager
def _suppressed() -> Iterator[None]:
    """Whatever a worker that is no longer needed dies of."""
    try:
        yield
    except (WorkerDiedError, WorkerTimedOutError, AbandonedError):
        return
