"""Find the title of a document: the information on its first page that the file name lacks.

The embedder, the word index and the gate read each chunk without the rest of the document. So the prefix of the chunk
has to name the document. A file name such as "report-07.pdf" is not enough, and the text of a chunk often does not name
the document: a balance sheet seldom names its company.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from rag_core.text.sentences import SECTION_LABEL
from rag_core.text.words import ALPHANUMERIC
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import Page

# The title is looked for in this many characters at the top of the first page.
TITLE_CHARACTERS = 4000
MAX_TITLE_CHARACTERS = 100
SEPARATOR = " · "
# The SEC (the US Securities and Exchange Commission) prescribes this wording for the cover of a filing.
_REGISTRANT = re.compile(
    r"^(?:(?P<before>[^\n]{2,80})\n)?(?P<name>[^\n]{2,80})\n+\(exact name of (?:the )?registrant",
    re.IGNORECASE | re.MULTILINE,
)
_COMMISSION = "securities and exchange commission"
_FORM = re.compile(r"\bform\s+(?P<form>\d{1,2}-[A-Z]{1,2})\b", re.IGNORECASE)
_DATE = r"(?P<date>[A-Z][a-z]+ \d{1,2}, (?P<year>\d{4}))"
_ENDED, _DATED = re.compile(rf"\bended:?\s+{_DATE}"), re.compile(_DATE)
_EXCHANGE = r"(?:New York Stock Exchange|NYSE|NASDAQ|Nasdaq)"
_SYMBOL = re.compile(
    rf"\({_EXCHANGE}(?: [A-Z][a-z]+)*: ?(?P<listing>[A-Z]{{1,5}})\)|\b(?P<listed>[A-Z]{{2,5}}) (?:The )?{_EXCHANGE}\b"
)
# Words that are not trading symbols but may be before the name of an exchange in capital letters.
_NO_SYMBOLS = frozenset("and at by each inc market none of on or per par share stock the value".split())
# Legal forms and other words that do not distinguish the name of one company from another.
_INCORPORATED = frozenset("ag co company corp corporation inc incorporated limited llc ltd plc sa se the".split())
# Headings that are frequent on first pages but do not name the document.
_ANY_COVER = frozenset(("contents", "cover", "cover page", "front matter", "table of contents", "title page"))
_MIN_LETTERS = 3


def name_in_words(name: str) -> str:
    """Return a name without its extension, with spaces for underscores and between folders."""
    return " ".join(" ".join(PurePath(name).with_suffix("").parts).replace("_", " ").split())


def extract_title(name: str, first: Page | None) -> str:
    """Return the information on the first page that the file name lacks; empty if there is none.

    For an SEC filing, the information is the company, its trading symbol, the form and the date. For other documents,
    it is the first heading and a trading symbol. The heading is left out if the file name contains most of its words.

    Examples
    --------
    >>> from rag_core.types import PageState
    >>> extract_title("q3.pdf", Page(0, "1", "Acme Inc.\\n(Exact name of registrant)", PageState.TEXT))
    'Acme Inc.'
    """
    if first is None:
        return ""
    file_name, cover = _letters_and_digits(name), first.text[:TITLE_CHARACTERS]
    registrant = _REGISTRANT.search(cover)
    parts = _describe_filing(cover, registrant, file_name) if registrant else [_find_symbol(cover, file_name)]
    if registrant is None and (heading := _choose_heading(first.heading, file_name)):
        parts.insert(0, heading)
    return " ".join(part for part in parts if part)[:MAX_TITLE_CHARACTERS].rstrip()


def format_document_label(name: str, title: str, heading: str) -> str:
    """Return the file name in words, followed by the title unless ``heading`` contains the title."""
    return SEPARATOR.join(filter(None, (name_in_words(name), title if title not in heading else "")))


@dataclass(frozen=True, slots=True)
class FilingCover:
    """What the cover of an SEC filing says; each text may be empty.

    ``is_period`` is true if the date is the end of the period that the filing reports on.
    """

    registrant: str
    form: str
    date: str
    is_period: bool


def read_filing_cover(text: str) -> FilingCover | None:
    """Return what the cover of an SEC filing says; ``None`` if the text of a first page is no such cover."""
    cover = text[:TITLE_CHARACTERS]
    registrant, form = _REGISTRANT.search(cover), _FORM.search(cover)
    if registrant is None and (form is None or _COMMISSION not in cover.casefold()):
        return None
    ended, dated = _ENDED.search(cover), _DATED.search(cover)
    date = ended or dated
    form_name = form["form"].upper() if form else ""
    name = _name_registrant(registrant) if registrant else ""
    return FilingCover(name, form_name, date["date"] if date else "", is_period=bool(ended))


def _name_registrant(registrant: re.Match[str]) -> str:
    name = registrant["name"].strip()
    if not _distinctive_words(name):  # the line is only a legal form, such as "Inc."; the name is in the line above
        name = f"{registrant['before'] or ''} {name}".strip()
    return name


def _describe_filing(cover: str, registrant: re.Match[str], file_name: str) -> list[str]:
    name = _name_registrant(registrant)
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
    """Return the company's trading symbol; empty if there is none or if the file name contains it."""
    symbols = (match["listing"] or match["listed"] for match in _SYMBOL.finditer(cover))
    symbol = next((candidate for candidate in symbols if candidate.casefold() not in _NO_SYMBOLS), "")
    return "" if symbol.casefold() in file_name else symbol


def _choose_heading(heading: str, file_name: str) -> str:
    first = (
        next((part for part in heading.split(HEADING_SEPARATOR) if not SECTION_LABEL.fullmatch(part)), "")
        .rstrip("…")
        .strip()
    )
    words = [word for word in _split_words(first) if len(word) >= _MIN_LETTERS and not word.isdigit()]
    new = [word for word in words if word not in file_name]
    return first if len(words) > 1 and 2 * len(new) > len(words) and first.casefold() not in _ANY_COVER else ""


def _split_words(text: str) -> list[str]:
    return ALPHANUMERIC.findall(text.casefold())


def _letters_and_digits(text: str) -> str:
    """Return only the letters and digits of a text, in lower case.

    Words can then be found in file names that have no spaces between them, such as AMERICANEXPRESS_2022.pdf.
    """
    return "".join(_split_words(text))
