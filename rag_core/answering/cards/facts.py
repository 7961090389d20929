"""Read the card of a document from its pages: kind, title, organization, period, language, figures and contents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rag_core.chunking.document_titles import name_in_words, read_filing_cover
from rag_core.finance.measures import KEY_LINES, Statement, find_statement_pages, find_title_lines
from rag_core.reading.cell_lookup import FoundCell, find_cells
from rag_core.reading.statement_questions import WrittenQuestion
from rag_core.text.calendar_dates import find_dates, find_head_date
from rag_core.text.dates import find_years
from rag_core.text.languages import name_language
from rag_core.text.outline import build_outline
from rag_core.types.cards import DocumentCard, KeyFigure
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import Page, PageHeading, PageState
from rag_core.types.tables import Table

# Kinds of documents, and the words of titles that name them.
_KINDS: Mapping[str, re.Pattern[str]] = {
    kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for kind, words in {
        "Minutes": r"minutes|protokoll|sitzungsprotokoll|procès-verbal",
        "Contract": r"contract|agreement|lease|\w*vertrag|contrat",
        "Data sheet": r"data ?sheet|datenblatt",
        "Manual": r"(?:user )?manual|user(?:’s|'s)? guide|operating instructions|handbook|handbuch|\w*anleitung",
        "Invoice": r"invoice|rechnung|facture",
        "Leaflet": r"leaflet|\w*merkblatt|faltblatt|flyer|brochure",
        "Report": r"(?:annual |quarterly )?report|\w*bericht|rapport",
    }.items()
}
_ABSTRACT, _REFERENCES = (
    re.compile(rf"^\W*\d*\.?\s*{word}\b", re.IGNORECASE | re.MULTILINE) for word in ("abstract", "references")
)
# For slides: minimum ratio of width to height, maximum mean number of characters, and minimum number of slides.
_LANDSCAPE, _CHARS_OF_SLIDE, _MIN_SLIDES = 1.2, 900, 3
_YEAR_ENDED = re.compile(r"\byears?\b|twelve months|5[23] weeks", re.IGNORECASE)
_PLURAL = re.compile(r"\b(?:sales|revenues|assets|liabilities|earnings)\b")
# Forms of the SEC that report on a year.
_ANNUAL_FORMS = ("10-K", "20-F", "40-F")
# Number of first pages from whose text the language is detected.
_PAGES_OF_LANGUAGE = 5
# Number of characters of the first page in which a title is looked for.
_TOP = 400
# Maximum number of titles of sections on a card.
_MAX_CONTENTS = 6
# Maximum number of characters of a title, and of words of a line that can be a title.
_MAX_TITLE_CHARS, _MAX_TITLE_WORDS = 120, 10


def read_card(name: str, pages: Sequence[Page]) -> DocumentCard:
    """Return the card of a document, without questions and key figures.

    Parameters
    ----------
    name : str
        File name of the document.
    pages : sequence of Page
        All pages of the document.
    """
    first = pages[0]
    cover = read_filing_cover(first.text)
    title = _choose_title(name, first) if cover is None else ""
    date = find_head_date(first.text, "") if cover is None else None
    if cover is not None and cover.date:
        period = f"{'Period ended' if cover.is_period else 'Dated'} {cover.date}"
    else:
        period = f"Dated {date:%d %B %Y}".replace(" 0", " ") if date else ""
    headings = [PageHeading(one.page_index, one.page_label, one.heading, one.headings) for one in pages]
    sections = [one for one in build_outline(headings) if not one.level and _is_title(one.title) and one.title != title]
    contents = list({one.title: (one.title, one.page_label) for one in reversed(sections)}.values())[::-1]
    return DocumentCard(
        kind=f"Form {cover.form}" if cover and cover.form else _find_kind(name, title, pages),
        title=title,
        organization=cover.registrant if cover else "",
        period=period,
        language=name_language("\n".join(one.text for one in pages[:_PAGES_OF_LANGUAGE])),
        pages=len(pages),
        contents=tuple(contents[:_MAX_CONTENTS]) if len(contents) > 1 else (),
    )


def _choose_title(name: str, first: Page) -> str:
    """Return the title of a document, in words.

    It is the first that can be a title: the heading of the first page, or a line at the top of this page that names a
    kind of document. Otherwise, it is the file name.
    """
    lines = [line.strip() for line in first.text[:_TOP].splitlines()]
    named = (one for one in lines if not one.endswith((".", ",", ";")) and len(one.split()) <= _MAX_TITLE_WORDS)
    heading = first.heading.split(HEADING_SEPARATOR)[0].strip()
    titles = [heading, *(one for one in named if any(words.search(one) for words in _KINDS.values()))]
    return next(filter(_is_title, titles), name_in_words(name))


def _is_title(text: str) -> bool:
    """Return whether a text can be a title: it is short, and has at least two words of three letters and no date."""
    words = [word for word in text.split() if len(word) > 2 and word.strip(".,:;()").isalpha()]
    return len(words) > 1 and len(text) <= _MAX_TITLE_CHARS and not find_dates(text)


def _find_kind(name: str, title: str, pages: Sequence[Page]) -> str:
    """Return the kind of a document, such as "Report"; "Document" if it is not recognized.

    The kind is named in the title, the file name or the first line. Papers are also recognized by their parts, and
    slides by the shape of their pages. If no page was read from its text layer alone, ", scanned" follows.
    """
    texts = [one.text for one in pages]
    is_scan = all(one.state is not PageState.TEXT for one in pages)
    head = "\n".join([title, name_in_words(name), *texts[0].strip().splitlines()[:1]])
    kind = next((kind for kind, words in _KINDS.items() if words.search(head)), "")
    if not kind and _ABSTRACT.search(texts[0]) and any(_REFERENCES.search(text) for text in texts[1:]):
        kind = "Paper"
    is_landscape = len(pages) >= _MIN_SLIDES and all(one.width > _LANDSCAPE * one.height for one in pages)
    if not kind and is_landscape and sum(map(len, texts)) < _CHARS_OF_SLIDE * len(pages):
        kind = "Slides"
    return f"{kind or 'Document'}, scanned" if is_scan else kind or "Document"


def is_annual_report(first: Page) -> bool:
    """Return whether the first page of a document is the cover of an annual report to the SEC."""
    cover = read_filing_cover(first.text)
    return cover is not None and cover.form in _ANNUAL_FORMS


def choose_statement_pages(pages: Sequence[Page], texts: Mapping[int, str]) -> list[int]:
    """Return the indices of the pages that contain the financial statements of a document, ascending."""
    headings = {page.page_index: page.headings or () for page in pages}
    return find_statement_pages(texts, headings, [one.value for one in Statement])


def find_key_figures(
    pages: Mapping[int, tuple[str, Sequence[Table]]], labels: Mapping[int, str], *, is_annual: bool
) -> list[tuple[KeyFigure, WrittenQuestion]]:
    """Return the newest figure of each key line of financial statements, with a question that the figure answers.

    A line is left out if it has two figures of the newest year, such as those of a quarter and of a half-year. A figure
    of a period is left out if neither the document nor the header of the column says that the period is a year.

    Parameters
    ----------
    pages : mapping of int to (str, sequence of Table)
        The texts and tables of the pages with financial statements, by the index of the page.
    labels : mapping of int to str
        The labels of the pages.
    is_annual : bool
        Whether the document reports on a year.
    """
    found = []
    for statement, lines in KEY_LINES.items():
        stated = [page for page, (text, _) in pages.items() if statement in find_title_lines(text)]
        tables = [(page, table) for page in stated for table in pages[page][1]]
        for line in lines:
            for cell in _find_newest_cells(tables, line):
                if statement is Statement.BALANCE or is_annual or _YEAR_ENDED.search(cell.header):
                    found.append(_describe_figure(cell, labels, is_balance=statement is Statement.BALANCE))
                    break
    return found


def _find_newest_cells(tables: Sequence[tuple[int, Table]], line: re.Pattern[str]) -> Iterator[FoundCell]:
    """Yield the cell of the newest year in each row whose label matches ``line``.

    A row is left out if several cells are of the newest year, or if the header of the cell names another year too.
    """
    for page, table in tables:
        for row in table.body:
            label = " ".join(row.label.split()).rstrip(" .:")
            if row.is_section or not line.fullmatch(label):
                continue
            cells = [one for one in find_cells([(page, table)], label, "", 1) if one.row is row]
            years = {one.cell.column: find_years(one.header, with_second=False) for one in cells}
            newest = max((year for found in years.values() for year in found), default="")
            of_newest = [one for one in cells if newest in years[one.cell.column]]
            if newest and len(of_newest) == 1 and len(years[of_newest[0].cell.column]) == 1:
                yield of_newest[0]


def _describe_figure(
    cell: FoundCell, labels: Mapping[int, str], *, is_balance: bool
) -> tuple[KeyFigure, WrittenQuestion]:
    """Return a cell of a financial statement as a key figure, and a question that the cell answers."""
    label = " ".join(cell.row.label.split()).rstrip(" .:")
    unit = cell.table.unit.strip("()[] ") if cell.is_scaled else ""
    header = ", ".join(" ".join(level.split()).strip(" ,") for level in cell.header.split(HEADING_SEPARATOR))
    figure = KeyFigure(label, cell.text, header, unit, labels.get(cell.page_index, ""))
    words = label.lower() if label.isupper() else label[0].lower() + label[1:]
    verb = "were" if _PLURAL.search(words) else "was"
    date = next((one.text for one in find_dates(header) if one.readings[0].year and one.readings[0].day), "")
    when = f"in {find_years(header)[0]}" if not date else f"on {date}" if is_balance else f"in the year ended {date}"
    text = f"What {verb} {words} {when}?"
    return figure, WrittenQuestion(text, cell.page_index, cell.start, cell.end, cell.cell.text, "figure")
