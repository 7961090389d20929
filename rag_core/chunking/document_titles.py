"""Find the title of a document: what its first page adds to the file name.

"report-07.pdf" says nothing, and a balance sheet seldom names its company. The embedder, the word index and the
gate read each chunk alone, so its prefix has to name the document.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from rag_core.text.sentences import SECTION_LABEL
from rag_core.text.words import ALPHANUMERIC
from rag_core.types import Page
from rag_core.types.chunks import HEADING_SEPARATOR

# The title is at the top of the first page.
COVER_CHARACTERS = 4000
MAX_TITLE_CHARACTERS = 100
SEPARATOR = " · "
# The SEC's forms prescribe this wording for the cover of a filing.
_REGISTRANT = re.compile(
    r"^(?:(?P<before>[^\n]{2,80})\n)?(?P<name>[^\n]{2,80})\n+\(exact name of (?:the )?registrant",
    re.IGNORECASE | re.MULTILINE,
)
_FORM = re.compile(r"\bform\s+(?P<form>\d{1,2}-[A-Z]{1,2})\b", re.IGNORECASE)
_DATE = r"(?P<date>[A-Z][a-z]+ \d{1,2}, (?P<year>\d{4}))"
_ENDED, _DATED = re.compile(rf"\bended:?\s+{_DATE}"), re.compile(_DATE)
_EXCHANGE = r"(?:New York Stock Exchange|NYSE|NASDAQ|Nasdaq)"
_SYMBOL = re.compile(
    rf"\({_EXCHANGE}(?: [A-Z][a-z]+)*: ?(?P<listing>[A-Z]{{1,5}})\)|\b(?P<listed>[A-Z]{{2,5}}) (?:The )?{_EXCHANGE}\b"
)
# Words in capitals that are before the name of an exchange and are not a symbol.
_NO_SYMBOLS = frozenset("and at by each inc market none of on or per par share stock the value".split())
# Legal forms, which are not part of a company's distinctive name.
_INCORPORATED = frozenset("ag co company corp corporation inc incorporated limited llc ltd plc sa se the".split())
# Headings of first pages that do not name the document.
_ANY_COVER = frozenset(("contents", "cover", "cover page", "front matter", "table of contents", "title page"))
_FEWEST_LETTERS = 3


def name_in_words(name: str) -> str:
    """Return a name without its extension, with spaces for underscores and between folders."""
    return " ".join(" ".join(PurePath(name).with_suffix("").parts).replace("_", " ").split())


def extract_title(name: str, first: Page | None) -> str:
    """Return what the first page adds to the file name; empty if it adds nothing.

    For an SEC filing: the company, its trading symbol, the form and the period. For any other document:
    its first heading, unless the file name contains most of the heading's words, and the trading symbol.

    Examples
    --------
    >>> from rag_core.types import PageState
    >>> extract_title("q3.pdf", Page(0, "1", "Acme Inc.\\n(Exact name of registrant)", PageState.TEXT))
    'Acme Inc.'
    """
    if first is None:
        return ""
    file_name, cover = _letters_and_digits(name), first.text[:COVER_CHARACTERS]
    registrant = _REGISTRANT.search(cover)
    parts = _describe_filing(cover, registrant, file_name) if registrant else [_find_symbol(cover, file_name)]
    if registrant is None and (heading := _choose_heading(first.heading, file_name)):
        parts.insert(0, heading)
    return " ".join(part for part in parts if part)[:MAX_TITLE_CHARACTERS].rstrip()


def format_document_label(name: str, title: str, heading: str) -> str:
    """Return the document's part of a prefix: its name, and its title unless the heading contains the title."""
    return SEPARATOR.join(filter(None, (name_in_words(name), title if title not in heading else "")))


def _describe_filing(cover: str, registrant: re.Match[str], file_name: str) -> list[str]:
    name = registrant["name"].strip()
    if not _distinctive_words(name):  # "Inc." is on a separate line
        name = f"{registrant['before'] or ''} {name}".strip()
    form, date = _FORM.search(cover), _ENDED.search(cover) or _DATED.search(cover)
    return [
        "" if all(word in file_name for word in _distinctive_words(name)) else name,
        _find_symbol(cover, file_name),
        f"Form {form['form'].upper()}" if form and _letters_and_digits(form["form"]) not in file_name else "",
        date["date"] if date and date["year"] not in file_name else "",
    ]


def _distinctive_words(company: str) -> list[str]:
    """Return the words of a company's name without its legal form."""
    return [word for word in _split_words(company) if word not in _INCORPORATED]


def _find_symbol(cover: str, file_name: str) -> str:
    """Return the company's trading symbol, empty if the file name contains it."""
    symbols = (match["listing"] or match["listed"] for match in _SYMBOL.finditer(cover))
    symbol = next((candidate for candidate in symbols if candidate.casefold() not in _NO_SYMBOLS), "")
    return "" if symbol.casefold() in file_name else symbol


def _choose_heading(heading: str, file_name: str) -> str:
    first = (
        next((part for part in heading.split(HEADING_SEPARATOR) if not SECTION_LABEL.fullmatch(part)), "")
        .rstrip("…")
        .strip()
    )
    words = [word for word in _split_words(first) if len(word) >= _FEWEST_LETTERS and not word.isdigit()]
    new = [word for word in words if word not in file_name]
    return first if len(words) > 1 and 2 * len(new) > len(words) and first.casefold() not in _ANY_COVER else ""


def _split_words(text: str) -> list[str]:
    return ALPHANUMERIC.findall(text.casefold())


def _letters_and_digits(text: str) -> str:
    """Return letters and digits only: file names often run words together, as in AMERICANEXPRESS_2022.pdf."""
    return "".join(_split_words(text))
