"""A PDF in a worker process: its pages, their pictures, its outline and its attached files."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.parsing.formats.base import Metadata, OpenFile, UnpackedSizeError, UnreadableError
from rag_core.parsing.pdf.decompression import exceeds_decompressed_size
from rag_core.parsing.pdf.document import PdfiumDocument
from rag_core.parsing.pdf.fonts import Fonts, has_no_pages
from rag_core.parsing.pdf.page_parser import parse_page
from rag_core.parsing.pdf.text_page import Characters
from rag_core.types.documents import ParsedPage

if TYPE_CHECKING:
    from PIL.Image import Image

# After this many pages with doubtful characters whose fonts need no correction, the fonts of further pages are not
# searched.
_MAX_FUTILE_SEARCHES = 3


class PdfFile(OpenFile):
    """A PDF that pdfium has opened; see `OpenFile`."""

    def __init__(self, path: Path, password: str | None, max_unpacked: int | None) -> None:
        if max_unpacked is not None and exceeds_decompressed_size(path, max_unpacked):
            raise UnpackedSizeError
        self._path = path
        self._futile_searches = 0
        self._document = PdfiumDocument(path, password)
        self.page_count = self._document.page_count
        # Pdfium also reports no pages if it cannot read a file, so check whether the file really has no pages.
        if not self.page_count and not has_no_pages(path):
            raise UnreadableError("no pages can be found in it")
        self._fonts = Fonts(path, password)

    def read_page(self, page_index: int, ocr: str) -> ParsedPage:
        with self._document.open_page(page_index) as page:
            content = b""
            if self._futile_searches < _MAX_FUTILE_SEARCHES and page.has_doubtful_characters():
                content = self._fonts.append_corrections(page_index)
                self._futile_searches += not content
            if not content:
                return parse_page(page, page_index, self._fonts, ocr)
        with closing(PdfiumDocument(self._path, None, content)) as corrected, corrected.open_page(page_index) as page:
            return parse_page(page, page_index, self._fonts, ocr)

    def read_characters(self, page_index: int) -> Characters:
        """Return every character of the text layer of a page, in the order of the page's content stream.

        A character for which pdfium has no code point keeps its code in the font.
        """
        with self._document.open_page(page_index) as page:
            return page.read_characters(lambda unmapped: [0] * len(unmapped))

    def draw_page(self, page_index: int, scale: float) -> Image:
        with self._document.open_page(page_index) as page:
            return page.draw(scale)

    def read_metadata(self) -> Metadata:
        document = self._document
        return Metadata(document.read_labels(), document.read_outline(), document.list_attachments())

    def read_attachment(self, number: int, page_index: int | None) -> bytes:
        if page_index is None:
            return self._document.read_attachment(number)
        return self._document.read_paper_clip(page_index, number)

    def close(self) -> None:
        self._document.close()
        self._fonts.close()
