"""The table of contents of a document, from the headings of its pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rag_core.text.scales import parse_scale
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import OutlineEntry, PageHeading

# Lines at the top of a page that may be titles in capitals, and the most pages that may have such a title: a line on
# more pages is a header, such as the name of the company.
_TOP_LINES, _MAX_PAGES = 4, 3
_FINAL_BRACKETS = re.compile(r"\s*\([^()]*\)$")


def build_outline(pages: Sequence[PageHeading]) -> list[OutlineEntry]:
    """Return the outline of a document.

    The headings of pages come from the outline of the file, or else from the detected headings. Titles in capitals at
    the top of pages are added. An entry begins on the first page with its heading and ends before the next entry of its
    level or of a higher one. Other sections that begin in the middle of a page have no entry.

    Parameters
    ----------
    pages : sequence of PageHeading
        The pages in order. A heading is a path of titles, outermost first.
    """
    number_of_pages = Counter(line for page in pages for line in _find_capital_lines(page.top))
    found: list[tuple[int, str, PageHeading]] = []
    path: list[str] = []
    for page in pages:
        titles = [title for part in page.heading.split(HEADING_SEPARATOR) if (title := _clean_title(part))] or path
        common = 0
        while common < min(len(path), len(titles)) and path[common].casefold() == titles[common].casefold():
            common += 1
        found += [(level, titles[level], page) for level in range(common, len(titles))]
        path = titles
        known = " ".join(titles).casefold()
        capitals = [line for line in _find_capital_lines(page.top) if number_of_pages[line] <= _MAX_PAGES]
        level = max(len(titles) - 1, 0)
        found += [(level, line, page) for line in capitals if line.casefold() not in known]
    last = pages[-1].page_index if pages else 0
    entries = []
    for position, (level, title, page) in enumerate(found):
        following = (other.page_index for depth, _, other in found[position + 1 :] if depth <= level)
        end = max(page.page_index, next(following, last + 1) - 1)
        entries.append(OutlineEntry(level, title, page.page_index, page.page_label, end))
    return entries


def _clean_title(title: str) -> str:
    """Return a title without a remark such as "(in millions)"; empty if it is the head of a table, as "In millions"."""
    title = title.strip()
    if parse_scale(title) is not None:
        title = _FINAL_BRACKETS.sub("", title)
    return "" if parse_scale(title) is not None else title


def _find_capital_lines(top: str) -> list[str]:
    lines = [line for line in top.splitlines() if line.strip()][:_TOP_LINES]
    titles = (_clean_title(line) for line in lines if line.isupper() and len(line.split()) > 1)
    return list(dict.fromkeys(title for title in titles if title))
