"""The table of contents of a document, from the headings of its pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.text.scales import parse_scale
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import OutlineEntry, Page, PageHeading

# Most characters of a heading; a longer title of a bookmark is a sentence.
MAX_HEADING = 80
_FINAL_BRACKETS = re.compile(r"\s*\([^()]*\)$")


def build_outline(pages: Sequence[PageHeading]) -> list[OutlineEntry]:
    """Return the outline of a document.

    The headings come from the outline of the file and from the pages. An entry ends before the page of the next entry
    of its level or of a higher one. Of a page that an earlier release read, only one heading is known.

    Parameters
    ----------
    pages : sequence of PageHeading
        The pages in order.
    """
    found: list[tuple[int, str, PageHeading]] = []
    above: list[str] = []
    for page in pages:
        is_old = page.headings is None
        for path in [page.heading] if page.headings is None else [one.path for one in page.headings]:
            titles = [title for part in path.split(HEADING_SEPARATOR) if (title := clean_title(part))]
            if not titles:
                continue
            common = 0
            while common < min(len(above), len(titles)) and above[common].casefold() == titles[common].casefold():
                common += 1
            # Of two headings with the same title, each has its entry.
            first = common if is_old else min(common, len(titles) - 1)
            found += [(level, titles[level], page) for level in range(first, len(titles))]
            above = titles
    last = pages[-1].page_index if pages else 0
    entries = []
    for position, (level, title, page) in enumerate(found):
        following = (other.page_index for depth, _, other in found[position + 1 :] if depth <= level)
        end = max(page.page_index, next(following, last + 1) - 1)
        entries.append(OutlineEntry(level, title, page.page_index, page.page_label, end))
    return entries


def find_heading(page: Page, start: int) -> str:
    """Return the path of the last heading of a page at or before a place, or else the heading of the page."""
    before = (one for one in reversed(page.headings or ()) if one.start <= start and len(one.title) <= MAX_HEADING)
    return next((shorten_heading(one.path) for one in before), page.heading)


def shorten_heading(heading: str) -> str:
    """Return a heading of at most `MAX_HEADING` characters.

    If it is longer, the outer sections of its path are dropped first, and then its end.
    """
    parts = " ".join(heading.split()).split(HEADING_SEPARATOR)
    while len(parts) > 1 and len(HEADING_SEPARATOR.join(parts)) > MAX_HEADING:
        parts.pop(0)
    text = HEADING_SEPARATOR.join(parts)
    return text if len(text) <= MAX_HEADING else text[: MAX_HEADING - 1].rstrip() + "…"


def clean_title(title: str) -> str:
    """Return a title without a scale such as "(in millions)"; empty if it is only a scale, as "In millions"."""
    title = title.strip()
    if parse_scale(title) is not None:
        title = _FINAL_BRACKETS.sub("", title)
    return "" if parse_scale(title) is not None else title
