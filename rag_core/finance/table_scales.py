"""The scale of the figures of a table."""

from __future__ import annotations

import re

from rag_core.text.numbers import SCALES, find_table_scales
from rag_core.types.tables import Table

# How many characters at the top of a page, and before a table, may state the scale of its figures.
_HEAD, _BEFORE = 700, 300


def read_scale(table: Table, text: str) -> int | None:
    """Return the power of ten of a table's figures; ``None`` if neither the table nor its page states it.

    ``text`` is the text of the page.
    """
    headers = " ".join(cell.text for row in table.headers for cell in row.cells)
    before = text[max(0, table.start - _BEFORE) : table.start] if table.headers else ""
    for part in (table.unit, headers, " ".join(table.caption), before, text[:_HEAD] if table.headers else ""):
        words = re.search(r"\b(thousand|million|billion)s?\b|[$€£]\s?000s?|\bin 000s\b", part, re.I)
        if scales := find_table_scales(part):
            return min(scales)
        if words and part is table.unit:
            return SCALES[(words[1] or "thousand").casefold()]
    return None
