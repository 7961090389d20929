"""Open a file without pages in a worker process, and lay out its content on pages."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from rag_core.parsing.flow.content import Content, PictureBlock, TextBlock
from rag_core.parsing.flow.drawing import draw_page
from rag_core.parsing.flow.page_building import PageBuilder
from rag_core.parsing.flow.pagination import LaidOutPage, PlacedPicture, PlacedTable, PlacedText, paginate
from rag_core.parsing.flow.pictures import PictureText, recognize_picture
from rag_core.parsing.formats.base import Metadata, OpenFile, UnreadableError
from rag_core.types.cells import CellRange
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import ParsedPage

if TYPE_CHECKING:
    from PIL.Image import Image

_KEPT_PAGES = 4


class FlowFile(OpenFile):
    """A file whose content is laid out on pages; see `OpenFile`.

    Raise `UnreadableError` if parts of the file were left out and no page has content.
    """

    def __init__(self, content: Content) -> None:
        self.content = content
        self._pages = paginate(content.blocks)
        self.page_count = len(self._pages)
        filled = [page for page in self._pages if page.items]
        if content.problems and not filled:
            raise UnreadableError(content.problems[0])
        texts = [page for page in filled if not all(isinstance(item, PlacedPicture) for item in page.items)]
        # Index of the page whose `Page.reason` lists the problems of the file: if possible, one with a text or a table.
        self._problem_page = (texts or filled or self._pages)[0].index
        self._build = lru_cache(_KEPT_PAGES)(self._build_page)
        # Each picture is recognized once, at the largest size at which the file shows it.
        pictures = [block for block in content.blocks if isinstance(block, PictureBlock)]
        self._largest = {block.data: block for block in sorted(pictures, key=lambda block: block.size)}
        self._recognize = cache(recognize_picture)

    def _build_page(self, page_index: int, reads_pictures: bool) -> PageBuilder:
        problems = self.content.problems if page_index == self._problem_page else ()
        return PageBuilder(self._pages[page_index], self._read_picture if reads_pictures else None, problems)

    def _read_picture(self, block: PictureBlock) -> PictureText:
        return self._recognize(self._largest[block.data])

    def read_page(self, page_index: int, ocr: str) -> ParsedPage:
        if problem := self._pages[page_index].start.problem:
            raise UnreadableError(problem)
        return self._build(page_index, ocr != "off").parsed

    def draw_page(self, page_index: int, scale: float) -> Image:
        page = self._pages[page_index]
        return draw_page(self._build(page_index, False), page.width, page.height, scale)

    def read_metadata(self) -> Metadata:
        labels = tuple(map(_build_label, self._pages))
        attachments = tuple((attached.name, len(attached.data)) for attached in self.content.attachments)
        return Metadata(labels, _list_headings(self._pages), attachments)

    def read_attachment(self, number: int, page_index: int | None) -> bytes:
        return self.content.attachments[number].data


def _build_label(page: LaidOutPage) -> str:
    """Return the label of a page in citations.

    - For a page of a sheet: its cells, as in "Sales!A1:F40", or the name of the sheet if the page shows no rows.
    - For another page: its own label or, if this is empty, the page number.
    """
    if not page.start.is_sheet:
        return page.start.label or str(page.index + 1)
    rows = [item.block.row for item in page.items if isinstance(item, PlacedText)]
    columns = [0] if rows else []
    for item in page.items:
        if isinstance(item, PlacedTable) and item.table.block.numbers:
            block = item.table.block
            # A repeated header is above a row that does not follow the header in the table.
            begin = list(range(item.table.header_rows + 1))
            is_repeated = item.rows[0] == 0 and list(item.rows[: len(begin)]) != begin
            rows += [block.numbers[row] for row in item.rows[is_repeated * item.table.header_rows :]]
            columns += [block.first_column, block.first_column + item.table.column_count - 1]
    rows = [row for row in rows if row]
    if not rows:
        return page.start.label
    return str(CellRange(page.start.label, min(columns), min(rows), max(columns), max(rows)))


def _list_headings(pages: list[LaidOutPage]) -> tuple[tuple[int, str], ...]:
    """Return the page index and the path of each heading in order; see `Metadata.outline`."""
    found: list[tuple[int, str]] = []
    path: list[tuple[int, str]] = []
    for page in pages:
        for item in page.items:
            if not isinstance(item, PlacedText) or item.block.level is None or not item.is_start:
                continue
            block: TextBlock = item.block
            title = " ".join(block.text.replace(HEADING_SEPARATOR, " ").split())
            path = [*(outer for outer in path if outer[0] < item.block.level), (item.block.level, title)]
            found.append((page.index, HEADING_SEPARATOR.join(title for _, title in path)))
    return tuple(found)
