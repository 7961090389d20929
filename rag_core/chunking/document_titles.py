"""Find the title of a document: information on its first page that the file name lacks.

The title is part of the prefix of each chunk, because embedder, word index and gate read a chunk without the rest of
the document. A file name such as "report-07.pdf" says little, and the text of a chunk often does not say which document
it belongs to: a balance sheet seldom names its company.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from rag_core.text.dates import find_years
from rag_core.text.sentences import SECTION_LABEL
from rag_core.text.words import ALPHANUMERIC
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import DocumentAttributes, Page

# Number of characters at the beginning of the first page in which the title is looked for.
TITLE_CHARACTERS = 4000
MAX_TITLE_CHARACTERS = 100
SEPARATOR = " · "
# Wording that the US Securities and Exchange Commission (SEC) prescribes for the cover of a filing.
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
# Words in capitals before the name of an exchange that are no trading symbols.
_NO_SYMBOLS = frozenset("and at by each inc market none of on or per par share stock the value".split())
# Legal forms and other words that do not distinguish the name of one company from another.
_INCORPORATED = frozenset("ag co company corp corporation inc incorporated limited llc ltd plc sa se the".split())
# Frequent headings of first pages that do not name the document.
_GENERIC_HEADINGS = frozenset(("contents", "cover", "cover page", "front matter", "table of contents", "title page"))
# Shorter words do not show what a heading is about.
_MIN_LETTERS = 3


def name_in_words(name: str) -> str:
    """Return a file name without its extension, with spaces instead of underscores and between folders."""
    return " ".join(" ".join(PurePath(name).with_suffix("").parts).replace("_", " ").split())


def extract_title(name: str, first: Page | None) -> str:
    """Return the title of a document: information on its first page that the file name lacks; may be empty.

    The title of an SEC filing contains the company, its trading symbol, the form and the date. Other titles contain a
    trading symbol, and before it the first heading if the file name lacks more than half of its words.

    Examples
    --------
    >>> from rag_core.types.documents import PageState
    >>> extract_title("q3.pdf", Page(0, "1", "Acme Inc.\\n(Exact name of registrant)", PageState.TEXT))
    'Acme Inc.'
    """
    if first is None:
        return ""
    file_name = _keep_letters_and_digits(name)
    filing, symbol = read_filing_cover(first.text), _find_symbol(first.text[:TITLE_CHARACTERS], file_name)
    if filing and filing.registrant:
        parts = _list_parts(filing, symbol, file_name)
    else:
        parts = [_choose_heading(first.heading, file_name), symbol]
    return " ".join(filter(None, parts))[:MAX_TITLE_CHARACTERS].rstrip()


def find_attributes(name: str, first: Page | None) -> DocumentAttributes:
    """Return the company, the year and the form of a filing; for other documents, the year in the file name.

    The year of a filing is that of the date on its cover, or else that in the file name. A file name with several years
    has none.
    """
    years = find_years(name_in_words(name), with_second=False)
    year_in_name = int(years[0]) if len(years) == 1 else None
    cover = read_filing_cover(first.text) if first else None
    if cover is None:
        return DocumentAttributes(year=year_in_name)
    return DocumentAttributes(cover.registrant, int(cover.date[-4:]) if cover.date else year_in_name, cover.form)


def format_document_label(name: str, title: str, heading: str) -> str:
    """Return the file name in words, followed by the title unless ``heading`` contains the title."""
    return SEPARATOR.join(filter(None, (name_in_words(name), title if title not in heading else "")))


@dataclass(frozen=True, slots=True)
class FilingCover:
    """The information on the cover of an SEC filing. Missing texts are empty.

    ``is_period`` is true if the date is the end of the reported period.
    """

    registrant: str
    form: str
    date: str
    is_period: bool


def read_filing_cover(text: str) -> FilingCover | None:
    """Return the information on the cover of an SEC filing; ``None`` if the first page ``text`` is no such cover."""
    cover = text[:TITLE_CHARACTERS]
    registrant, form = _REGISTRANT.search(cover), _FORM.search(cover)
    if registrant is None and (form is None or _COMMISSION not in cover.casefold()):
        return None
    ended, dated = _ENDED.search(cover), _DATED.search(cover)
    date = ended or dated
    form_name = form["form"].upper() if form else ""
    name = _read_registrant_name(registrant) if registrant else ""
    return FilingCover(name, form_name, date["date"] if date else "", is_period=bool(ended))


def _read_registrant_name(registrant: re.Match[str]) -> str:
    """Return the name of the company, given a match of `_REGISTRANT`."""
    name = registrant["name"].strip()
    # If the line is only a legal form, such as "Inc.", the name is in the line above.
    if not _list_distinctive_words(name):
        name = f"{registrant['before'] or ''} {name}".strip()
    return name


def _list_parts(filing: FilingCover, symbol: str, file_name: str) -> list[str]:
    """Return the parts of the title of a filing. Parts that the file name contains are empty."""
    is_named = all(word in file_name for word in _list_distinctive_words(filing.registrant))
    return [
        "" if is_named else filing.registrant,
        symbol,
        "" if _keep_letters_and_digits(filing.form) in file_name else f"Form {filing.form}",
        "" if filing.date[-4:] in file_name else filing.date,
    ]


def _list_distinctive_words(company: str) -> list[str]:
    """Return the words of a company's name without its legal form."""
    return [word for word in _split_words(company) if word not in _INCORPORATED]


def _find_symbol(cover: str, file_name: str) -> str:
    """Return the trading symbol of a company; empty if there is none or the file name contains it."""
    symbols = (match["listing"] or match["listed"] for match in _SYMBOL.finditer(cover))
    symbol = next((candidate for candidate in symbols if candidate.casefold() not in _NO_SYMBOLS), "")
    return "" if symbol.casefold() in file_name else symbol


def _choose_heading(heading: str, file_name: str) -> str:
    """Return the first heading of a path that is more than a label such as "Note 12".

    Return an empty text if the heading is generic or a single word, or if the file name contains at least half of its
    words. Numbers and words of one or two letters are not counted.
    """
    parts = (part for part in heading.split(HEADING_SEPARATOR) if not SECTION_LABEL.fullmatch(part))
    first = next(parts, "").rstrip("…").strip()
    words = [word for word in _split_words(first) if len(word) >= _MIN_LETTERS and not word.isdigit()]
    new = [word for word in words if word not in file_name]
    return first if len(words) > 1 and 2 * len(new) > len(words) and first.casefold() not in _GENERIC_HEADINGS else ""


def _split_words(text: str) -> list[str]:
    return ALPHANUMERIC.findall(text.casefold())


def _keep_letters_and_digits(text: str) -> str:
    """Return the letters and digits of a text, in lower case.

    File names such as AMERICANEXPRESS_2022.pdf have no spaces between words.
    """
    return "".join(_split_words(text))
