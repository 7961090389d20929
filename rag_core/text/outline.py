"""Build the outline of a document from the headings of its pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.text.scales import parse_scale
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import OutlineEntry, Page, PageHeading

# Maximum number of characters of a heading. PDF bookmarks can have longer titles, which are sentences.
MAX_HEADING = 80
_FINAL_BRACKETS = re.compile(r"\s*\([^()]*\)$")


def build_outline(pages: Sequence[PageHeading]) -> list[OutlineEntry]:
    """Return the outline of a document, given the headings of its pages in order.

    A section ends before the page on which the next section of the same or an outer level begins. Of a page that an
    earlier release read, only one heading is known.
    """
    found: list[tuple[int, str, PageHeading]] = []
    above: list[str] = []
    for page in pages:
        for path in [page.heading] if page.headings is None else [one.path for one in page.headings]:
            titles = [title for part in path.split(HEADING_SEPARATOR) if (title := clean_title(part))]
            if not titles:
                continue
            is_same = [one.casefold() == other.casefold() for one, other in zip(above, titles, strict=False)]
            common = [*is_same, False].index(False)
            # A heading has an entry even if the previous one has the same title. Pages that an earlier release read
            # repeat the heading of the previous page while its section continues.
            first = common if page.headings is None else min(common, len(titles) - 1)
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
    """Return the path of the last heading at or before an offset of a page, or else ``page.heading``.

    Headings with a title of more than `MAX_HEADING` characters are ignored. The path is shortened; ``page.heading`` is
    returned as it is.
    """
    before = (one for one in reversed(page.headings or ()) if one.start <= start and len(one.title) <= MAX_HEADING)
    return next((shorten_heading(one.path) for one in before), page.heading)


def shorten_heading(heading: str) -> str:
    """Return a path of headings, shortened to `MAX_HEADING` characters.

    The outer sections are dropped first. If the last heading alone is too long, its end is cut off.
    """
    parts = " ".join(heading.split()).split(HEADING_SEPARATOR)
    while len(parts) > 1 and len(HEADING_SEPARATOR.join(parts)) > MAX_HEADING:
        parts.pop(0)
    text = HEADING_SEPARATOR.join(parts)
    return text if len(text) <= MAX_HEADING else text[: MAX_HEADING - 1].rstrip() + "…"


def clean_title(title: str) -> str:
    """Return a title without the brackets at its end if it states a scale, as in "Sales (in millions)".

    Return an empty text if the rest still states a scale, as in "Sales in millions".
    """
    title = title.strip()
    if parse_scale(title) is not None:
        title = _FINAL_BRACKETS.sub("", title)
    return "" if parse_scale(title) is not None else title
