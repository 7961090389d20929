"""Pages of Office documents as LibreOffice draws them, with the places of their words."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np

from rag_core.errors import ExtractionFailed, RejectedDocument, UnknownDocument
from rag_core.parsing.alignment import align_texts
from rag_core.parsing.formats.accepted import ACCEPTED
from rag_core.parsing.libreoffice import ConversionError, convert_to_pdf, find_soffice
from rag_core.parsing.rendering import read_characters
from rag_core.runtime.stores import Stores
from rag_core.store.schema import versions
from rag_core.types.arrays import FloatArray, Int64Array
from rag_core.types.documents import DocumentInfo, Page

# Maximum number of documents whose character positions are kept in memory.
_MAX_KEPT = 8
# Minimum share of the letters of a text that must be found in the PDF.
_MIN_FOUND_SHARE = 0.5
# Minimum share of the found letters on a page of the PDF that is shown, and maximum number of such pages.
_MIN_PAGE_SHARE, _MAX_PAGES = 0.1, 3
# Maximum distance of neighbouring characters in a rectangle: in characters of the PDF, and in shares of the page width.
_MAX_SKIPPED, _MAX_GAP = 3, 0.03


class OfficePdf:
    """A PDF that LibreOffice made of a document, with the characters that match those of the document's pages.

    Parameters
    ----------
    path : Path
        The PDF.
    pages : sequence of Page
        All pages of the document, as Footnote reads them.
    name : str
        Name of the document, for error messages.

    Raises
    ------
    DocumentError
        The PDF cannot be read.
    """

    def __init__(self, path: Path, pages: Sequence[Page], name: str) -> None:
        self.path = path
        self._texts = {page.page_index: page.text for page in pages}
        drawn = [read_characters(path, 0, name=name)]
        drawn += [read_characters(path, index, name=name) for index in range(1, drawn[0].page_count)]
        # The rectangle and the page index of each character of the PDF.
        self._boxes = np.concatenate([one.boxes for one in drawn])
        self._page_indices = np.repeat(np.arange(len(drawn)), [len(one.text) for one in drawn])
        aligned = align_texts("\n".join(self._texts.values()), "".join(one.text for one in drawn))
        ends = np.cumsum([len(text) + 1 for text in self._texts.values()])
        # The position in the PDF of each character of a page's text, by page index; negative if it was not found.
        self._positions = dict(zip(self._texts, np.split(aligned, ends[:-1]), strict=True))

    def find(self, page: Page, spans: Sequence[tuple[int, int]]) -> dict[int, FloatArray]:
        """Return the rectangles of spans of a page's text, by the index of the PDF's page that shows them.

        The result is empty if less than half of the letters and digits in the spans are found in the PDF, or if
        ``page`` is not among the pages given at construction, because the document was read again.
        """
        if self._texts.get(page.page_index) != page.text:
            return {}
        offsets = np.concatenate([np.arange(start, min(end, len(page.text))) for start, end in spans])
        positions = self._positions[page.page_index][offsets]
        is_letter = np.array([page.text[offset].isalnum() for offset in offsets.tolist()], bool)
        found = self._page_indices[positions[is_letter & (positions >= 0)]]
        if not len(found) or len(found) < _MIN_FOUND_SHARE * np.count_nonzero(is_letter):
            return {}
        letters = Counter(found.tolist()).most_common(_MAX_PAGES)
        shown = sorted(index for index, count in letters if count >= _MIN_PAGE_SHARE * len(found))
        drawn = np.unique(positions[positions >= 0])
        return {index: self._join_boxes(drawn[self._page_indices[drawn] == index]) for index in shown}

    def _join_boxes(self, positions: Int64Array) -> FloatArray:
        """Return a rectangle for each sequence of characters on one line, given their positions in the PDF."""
        positions = positions[np.isfinite(self._boxes[positions]).all(1)]
        boxes = self._boxes[positions]
        middle, former, right = boxes[:, [1, 3]].mean(1)[1:], boxes[:-1], boxes[:-1, 2]
        is_apart = (np.diff(positions) > _MAX_SKIPPED) | (middle < former[:, 1]) | (middle > former[:, 3])
        is_apart |= np.abs(boxes[1:, 0] - right) > _MAX_GAP
        starts = np.concatenate([[0], np.flatnonzero(is_apart) + 1])
        first, last = np.minimum.reduceat(boxes, starts), np.maximum.reduceat(boxes, starts)
        return np.hstack([first[:, :2], last[:, 2:]])


class OfficeDrawings:
    """Converts Office documents with LibreOffice, one at a time in a thread, and keeps the newest `OfficePdf` objects.

    A PDF stays in the data folder until its document is removed. A failed conversion is repeated only after the next
    start of Footnote.

    Parameters
    ----------
    stores : Stores
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._pool = ThreadPoolExecutor(1, "office-drawings")
        self._lock = threading.Lock()
        self._pdfs: OrderedDict[str, Future[OfficePdf]] = OrderedDict()
        self._failures: dict[str, str] = {}
        self._is_closed = threading.Event()

    def find(self, document: DocumentInfo, wait_s: float) -> OfficePdf | None:
        """Return the PDF of a document, which is converted if necessary.

        Return ``None`` if LibreOffice is not installed, the document is no Office document, or it needs a password.

        Raises
        ------
        ConversionError
            The conversion failed, now or since the start of Footnote.
        TimeoutError
            The conversion takes longer than ``wait_s`` seconds. The conversion goes on in the background.
        """
        if not find_soffice() or document.needs_password or not ACCEPTED.find_by_name(document.name).is_office:
            return None
        row = self._stores.documents.version(document.version_id)
        digest = "" if row is None else row.sha256
        with self._lock:
            if reason := self._failures.get(digest):
                raise ConversionError(reason)
            future = self._pdfs.get(document.version_id)
            if future is None or _has_failed(future):
                future = self._pdfs[document.version_id] = self._pool.submit(self._convert, document, digest)
            self._pdfs.move_to_end(document.version_id)
            ended = [version_id for version_id, conversion in self._pdfs.items() if conversion.done()]
            for version_id in ended[:-_MAX_KEPT]:
                del self._pdfs[version_id]
        return future.result(wait_s)

    def describe_failures(self) -> list[str]:
        """Return a sentence for each document of the library that LibreOffice could not convert."""
        failures = dict(self._failures)
        rows = self._stores.documents.find_versions(versions.c.sha256.in_(failures)) if failures else []
        reasons = {row.name: failures[row.sha256] for row in rows}
        return [
            f"LibreOffice does not draw the pages of {name}, so Footnote does: {reason}. The conversion is tried again "
            "after the next start of Footnote."
            for name, reason in sorted(reasons.items())
        ]

    def close(self) -> None:
        """Stop the running conversion."""
        self._is_closed.set()
        self._pool.shutdown(cancel_futures=True)

    def _convert(self, document: DocumentInfo, digest: str) -> OfficePdf:
        stores, target = self._stores, self._stores.locate_office_pdf(digest)
        try:
            if not target.is_file():
                target.parent.mkdir(exist_ok=True)
                with stores.files.local(digest) as source:
                    convert_to_pdf(source, target, cancelled=self._is_closed.is_set)
                with stores.file_lock:
                    if not stores.documents.find_versions(versions.c.sha256 == digest):
                        target.unlink(missing_ok=True)
                        raise UnknownDocument(f"{document.name} was removed.")
            return OfficePdf(target, stores.documents.pages(document.version_id), document.name)
        except (ConversionError, ExtractionFailed, RejectedDocument, OSError) as error:
            target.unlink(missing_ok=True)
            is_known = isinstance(error, ConversionError)
            self._failures[digest] = f"{error}" if is_known else f"its PDF cannot be used ({error})"
            raise ConversionError(self._failures[digest]) from error


def _has_failed(future: Future[OfficePdf]) -> bool:
    """Return whether a conversion ended with an error, or its PDF was deleted meanwhile."""
    return future.done() and (future.exception() is not None or not future.result().path.is_file())
