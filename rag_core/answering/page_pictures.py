"""Draw pages for a capable model if their text may lack something, such as a figure."""

from __future__ import annotations

from typing import Any

from rag_core.answering.page_context import PageContext
from rag_core.errors import DocumentError, StoreError
from rag_core.llm.message_parts import build_image_part, build_text_part
from rag_core.parsing.rendering import render_page
from rag_core.runtime.stores import Stores
from rag_core.types.documents import Page, PageKey, PageState
from rag_core.types.retrieval import Passage

# Width of a picture in pixels.
_WIDTH = 1000
# Minimum area per character, in square points (1/72 inch), of a page that may contain a figure because it has little
# text: fewer than 1,000 characters on a page of the size A4.
_SPARSE = 500


class PagePictures:
    """Chooses and draws the pictures of pages for one answer; each page is drawn once.

    Parameters
    ----------
    stores : Stores

    Attributes
    ----------
    problems : list of str
        A message for each page that could not be drawn.
    """

    def __init__(self, stores: Stores) -> None:
        self._documents = stores.documents
        self._files = stores.files
        self._pages: dict[PageKey, Page] = {}
        self._drawn: dict[PageKey, dict[str, Any] | None] = {}
        self.problems: list[str] = []

    def choose(self, context: PageContext, most: int) -> list[Passage]:
        """Return at most ``most`` whole pages whose text comes from OCR or is short, best first.

        A page with text that reads like instructions to a model is left out, because its picture contains that text.
        """
        if most <= 0:
            return []
        ranks = [rank for rank in context.order if rank not in context.partial]
        sources = [one for one in (context.sources[rank - 1] for rank in ranks) if not one.instructions]
        self._pages |= self._documents.pages_at({one.page_key for one in sources} - self._pages.keys())
        return [one for one in sources if self._may_show_more(one)][:most]

    def build_parts(self, sources: list[Passage]) -> list[dict[str, Any]]:
        """Return the parts of a message: for each page that can be drawn, a line with its number and its picture."""
        parts = []
        for source in sources:
            if source.page_key not in self._drawn:
                self._drawn[source.page_key] = self._draw(source)
            if (picture := self._drawn[source.page_key]) is not None:
                parts += [build_text_part(f"Picture of source [{source.rank}]:"), picture]
        return parts

    def _may_show_more(self, source: Passage) -> bool:
        """Return whether a page may show more than its text contains."""
        page = self._pages.get(source.page_key)
        if page is None:
            return False
        is_recognized = page.state in (PageState.OCR, PageState.MIXED)
        return is_recognized or len(page.text) * _SPARSE < page.width * page.height

    def _draw(self, source: Passage) -> dict[str, Any] | None:
        """Return the picture of a page; if it cannot be drawn, add the reason to ``problems`` and return ``None``."""
        page, version = self._pages[source.page_key], self._documents.version(source.version_id)
        if version is None:
            return None
        try:
            with self._files.local(version.sha256) as path:
                scale = _WIDTH / page.width if page.width else 1.5
                image = render_page(path, source.page_index, name=source.document, scale=scale)
        except (DocumentError, StoreError) as error:
            self.problems.append(f"Page {source.page_label} of {source.document} was sent without its picture: {error}")
            return None
        return build_image_part(image.png)
