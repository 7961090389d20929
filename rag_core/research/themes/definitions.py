"""Find definitions in a text: abbreviations and short names of entities, and sentences that define terms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.text.proper_names import find_names
from rag_core.text.words import ALPHANUMERIC

_QUOTED = r"[“\"](?P<short>[^”\"]{2,40}?)[,.]?[”\"]"
# A name and its short name, as in "Snow Hill Island Trust (the “Trust”)" and "Net Interest Margin (NIM)".
_SHORT_NAME = re.compile(
    rf"\(\s*(?:the\s+|hereinafter\s+|collectively,?\s+)*(?:{_QUOTED}|(?P<acronym>[A-Z][A-Za-z&]{{1,9}}))\s*\)"
)
_MEANING = re.compile(rf"{_QUOTED}\s+(?:means|refers? to|is defined as|shall mean)\b|\b(?:is|are) defined as\b")
# Most characters before a short name in which its long form is looked for.
_MAX_NAME_CHARS = 90


def find_short_names(text: str) -> Iterator[tuple[str, str]]:
    """Yield the long and the short form of each name for which a sentence defines a short form.

    An abbreviation without quotation marks must consist of the initials of the words before it; compare Schwartz and
    Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical text", PSB 2003.

    >>> list(find_short_names('Best Rail Inc. (“Best Rail”) owns the Snow Hill Line (SHL).'))
    [('Best Rail Inc', 'Best Rail'), ('Snow Hill Line', 'SHL')]
    """
    for match in _SHORT_NAME.finditer(text):
        before = text[max(0, match.start() - _MAX_NAME_CHARS) : match.start()].rstrip(" ,.")
        names = [one for one in find_names(before) if one.end == len(before)]
        if not names:
            continue
        long = before[names[0].start :].removeprefix("the ").removeprefix("The ")
        short = match["short"] or match["acronym"]
        if match["acronym"] and not _has_initials(long, short):
            continue
        yield long, short.removeprefix("the ")


def defines_term(text: str) -> bool:
    """Return whether a sentence says what a term means.

    >>> defines_term("“Closing” means the transfer of the shares."), defines_term("This means war.")
    (True, False)
    """
    return _MEANING.search(text) is not None


def _has_initials(name: str, acronym: str) -> bool:
    initials = "".join(word[0] for word in ALPHANUMERIC.findall(name)).casefold()
    return initials.endswith(acronym.casefold()) and len(acronym) > 1
