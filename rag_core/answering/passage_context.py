"""Read more of a page than the passage that was found: retrieve small, read larger."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rag_core.runtime.stores import Stores
from rag_core.types import PAGE_BREAK, ChunkRow, Context, Passage
from rag_core.types.searches import PassageTokens, SearchOutcome

# Most characters of a page before and after a passage that are added to it.
MAX_ADDED_CHARS = 3000


def enlarge_passages(outcome: SearchOutcome, context: Context, stores: Stores) -> SearchOutcome:
    """Return the outcome with larger passages, whose offsets still refer to the text of their page.

    The order and the scores stay those of the chunks that were found. A passage that a larger one before it contains is
    left out, and the others get new numbers.

    Parameters
    ----------
    outcome : SearchOutcome
    context : {"passage", "neighbours", "page"}
        ``neighbours`` adds the chunks before and after a passage that are on the same page, and ``page`` the text of
        the page.
    stores : Stores
    """
    if context == "passage" or not outcome.result.passages:
        return outcome
    pages = stores.documents.page_contents(sorted({one.page_key for one in outcome.result.passages}))
    passages: list[Passage] = []
    tokens = dict(outcome.tokens)
    for passage in outcome.result.passages:
        if any(_contains(one, passage) for one in passages) or passage.page_key not in pages:
            continue
        page_text = pages[passage.page_key][0]
        start, end = 0, len(page_text)
        if context == "neighbours":
            start, end = _find_neighbours(passage, outcome.ranked.rows.get(int(passage.chunk_id)), stores)
        larger = replace(_enlarge(passage, page_text, start, end), rank=len(passages) + 1)
        passages.append(larger)
        if (found := tokens.get(int(passage.chunk_id))) is not None:
            tokens[int(passage.chunk_id)] = _shift(found, passage.start - larger.start)
    return replace(outcome, result=replace(outcome.result, passages=tuple(passages)), tokens=tokens)


def _contains(larger: Passage, passage: Passage) -> bool:
    """Return whether a passage contains another one, which does not continue on the next page."""
    end = passage.start + len(passage.first_page_text)
    is_inside = larger.start <= passage.start and end <= larger.start + len(larger.first_page_text)
    return larger.page_key == passage.page_key and is_inside and PAGE_BREAK not in passage.text


def _enlarge(passage: Passage, page_text: str, start: int, end: int) -> Passage:
    """Return the passage with the text of its first page from ``start`` to ``end``, within `MAX_ADDED_CHARS`."""
    first = passage.first_page_text
    start = min(max(start, passage.start - MAX_ADDED_CHARS), passage.start)
    if PAGE_BREAK in passage.text:  # it continues on the next page, so nothing follows it on its first page
        return replace(passage, start=start, text=page_text[start : passage.start] + passage.text)
    last = passage.start + len(first)
    end = max(min(end, last + MAX_ADDED_CHARS), last)
    return replace(passage, start=start, end=end, text=page_text[start:end])


def _find_neighbours(passage: Passage, row: ChunkRow | None, stores: Stores) -> tuple[int, int]:
    """Return the start of the chunk before a passage and the end of the chunk after it, if they are on its page."""
    start, end = passage.start, passage.start + len(passage.first_page_text)
    if row is None:
        return start, end
    before, after = stores.documents.adjacent_chunks(row.version_id, row.ordinal)
    if before is not None and before.page_index == passage.page_index:
        start = before.start
    if after is not None and after.page_index == passage.page_index:
        end = after.start + len(after.text.partition(PAGE_BREAK)[0])
    return start, end


def _shift(tokens: PassageTokens, characters: int) -> PassageTokens:
    """Move the offsets of the tokens of the text; those of the prefix stay negative."""
    is_text = tokens.offsets[:, :1] >= 0
    return PassageTokens(tokens.vectors, np.where(is_text, tokens.offsets + characters, tokens.offsets))
