"""The table of contents of a document, from the headings of its pages."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.text.tables import parse_scale
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import OutlineEntry, PageHeading


def build_outline(pages: Sequence[PageHeading]) -> list[OutlineEntry]:
    """Return the outline of a document.

    The headings of pages come from the outline of the file, or else from the detected headings. An entry begins on the
    first page with its heading and ends before the next entry of its level or of a higher one. A section that begins in
    the middle of a page on which another one is named has no entry. A title that states the scale of figures, such as
    "In millions", is the head of a table and no section.

    Parameters
    ----------
    pages : sequence of PageHeading
        The pages in order. A heading is a path of titles, outermost first.
    """
    found: list[tuple[int, str, PageHeading]] = []
    path: list[str] = []
    for page in pages:
        titles = [one for one in page.heading.split(HEADING_SEPARATOR) if one and parse_scale(one) is None] or path
        common = 0
        while common < min(len(path), len(titles)) and path[common].casefold() == titles[common].casefold():
            common += 1
        found += [(level, titles[level], page) for level in range(common, len(titles))]
        path = titles
    last = pages[-1].page_index if pages else 0
    entries = []
    for position, (level, title, page) in enumerate(found):
        following = (other.page_index for depth, _, other in found[position + 1 :] if depth <= level)
        end = max(page.page_index, next(following, last + 1) - 1)
        entries.append(OutlineEntry(level, title, page.page_index, page.page_label, end))
    return entries
