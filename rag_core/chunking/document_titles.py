"""What a document is about: its file's name, and what its first page adds to that.

"report-07.pdf" says nothing, and a balance sheet seldom says whose it is. Whoever reads a chunk alone (an
embedder, an index of words, a gate) is told by its prefix.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from rag_core.types import Page
from rag_core.types.chunks import HEADING_SEPARATOR

# A cover says what it has to say at its top.
COVER_CHARACTERS = 4000
LONGEST = 100
SEPARATOR = " · "
# The cover of a filing with the SEC has these in its form's own words.
_REGISTRANT = re.compile(
    r"^(?:(?P<before>[^\n]{2,80})\n)?(?P<name>[^\n]{2,80})\n+\(exact name of (?:the )?registrant",
    re.IGNORECASE | re.MULTILINE,
)
_FORM = re.compile(r"\bform\s+(?P<form>\d{1,2}-[A-Z]{1,2})\b", re.IGNORECASE)
_DATE = r"(?P<date>[A-Z][a-z]+ \d{1,2}, (?P<year>\d{4}))"
_ENDED, _DATED = re.compile(rf"\bended:?\s+{_DATE}"), re.compile(_DATE)
_EXCHANGE = r"(?:New York Stock Exchange|NYSE|NASDAQ|Nasdaq)"
_SYMBOL = re.compile(
    rf"\({_EXCHANGE}(?: [A-Z][a-z]+)*: ?(?P<told>[A-Z]{{1,5}})\)|\b(?P<listed>[A-Z]{{2,5}}) (?:The )?{_EXCHANGE}\b"
)
# What stands before an exchange in capitals where no symbol does.
_NO_SYMBOLS = frozenset("and at by each inc market none of on or per par share stock the value".split())
_WORD = re.compile(r"[^\W_]+")
# How companies are incorporated is not what they are called.
_INCORPORATED = frozenset("ag co company corp corporation inc incorporated limited llc ltd plc sa se the".split())
# What first pages are headed with, whatever they are about.
_ANY_COVER = frozenset(("contents", "cover", "cover page", "front matter", "table of contents", "title page"))
# "Chapter 1", of which the title stands below it.
_LABEL = re.compile(r"[^\W\d]+ (?:\d{1,3}|[IVXLC]{1,6})[A-Z]?[.:]?")
_FEWEST_LETTERS = 3


def name_in_words(name: str) -> str:
    """A file's name without its ending, underscores as spaces."""
    return " ".join(PurePath(name).stem.replace("_", " ").split())


def extract_title(name: str, first: Page | None) -> str:
    """What the first page says of the document beyond its file's name; empty where that is nothing.

    Of a filing with the SEC the company, its trading symbol, the form and the period that it is for; of
    another document its first heading, unless most of it stands in the name.

    Examples
    --------
    >>> from rag_core.types import PageState
    >>> title("q3.pdf", Page(0, "1", "Acme Inc.\\n(Exact name of registrant)", PageState.TEXT))
    'Acme Inc.'
    """
    if first is None:
        return ""
    known, cover = _run_together(name), first.text[:COVER_CHARACTERS]
    registrant = _REGISTRANT.search(cover)
    parts = _of_filing(cover, registrant, known) if registrant else [_symbol(cover, known)]
    if registrant is None and (heading := _heading(first.heading, known)):
        parts.insert(0, heading)
    return " ".join(part for part in parts if part)[:LONGEST].rstrip()


def format_document_label(name: str, title: str, heading: str) -> str:
    """Return the document label of a prefix: the name, and the title unless the heading contains it."""
    return SEPARATOR.join(filter(None, (name_in_words(name), title if title not in heading else "")))


def _of_filing(cover: str, registrant: re.Match[str], known: str) -> list[str]:
    name = registrant["name"].strip()
    if not _called(name):  # "Inc." on a line of its own
        name = f"{registrant['before'] or ''} {name}".strip()
    form, date = _FORM.search(cover), _ENDED.search(cover) or _DATED.search(cover)
    return [
        "" if all(word in known for word in _called(name)) else name,
        _symbol(cover, known),
        f"Form {form['form'].upper()}" if form and _run_together(form["form"]) not in known else "",
        date["date"] if date and date["year"] not in known else "",
    ]


def _called(company: str) -> list[str]:
    """The words of a company's name but for how it is incorporated."""
    return [word for word in _words(company) if word not in _INCORPORATED]


def _symbol(cover: str, known: str) -> str:
    """What a company is called on an exchange, and by those who look at it there."""
    symbols = (found["told"] or found["listed"] for found in _SYMBOL.finditer(cover))
    symbol = next((one for one in symbols if one.casefold() not in _NO_SYMBOLS), "")
    return "" if symbol.casefold() in known else symbol


def _heading(heading: str, known: str) -> str:
    first = (
        next((part for part in heading.split(HEADING_SEPARATOR) if not _LABEL.fullmatch(part)), "").rstrip("…").strip()
    )
    words = [word for word in _words(first) if len(word) >= _FEWEST_LETTERS and not word.isdigit()]
    new = [word for word in words if word not in known]
    return first if len(words) > 1 and 2 * len(new) > len(words) and first.casefold() not in _ANY_COVER else ""


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _run_together(text: str) -> str:
    """Its letters and digits alone: names of files often run words together, as AMERICANEXPRESS_2022.pdf."""
    return "".join(_words(text))
