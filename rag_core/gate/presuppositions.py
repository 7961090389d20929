"""Check the presuppositions of a question: names, dates and figures that an answering passage must contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from rag_core.text.annotated import AnnotatedText, find_missing_figures
from rag_core.text.calendar_dates import (
    blank_dates,
    find_dates,
    find_matching_date,
    is_dated,
    list_asked_terms,
    read_date,
    write_term,
)
from rag_core.text.dates import MONTHS, OPEN_PERIOD, YEAR, find_years, list_fiscal_years
from rag_core.text.languages import detect_language
from rag_core.text.names import (
    MIN_NAME_CHARS,
    POSSESSIVE,
    UNIT_ABBREVIATIONS,
    annotate,
    contains_name_form,
    find_likely_names,
    strip_possessive,
)
from rag_core.text.relative_dates import describe_date
from rag_core.text.words import Word
from rag_core.types.dates import NO_DATES_FOR_DOCUMENT, DatesForDocument, WrittenDate

# A year, which the words around it distinguish from other numbers, such as that of "2000 euros".
_ASKED_YEAR = re.compile(
    r"\b(?:in|since|during|until|by|before|after|year|fiscal|ended|ending|fy|"
    rf"(?:{'|'.join(MONTHS)})(?: \d{{1,2}},)?) ?"
    rf"({YEAR})\b(?![.,]\d)|(?<![\d.,])({YEAR})\W*$",
    re.IGNORECASE,
)
# Number of letters at the end of a name that may be misspelt or inflected in the document.
_IGNORED_LETTERS = 3
# Maximum number of years of a passage that a message lists.
_MAX_YEARS = 3
# Maximum difference between the year of a question and that of a document. A report also covers the previous year.
_MAX_YEARS_APART = 1


def find_unmet_by_passage(
    question: str, passage: str, title: str, dates: DatesForDocument = NO_DATES_FOR_DOCUMENT
) -> tuple[str, ...]:
    """Return a message for each date, name and figure of a question that a passage lacks.

    A question with an exchanged name or number looks answerable but is not (Rajpurkar, Jia and Liang, "Know what you
    don't know", ACL 2018). One-digit numbers and number words are ignored, because texts seldom repeat "two reasons" or
    "the first".

    Parameters
    ----------
    question : str
    passage : str
        The best sentence of the passage with the sentences before and after it.
    title : str
        Document and heading of the passage.
    dates : DatesForDocument
        Dates of the question. They are compared in any notation, and their figures are not compared separately.
    """
    missing = [one for one in dates.dates if one.names_day and not _states_date(one, passage, title, dates)]
    question_text = annotate(_blank_dates(question, passage, title, dates))
    passage_text, title_text = annotate(passage), annotate(title)
    return (
        *(_describe_missing_date(one, dates) for one in missing),
        *(
            _describe_name(_get_text(question_text, name))
            for name in _group_missing_names(question_text, passage_text, title_text)
        ),
        *map(_describe_number, find_missing_figures(question_text, passage_text, find_years(title))),
    )


def find_uncovered_by_document(
    question: str,
    passage: str,
    title: str,
    document: str,
    contains: Callable[[str, str], bool],
    others: Collection[str] = (),
    dates: DatesForDocument = NO_DATES_FOR_DOCUMENT,
) -> dict[str, str]:
    """Return a message for each date, name or year of a question that the whole document of a passage does not cover.

    A passage need not repeat a name or year that its document states elsewhere. A document that never mentions the
    name, or whose title states another year, does not answer the question. Names in capitals are ignored, because they
    are mostly abbreviations. The first words of sentences are ignored, because they are often no names. Names are
    checked only in English questions, because German capitalizes all nouns.

    Parameters
    ----------
    question : str
    passage : str
    title : str
        Document and heading of the passage.
    document : str
        Name and title of the document.
    contains : callable
        Function that takes a word and a beginning of words, and returns whether the document contains either.
    others : collection of str
        Names in lower case that are not checked, such as names of other documents in the question.
    dates : DatesForDocument
        See `find_unmet_by_passage`.

    Returns
    -------
    dict of str to str
        The messages. Each one is mapped to the message of `find_unmet_by_passage` about the same name or year.
    """
    messages = {}
    for asked in dates.dates:
        terms = [write_term(one) for one in read_date(asked, dates.order) if one.day]
        is_nowhere = not any(contains(term, term) for term in terms)
        if asked.names_day and is_nowhere and not _states_date(asked, passage, title, dates):
            message = _describe_missing_date(asked, dates)
            messages[f"{message} in the whole document"] = message
    question_text = annotate(_blank_dates(question, passage, title, dates))
    passage_text, title_text = annotate(passage), annotate(title)
    may_be = set() if detect_language(question) else {word.start for word in find_likely_names(question_text)}
    for name in _group_missing_names(question_text, passage_text, title_text):
        nowhere = [
            word
            for word in name
            if word.start in may_be
            and strip_possessive(word) not in others
            and not any(contains(*form) for form in _list_search_forms(word))
        ]
        if nowhere:
            written = POSSESSIVE.sub("", _get_text(question_text, nowhere))
            messages[f"“{written}” is nowhere in the document"] = _describe_name(_get_text(question_text, name))
    years = _find_asked_years(question)
    # The year in the name of a document can be that of a scan, so the text must contain the year too.
    document_years = [year for year in find_years(document) if contains(year, year)] if years else []
    apart = min((abs(int(year) - int(other)) for year in years for other in document_years), default=0)
    if apart > _MAX_YEARS_APART and years.isdisjoint(find_years(f"{passage}\n{title}")):
        for year in sorted(years):
            messages[f"the document covers {max(document_years)}, not {year}"] = _describe_number(year)
    return messages


def describe_other_years(question: str, quote: str, page: str, title: str) -> str:
    """Return a sentence for the user about the years of a quote if they differ from those of the question.

    The sentence is empty if the page or the title contains a year of the question, also as the second year of "2018/19"
    or as the fiscal year of a date, or if the question is about a period, such as the years since 2019.

    >>> describe_other_years("What were sales in 2019?", "Sales rose in 2022.", "Sales rose in 2022.", "Acme")
    'The first passage names 2022, not 2019.'
    """
    asked = _find_asked_years(question)
    text = f"{title}\n{page}"
    if not asked or OPEN_PERIOD.search(question) or not asked.isdisjoint(_list_years(text)):
        return ""
    if any(re.search(rf"\d[/‐‑–-]{year[2:]}(?!\d)|['’]{year[2:]}(?!\d)", text) for year in asked):
        return ""
    named = find_years(quote, with_second=False)
    if not named or len(named) > _MAX_YEARS:
        return ""
    return f"The first passage names {' and '.join(sorted(named))}, not {' or '.join(sorted(asked))}."


def _list_years(text: str) -> set[str]:
    """Return the years in a text, and the fiscal years that end on dates in the text."""
    dates = (one for written in find_dates(text) for one in written.readings)
    fiscal = {f"{year}" for one in dates if one.year and one.month for year in list_fiscal_years(one.year, one.month)}
    return {*find_years(text), *fiscal}


def _find_asked_years(question: str) -> set[str]:
    years = {first or last for first, last in _ASKED_YEAR.findall(question)}
    return years | {year for year in find_years(question, with_second=False) if year not in question}


def list_name_forms(question: str) -> list[tuple[str, str]]:
    """Return the forms of the names and dates of a question, each with the beginning of words to search for.

    `find_uncovered_by_document` calls ``contains`` with these pairs, and with years.
    """
    forms = (form for word in annotate(question).names for form in _list_search_forms(word))
    return list(dict.fromkeys([*forms, *((term, term) for term in list_asked_terms(question))]))


def _states_date(asked: WrittenDate, passage: str, title: str, dates: DatesForDocument) -> bool:
    """Return whether a passage, its title, or the beginning of its document states a date."""
    return bool(find_matching_date(asked, passage, dates, title)) or is_dated(replace(dates, dates=(asked,)), title)


def _blank_dates(question: str, passage: str, title: str, dates: DatesForDocument) -> str:
    """Return a question without its days, and without the months that the passage or its title states."""
    return blank_dates(
        question, [one for one in dates.dates if one.names_day or _states_date(one, passage, title, dates)]
    )


def _describe_missing_date(asked: WrittenDate, dates: DatesForDocument) -> str:
    days = " or ".join(map(describe_date, read_date(asked, dates.order))) if asked.is_numeric else asked.text
    return f"the date {days} is missing"


def _group_missing_names(
    question_text: AnnotatedText, passage_text: AnnotatedText, title_text: AnnotatedText
) -> list[list[Word]]:
    """Return the names of a question that a passage lacks. Adjacent words, such as "Great Britain", are one name."""
    names: list[list[Word]] = []
    for word in question_text.names:
        if (
            question_text.begins_sentence(word)
            or word.folded in UNIT_ABBREVIATIONS
            or contains_name_form(word, passage_text, title_text)
        ):
            continue
        if names and not question_text.text[names[-1][-1].end : word.start].strip():
            names[-1].append(word)
        else:
            names.append([word])
    return names


def _get_text(question_text: AnnotatedText, name: Sequence[Word]) -> str:
    return question_text.text[name[0].start : name[-1].end]


def _list_search_forms(word: Word) -> Iterator[tuple[str, str]]:
    """Yield a name as it is written, and without accents and apostrophes, each with the beginning to search for."""
    for form in dict.fromkeys((POSSESSIVE.sub("", word.text), strip_possessive(word))):
        yield form, form[: max(MIN_NAME_CHARS, len(form) - _IGNORED_LETTERS)]


def _describe_name(name: str) -> str:
    return f"the name “{name}” is missing"


def _describe_number(number: str) -> str:
    return f"the number {number} is missing"
