"""Documents looked at: their pages as text and as pictures, their chunks, their files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.chunking.document_titles import title
from rag_core.errors import UnknownDocument
from rag_core.parsing.rendering import render_page
from rag_core.runtime.stores import Stores
from rag_core.store.schema import versions
from rag_core.store.serialization import span_from_row
from rag_core.types import ChunkSpan, Page, PageImage


class Viewing:
    """Gives out what is stored of a document's active version, else of its latest.

    Parameters
    ----------
    stores : Stores
    """

    def __init__(self, stores: Stores) -> None:
        self._library = stores.library
        self._files = stores.files

    def pages(self, document_id: str) -> list[Page]:
        """See `Engine.pages`."""
        return self._library.pages(self._version(document_id))

    def page(self, document_id: str, page_index: int) -> Page:
        """See `Engine.page`."""
        return self._page(self._version(document_id), page_index)

    def title(self, document_id: str) -> str:
        """See `Engine.title`."""
        first = self._library.page(self._version(document_id), 0)
        return title(self._library.document(document_id).name, first)

    def chunks(self, document_id: str, page_index: int | None) -> list[ChunkSpan]:
        """See `Engine.chunks`."""
        return [span_from_row(row) for row in self._library.chunk_rows(self._version(document_id), page_index)]

    def neighbours(self, chunk_id: str) -> tuple[ChunkSpan | None, ChunkSpan | None]:
        """See `Engine.neighbours`."""
        row = self._library.visible_chunks([int(chunk_id)]).get(int(chunk_id))
        if row is None:
            return None, None
        before, after = self._library.chunks_beside(row.version_id, row.ordinal)
        return before and span_from_row(before), after and span_from_row(after)

    def original(self, document_id: str) -> bytes:
        """See `Engine.original`."""
        return self._files.get(self._digest(self._version(document_id)))

    def picture(
        self,
        document_id: str,
        page_index: int,
        version_id: str | None,
        highlights: Sequence[tuple[int, int]],
        scale: float,
    ) -> PageImage:
        """See `Engine.render_page`."""
        document = self._library.document(document_id)
        page = self._page(document.version_id, page_index)
        same = version_id in (None, document.version_id)
        spans = [span for highlight in highlights for span in _outside(highlight, page.skip)] if same else []
        rects = np.concatenate([page.boxes.within(0, 0), *(page.boxes.within(*span) for span in spans)])
        with self._files.local(self._digest(document.version_id)) as path:
            return render_page(path, page_index, name=document.name, rects=rects, scale=scale)

    def _version(self, document_id: str) -> str:
        return self._library.document(document_id).version_id

    def _page(self, version_id: str, page_index: int) -> Page:
        page = self._library.page(version_id, page_index)
        if page is None:
            raise UnknownDocument(f"Page {page_index + 1} of that document is not in the library.")
        return page

    def _digest(self, version_id: str) -> str:
        return str(self._library.versions_where(versions.c.id == version_id)[0].sha256)


def _outside(span: tuple[int, int], skip: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of a span that lie outside running headers and footers."""
    parts, position = [], span[0]
    for start, end in sorted(skip):
        if start < span[1] and end > position:
            parts.append((position, start))
            position = end
    parts.append((position, span[1]))
    return [(start, end) for start, end in parts if start < end]
