"""One run over one file, by several workers, each replaced when the file kills it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag_core.errors import DamagedPdf, DocumentTooLarge, EmptyDocument, EncryptedPdf, ExtractionFailed
from rag_core.parsing.layout.assembly import Assembler
from rag_core.parsing.layout.headings import Sections
from rag_core.parsing.workers.file_reader import OPEN_TIMEOUT_S, Lane
from rag_core.parsing.workers.messages import unpack_page
from rag_core.parsing.workers.process import WorkerDiedError, WorkerPool, WorkerTimedOutError
from rag_core.system import usable_cores
from rag_core.types import Page, PageState
from rag_core.types.documents import ReadPage

# Workers on one file; of a document with fewer pages each than `_LEAST_PAGES` fewer.
READERS = min(usable_cores(), 4)
_LEAST_PAGES = 24
_METADATA_TIMEOUT_S = 20.0
# Pages asked of each worker before the first of them is taken.
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
    """Page count, outline and page labels of a document; ``outline`` has ``(page_index, path)`` in document order."""

    page_count: int
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
        self._lanes = [self._lane(most_unpacked=limits.max_decompressed_mb * 1_000_000)]
        # Until the first page has been read, it may be a scan.
        self._alone = True
        self._lost = False

    def close(self) -> None:
        for lane in self._lanes:
            lane.close()

    def _lane(self, **checks: int) -> Lane:
        opening = {"do": "open", "path": str(self._path), "password": self._password, **checks}
        return Lane(self._pool, opening, self._limits.page_timeout_s, self._cancelled)

    def run(self) -> Iterator[DocumentHeader | Page]:
        header = self._header()
        yield header
        assembler = Assembler(Sections(header.outline), self._name)
        states: dict[PageState, int] = {}
        reason = ""
        for read in self._pages(header.page_count):
            label = header.labels[read.page.page_index] if header.labels else str(read.page.page_index + 1)
            page = replace(read.page, page_label=label or str(read.page.page_index + 1))
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

    def _refuse(self, answer: dict[str, Any]) -> None:
        if answer["error"] == "password":
            wrong = ", and the password given does not open it" if self._password else ""
            raise EncryptedPdf(f"{self._name} is encrypted{wrong}. Give its password, or save a copy without one.")
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
            answer = self._lanes[0].opened()
        except (WorkerDiedError, WorkerTimedOutError) as loss:
            how = str(loss) or f"it took longer than {OPEN_TIMEOUT_S:g} s"
            raise ExtractionFailed(f"{self._name} could not be opened: {how}. Save it anew and try again.") from None
        if "error" in answer:
            self._refuse(answer)
        page_count = int(answer["result"]["page_count"])
        if page_count == 0:
            raise EmptyDocument(f"{self._name} has no pages. Save or download it again.")
        if page_count > self._limits.max_pages:
            raise DocumentTooLarge(
                f"{self._name} has {page_count:,} pages, more than the {self._limits.max_pages:,} allowed. "
                "Split it, or raise RAG_MAX_PAGES."
            )
        return self._described(page_count)

    def _described(self, page_count: int) -> DocumentHeader:
        try:
            answer = self._lanes[0].ask({"do": "metadata"}, _METADATA_TIMEOUT_S)
        except (WorkerDiedError, WorkerTimedOutError):
            # Without outline and labels the text is still worth having.
            return DocumentHeader(page_count)
        found = answer.get("result", {})
        return DocumentHeader(
            page_count,
            tuple((int(index), str(title)) for index, title in found.get("outline", ())),
            tuple(found.get("labels", ())),
        )

    # Pages

    def _pages(self, page_count: int) -> Iterator[ReadPage]:
        """Every page, in order; the workers already read the next ones while a page is taken care of."""
        for _ in range(min(READERS, page_count // _LEAST_PAGES) - 1):
            lane = self._lane()
            lane.begin()
            self._lanes.append(lane)
        asked: deque[Lane] = deque()
        losses = 0
        for index in range(page_count):
            if losses >= _MOST_LOSSES:
                yield _failed(index, f"not tried, since the {losses} pages before it were lost one after another")
                continue
            self._request(index, page_count, asked)
            lane = asked.popleft()
            try:
                answer = lane.receive()
            except (WorkerDiedError, WorkerTimedOutError) as loss:
                self._lost = True
                losses += 1
                how = str(loss) or f"reading it took longer than {self._limits.page_timeout_s:g} s"
                yield _failed(index, how)
            else:
                losses = 0
                read = self._read(answer, index)
                self._alone = read.page.state in (PageState.OCR, PageState.MIXED)
                lane.recognised |= self._alone
                yield read

    def _request(self, index: int, page_count: int, asked: deque[Lane]) -> None:
        """Ask for the pages from ``index`` on; ``asked`` holds for each that was asked for who reads it."""
        # Text recognition uses all cores, and half a gigabyte a worker: page by page then.
        lanes = self._lanes[:1] if self._alone else [lane for lane in self._lanes if lane.ready()]
        while len(asked) < _AHEAD * len(lanes) and index + len(asked) < page_count:
            lane = min(lanes, key=lambda one: one.waiting)
            lane.request(index + len(asked))
            asked.append(lane)

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
