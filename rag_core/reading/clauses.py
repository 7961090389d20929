"""Clauses and list items: which part of a sentence a quote may omit, and which adjacent sentence it must include."""

from __future__ import annotations

import re

from rag_core.text.sentences import LIST_MARKER

# A clause ends at a semicolon, a dash or an adversative conjunction. A comma before "and" does not end it, because the
# comma may be in a list. A relative clause is not separated, because it needs its noun.
_BOUNDARY = re.compile(r";\s+|\s[–—]\s|\s--\s|(?<=\w),\s+(?=(?:but|while|whereas|although|though|so)\s)")
_REFERENCE = re.compile(r"(?:He|She|It|They|This|These|His|Her|Its|Their|That|Those|Such|The (?:former|latter))\b")
_ANNOUNCES = re.compile(
    r"(?:[:,]|\b(?:for example|for instance|as follows|such as|namely|e\.g\.|i\.e\.))$", re.IGNORECASE
)
# The marker of the first list item, in the sentence that introduces the list. Item numbers may lack their full stop.
_OPENED = re.compile(rf":\s+(?:{LIST_MARKER.pattern}|1\s+[A-Z])")
_NUMBERED = re.compile(r"\d{1,2}\s+[A-Z]")
_GOES_ON = re.compile(r"(?:[;:,]|\b(?:and|or|und|oder|et|ou))$")
MIN_CLAUSE_WORDS = 8
# Most words of a list that is quoted in full. Of a longer list, only the beginning is quoted.
MAX_LIST_WORDS = 150


def find_clause_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of consecutive clauses that a quote may consist of, shortest first, without the whole sentence.

    >>> text = "The old bridge was built of wood by local men; the new bridge was opened in the spring of 1931."
    >>> [text[start:end] for start, end in find_clause_spans(text)][1]
    'the new bridge was opened in the spring of 1931.'
    """
    cuts = list(_BOUNDARY.finditer(text))
    starts = [0, *(cut.end() for cut in cuts)]
    # The separator belongs to neither clause, except that a semicolon belongs to the first.
    ends = [*(cut.start() + (cut[0][0] == ";") for cut in cuts), len(text)]
    spans = [
        (start, end)
        for first, start in enumerate(starts)
        for end in ends[first:]
        if (start, end) != (0, len(text)) and len(text[start:end].split()) >= MIN_CLAUSE_WORDS
    ]
    return sorted(spans, key=lambda span: span[1] - span[0])


def has_back_reference(text: str) -> bool:
    """Return whether a sentence begins with a pronoun or determiner that refers to an earlier sentence."""
    return bool(_REFERENCE.match(text))


def is_introduction(text: str) -> bool:
    """Return whether a sentence introduces the text after it and is incomplete without that text.

    >>> is_introduction("The command to do this is:"), is_introduction("It does nothing.")
    (True, False)
    """
    return bool(_ANNOUNCES.search(text))


def is_question(text: str) -> bool:
    """Return whether a sentence is a question, which answers nothing without the text after it."""
    return text.endswith(("?", "？"))


def is_list_start(text: str) -> bool:
    """Return whether a sentence introduces a list, or contains the beginning of one.

    >>> is_list_start("You need:\\n(a) a red frame."), is_list_start("You need a red frame.")
    (True, False)
    """
    return is_introduction(text) or bool(_OPENED.search(text))


def has_more_items(text: str) -> bool:
    """Return whether the end of a text shows that more list items follow."""
    return bool(_GOES_ON.search(text))


def is_item(text: str) -> bool:
    """Return whether a line begins with the marker of a list item."""
    return bool(LIST_MARKER.match(text))


def is_list_continuation(text: str, last: str) -> bool:
    """Return whether a line continues the list that ends with ``last``, as an item or a part of an item."""
    if is_item(text) or text[:1].islower() or (_NUMBERED.match(text) and _NUMBERED.search(last)):
        return True
    # A line without a marker continues only a list without markers, and only if the line is not a sentence of prose.
    return not count_items(last) and not text.endswith((".", "!", "?"))


def count_items(text: str) -> int:
    """Return the number of lines of a sentence that are list items."""
    return sum(is_item(line.strip()) for line in text.split("\n"))
