"""Parts of sentences, and sentences that need another: what a quote may leave out, and what it must not."""

from __future__ import annotations

import re

from rag_core.text.sentences import LIST_MARKER

# Behind a semicolon or a dash, and at a conjunction that sets one clause against another, a clause
# ends. A comma before "and" may as well be within a list, and a relative clause needs its noun.
_BOUNDARY = re.compile(r";\s+|\s[–—]\s|\s--\s|(?<=\w),\s+(?=(?:but|while|whereas|although|though|so)\s)")
_REFERENCE = re.compile(r"(?:He|She|It|They|This|These|His|Her|Its|Their|That|Those|Such|The (?:former|latter))\b")
_ANNOUNCES = re.compile(
    r"(?:[:,]|\b(?:for example|for instance|as follows|such as|namely|e\.g\.|i\.e\.))$", re.IGNORECASE
)
# The first item within the sentence that announces it; numbers of items may have lost their point.
_OPENED = re.compile(rf":\s+(?:{LIST_MARKER.pattern}|1\s+[A-Z])")
_NUMBERED = re.compile(r"\d{1,2}\s+[A-Z]")
_GOES_ON = re.compile(r"(?:[;:,]|\b(?:and|or|und|oder|et|ou))$")
FEWEST_WORDS = 8
# A list is quoted until it has so many words: of a very long one, the beginning.
LONGEST_LIST_WORDS = 150


def runs(text: str) -> list[tuple[int, int]]:
    """Spans of one or more clauses of a sentence that can stand alone, shortest first; the whole is not among them.

    >>> text = "The old bridge was built of wood by local men; the new bridge was opened in the spring of 1931."
    >>> [text[start:end] for start, end in runs(text)][1]
    'the new bridge was opened in the spring of 1931.'
    """
    cuts = list(_BOUNDARY.finditer(text))
    starts = [0, *(cut.end() for cut in cuts)]
    # The mark that parts two clauses belongs to neither, unless it is the first's own semicolon.
    ends = [*(cut.start() + (cut[0][0] == ";") for cut in cuts), len(text)]
    found = [
        (start, end)
        for first, start in enumerate(starts)
        for end in ends[first:]
        if (start, end) != (0, len(text)) and len(text[start:end].split()) >= FEWEST_WORDS
    ]
    return sorted(found, key=lambda span: span[1] - span[0])


def refers_back(text: str) -> bool:
    """Whether a sentence begins with a word that stands for something said before it."""
    return bool(_REFERENCE.match(text))


def announces(text: str) -> bool:
    """Whether a sentence says that something follows, and is nothing without it.

    >>> announces("The command to do this is:"), announces("It does nothing.")
    (True, False)
    """
    return bool(_ANNOUNCES.search(text))


def asks(text: str) -> bool:
    """Whether a sentence is a question, and answers nothing without what follows it."""
    return text.endswith(("?", "？"))


def opens_list(text: str) -> bool:
    """Whether a sentence announces what follows, or has begun to tell it.

    >>> opens_list("You need:\\n(a) a red frame."), opens_list("You need a red frame.")
    (True, False)
    """
    return announces(text) or bool(_OPENED.search(text))


def goes_on(text: str) -> bool:
    """Whether the last that is told of a list says that more of it follows."""
    return bool(_GOES_ON.search(text))


def is_item(text: str) -> bool:
    """Whether a line is an item of a list, by its mark."""
    return bool(LIST_MARKER.match(text))


def continues_list(text: str, last: str) -> bool:
    """Whether a line goes on with a list behind its last lines, as an item, a part of one, or one without a mark."""
    if is_item(text) or text[:1].islower() or (_NUMBERED.match(text) and _NUMBERED.search(last)):
        return True
    # Prose after a list is no part of it, and items without marks do not follow items with them.
    return not items(last) and not text.endswith((".", "!", "?"))


def items(text: str) -> int:
    """How many items of a list a sentence holds, each on a line of its own."""
    return sum(is_item(line.strip()) for line in text.split("\n"))
