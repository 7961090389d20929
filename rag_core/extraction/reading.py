"""One run over one file, with a worker that is replaced when the file kills it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag_core.errors import DamagedPdf, DocumentTooLarge, EmptyDocument, EncryptedPdf, ExtractionFailed
from rag_core.extraction.assembly import Assembler
from rag_core.extraction.headings import Sections
from rag_core.extraction.pool import WorkerPool
from rag_core.extraction.process import AbandonedError, WorkerDiedError, WorkerProcess, WorkerTimedOutError
from rag_core.extraction.protocol import ReadPage, unpack_page
from rag_core.types import Page, PageState

_OPEN_TIMEOUT_S = 60.0
_METADATA_TIMEOUT_S = 20.0
_AHEAD = 2
_MOST_LOSSES = 5


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may cost."""

    page_timeout_s: float
    memory_mb: int
    max_pages: int
    max_decompressed_mb: int
    ocr: str


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


class Reading:
    """One run over one file: `run` once, then `close`."""

    def __init__(
        self,
        limits: Limits,
        pool: WorkerPool,
        path: Path,
        name: str,
        password: str | None,
        cancelled: Callable[[], bool],
    ) -> None:
        self._limits = limits
        self._pool = pool
        self._path = path.absolute()
        self._name = name
        self._password = password
        self._cancelled = cancelled
        self._worker: WorkerProcess | None = None
        self._unanswered = 0
        self._recognised = False
        self._lost = False

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
        self._pool.give(worker)

    def run(self) -> Iterator[DocumentHeader | Page]:
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
                    if self._limits.ocr == "off"
                    else "Text recognition found none either."
                )
            )
        if set(states) <= {PageState.EMPTY, PageState.FAILED} and not self._lost:
            raise DamagedPdf(
                f"No page of {self._name} can be read: {reason}. "
                "Download it again, or open it in a PDF reader and save it anew."
            )
        if set(states) <= {PageState.EMPTY, PageState.FAILED}:
            raise ExtractionFailed(f"No page of {self._name} could be read: {reason}. Save it anew and try again.")

    # Opening

    def _open(self) -> int:
        """Open the file in a worker, a new one if need be; the number of its pages."""
        if self._worker is None:
            self._worker = self._pool.take()
        most = self._limits.max_decompressed_mb * 1_000_000
        request = {"do": "open", "path": str(self._path), "password": self._password, "most_unpacked": most}
        answer = self._worker.ask(request, _OPEN_TIMEOUT_S, self._cancelled)
        if "error" in answer:
            self._refuse(answer)
        return int(answer["result"]["page_count"])

    def _refuse(self, answer: dict[str, Any]) -> None:
        if answer["error"] == "password":
            what = "The password given does not open it" if self._password else "Give its password"
            raise EncryptedPdf(f"{self._name} is encrypted. {what}, or save a copy without one.")
        if answer["error"] == "unpacks":
            raise DocumentTooLarge(
                f"{self._name} holds a stream that unpacks to more than {self._limits.max_decompressed_mb:,} MB. "
                "Save it anew with smaller images, or raise RAG_MAX_DECOMPRESSED_MB if you trust it."
            )
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
        if page_count > self._limits.max_pages:
            raise DocumentTooLarge(
                f"{self._name} has {page_count:,} pages, more than the {self._limits.max_pages:,} allowed. "
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
                self._worker, self._unanswered, self._lost = None, 0, True
                losses += 1
                how = str(loss) or f"reading it took longer than {self._limits.page_timeout_s:g} s"
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
        answer = self._worker.receive(self._limits.page_timeout_s, self._cancelled)
        self._unanswered -= 1
        return answer

    def _read(self, answer: dict[str, Any], index: int) -> ReadPage:
        if "result" in answer:
            return unpack_page(answer["result"])
        reasons = {
            "memory": f"it needs more than the {self._limits.memory_mb} MB a reader may use",
            "unreadable": f"the page is damaged ({answer.get('detail', '')})",
        }
        self._lost |= answer["error"] != "unreadable"
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
