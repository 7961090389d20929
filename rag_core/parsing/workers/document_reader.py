"""Read one file with several workers, and replace workers that the file crashes."""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rag_core.errors import DamagedDocument, DocumentTooLarge, EmptyDocument, EncryptedDocument, ExtractionFailed
from rag_core.parsing.formats.base import FileFormat, Metadata
from rag_core.parsing.layout.assembly import PageAssembler
from rag_core.parsing.workers.file_reader import OPEN_TIMEOUT_S, FileReader
from rag_core.parsing.workers.messages import build_opening, unpack_metadata, unpack_page
from rag_core.parsing.workers.process import WorkerDiedError, WorkerPool, WorkerTimedOutError
from rag_core.system import count_available_cores
from rag_core.types.documents import Page, PageState, ParsedPage

# Maximum number of workers for a file. A short file gets fewer workers, so that each has at least `_MIN_PAGES` pages.
READERS = min(count_available_cores(), 4)
_MIN_PAGES = 24
_METADATA_TIMEOUT_S = 20.0
# Number of pages that are requested from each worker in advance.
_AHEAD = 2
# After this many successive pages at each of which a worker died or took too long, no further page is tried.
_MAX_LOSSES = 5
# Attached files that are larger, or that follow after this many files, are reported, but not read.
MAX_ATTACHMENT_BYTES = 50_000_000
MAX_ATTACHMENTS = 100


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """Limits on time, memory and size for reading a file, and the mode of text recognition; see `DocumentParser`."""

    page_timeout_s: float
    memory_mb: int
    max_pages: int
    max_decompressed_mb: int
    ocr: str


@dataclass(frozen=True, slots=True)
class DocumentHeader:
    """Page count, metadata, and the version of the parser of a document."""

    page_count: int
    parser_version: str
    metadata: Metadata = field(default_factory=Metadata)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that is attached to the document.

    ``data`` is empty if the file is empty, too large, beyond the maximum number of files, or could not be read.
    """

    name: str
    data: bytes


class DocumentReader:
    """Read one file once: call `run`, then `close`."""

    def __init__(
        self,
        limits: ParserLimits,
        pool: WorkerPool,
        file_format: FileFormat,
        path: Path,
        name: str,
        password: str | None,
        cancelled: Callable[[], bool],
    ) -> None:
        self._limits = limits
        self._pool = pool
        self._format = file_format
        self._name = name
        self._password = password
        self._cancelled = cancelled
        self._advice = (
            f"Download it again, or open it in a program for {file_format.description.name} files and save it again."
        )
        self._opening = {**build_opening(file_format, path, password), "ocr": limits.ocr}
        self._readers = [self._open_reader(max_unpacked=limits.max_decompressed_mb * 1_000_000)]
        # A single worker reads the first page, which shows whether the file is a scan, and all pages of a scan.
        self._is_sequential = True
        # Whether a page failed for another reason than damage to the file.
        self._has_reader_failed = False

    def close(self) -> None:
        for reader in self._readers:
            reader.close()

    def _open_reader(self, **checks: int) -> FileReader:
        return FileReader(self._pool, self._opening | checks, self._limits.page_timeout_s, self._cancelled)

    def run(self) -> Iterator[DocumentHeader | Page | Attachment]:
        """Yield the header, the pages and the attached files; see `DocumentParser.parse`."""
        header = self._read_header()
        yield header
        labels, attachments = header.metadata.labels, header.metadata.attachments
        assembler = PageAssembler(header.metadata.outline, self._name, not self._format.description.is_laid_out)
        states: set[PageState] = set()
        reason = ""
        attached: list[tuple[int | None, int, str, int]]
        attached = [(None, number, *file) for number, file in enumerate(attachments)]
        for parsed in self._read_pages(header.page_count):
            page_index = parsed.page.page_index
            attached += [(page_index, *clip) for clip in parsed.paper_clips]
            page = replace(parsed.page, page_label=(labels and labels[page_index]) or str(page_index + 1))
            states.add(page.state)
            reason = reason or (page.reason if page.state is PageState.FAILED else "")
            yield from assembler.add(replace(parsed, page=page))
        yield from assembler.flush()
        for count, (place, number, name, size) in enumerate(attached):
            is_read = 0 < size <= MAX_ATTACHMENT_BYTES and count < MAX_ATTACHMENTS
            yield Attachment(name, self._read_attachment(number, place) if is_read else b"")
        self._require_text(states, reason)

    def _require_text(self, states: set[PageState], reason: str) -> None:
        """Raise an error if no page has text.

        ``states`` are the states of all pages, and ``reason`` is the reason of the first failed page.

        Raises
        ------
        EmptyDocument
            All pages were read and have no text.
        DamagedDocument
            At least one page failed, and all failed pages are damaged.
        ExtractionFailed
            At least one page failed for another reason.
        """
        if not states <= {PageState.EMPTY, PageState.FAILED}:
            return
        if PageState.FAILED not in states:
            hint = "Text recognition found no text either."
            if self._limits.ocr == "off":
                hint = "If it is a scan, turn on text recognition (RAG_OCR=auto)."
            raise EmptyDocument(f"{self._name} has no text on any page. {hint}")
        if self._has_reader_failed:
            raise ExtractionFailed(f"No page of {self._name} could be read: {reason}. Save it again and retry.")
        raise DamagedDocument(f"No page of {self._name} can be read: {reason}. {self._advice}")

    # Opening the file

    def _raise_open_error(self, answer: dict[str, Any]) -> None:
        if answer["error"] == "password":
            wrong = ", and the given password does not open it" if self._password else ""
            raise EncryptedDocument(f"{self._name} is encrypted{wrong}. Give its password, or add a copy without one.")
        if answer["error"] == "unpacks" and answer["detail"]:
            raise DocumentTooLarge(f"{self._name} {answer['detail']}. Split it, or export it as a PDF.")
        if answer["error"] == "unpacks":
            raise DocumentTooLarge(
                f"{self._name} contains a stream of more than {self._limits.max_decompressed_mb:,} MB after "
                "decompression. Save it with smaller images."
            )
        if answer["error"] == "unreadable":
            raise DamagedDocument(
                f"{self._name} begins like a {self._format.description.noun} but cannot be read as one "
                f"({answer['detail']}). {self._advice}"
            )
        raise ExtractionFailed(
            f"{self._name} could not be opened ({answer['error']}: {answer['detail']}). Save it again and retry."
        )

    def _read_header(self) -> DocumentHeader:
        try:
            answer = self._readers[0].wait_until_open()
        except (WorkerDiedError, WorkerTimedOutError) as error:
            reason = str(error) or f"it took longer than {OPEN_TIMEOUT_S:g} s"
            raise ExtractionFailed(f"{self._name} could not be opened: {reason}. Save it again and retry.") from None
        if "error" in answer:
            self._raise_open_error(answer)
        page_count = int(answer["result"]["page_count"])
        if page_count == 0:
            raise EmptyDocument(f"{self._name} has no pages. Save or download it again.")
        if page_count > self._limits.max_pages:
            raise DocumentTooLarge(
                f"{self._name} has {page_count:,} pages, more than the {self._limits.max_pages:,} allowed. Split it."
            )
        return DocumentHeader(page_count, self._format.parser_version, self._read_metadata())

    def _read_metadata(self) -> Metadata:
        try:
            answer = self._readers[0].ask({"do": "metadata"}, _METADATA_TIMEOUT_S)
        except (WorkerDiedError, WorkerTimedOutError):
            # The text is useful without outline and labels.
            answer = {}
        return unpack_metadata(answer.get("result", {}))

    def _read_attachment(self, number: int, page_index: int | None) -> bytes:
        request = {"do": "attachment", "number": number, "page_index": page_index}
        try:
            answer = self._readers[0].ask(request, _METADATA_TIMEOUT_S)
        except (WorkerDiedError, WorkerTimedOutError):
            return b""
        return base64.b64decode(answer.get("result", {}).get("data", ""))

    # Reading the pages

    def _read_pages(self, page_count: int) -> Iterator[ParsedPage]:
        """Yield every page in order, also failed pages, while the workers already read the next pages."""
        for _ in range(min(READERS, page_count // _MIN_PAGES) - 1):
            reader = self._open_reader()
            reader.start()
            self._readers.append(reader)
        pending: deque[FileReader] = deque()
        losses = 0
        for index in range(page_count):
            if losses >= _MAX_LOSSES:
                yield _build_failed_page(
                    index, f"not tried, because the {losses} pages before it failed one after another"
                )
                continue
            self._request_pages(index, page_count, pending)
            reader = pending.popleft()
            try:
                answer = reader.receive()
            except (WorkerDiedError, WorkerTimedOutError) as error:
                self._has_reader_failed = True
                losses += 1
                reason = str(error) or f"reading it took longer than {self._limits.page_timeout_s:g} s"
                yield _build_failed_page(index, reason)
            else:
                losses = 0
                parsed = self._unpack_answer(answer, index)
                self._is_sequential = parsed.page.state in (PageState.OCR, PageState.MIXED)
                reader.recognized |= self._is_sequential
                yield parsed

    def _request_pages(self, index: int, page_count: int, pending: deque[FileReader]) -> None:
        """Request pages in advance, and append the reader of each requested page to ``pending``.

        ``index`` is the next page to yield.
        """
        # Text recognition uses all cores and much memory, so only one worker reads scanned pages.
        readers = self._readers[:1]
        if not self._is_sequential:
            readers = [reader for reader in self._readers if reader.can_request()]
        while len(pending) < _AHEAD * len(readers) and index + len(pending) < page_count:
            reader = min(readers, key=lambda candidate: candidate.pending_count)
            reader.request(index + len(pending))
            pending.append(reader)

    def _unpack_answer(self, answer: dict[str, Any], index: int) -> ParsedPage:
        if "result" in answer:
            return unpack_page(answer["result"])
        reasons = {
            "memory": f"it needs more than the {self._limits.memory_mb} MB that a reader process may use",
            "unreadable": f"the page is damaged ({answer.get('detail', '')})",
        }
        self._has_reader_failed |= answer["error"] != "unreadable"
        return _build_failed_page(
            index, reasons.get(answer["error"], f"the reader failed ({answer.get('detail', '')})")
        )


def _build_failed_page(index: int, reason: str) -> ParsedPage:
    return ParsedPage(Page(index, "", "", PageState.FAILED, reason=reason))
