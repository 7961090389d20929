"""Presuppositions of a question: names, figures, negations and antonyms that an answering passage must contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from rag_core.gate.yes_no_questions import is_yes_no_question
from rag_core.text.annotated import AnnotatedText
from rag_core.text.contradictions import find_added_negations, find_antonyms, find_dropped_negations
from rag_core.text.dates import MONTHS, YEAR
from rag_core.text.figures import find_fiscal_years, find_missing_figures, join_digit_groups
from rag_core.text.names import (
    MIN_NAME_CHARS,
    POSSESSIVE,
    UNIT_ABBREVIATIONS,
    annotate,
    contains_name_form,
    find_likely_names,
    strip_possessive,
)
from rag_core.text.words import Word

_YEAR = re.compile(rf"(?<!\d){YEAR}(?!\d)")
# A number that is certainly a year; not "2000 euros".
_ASKED_YEAR = re.compile(
    r"\b(?:in|since|during|until|by|before|after|year|fiscal|ended|ending|fy|"
    rf"(?:{'|'.join(MONTHS)})(?: \d{{1,2}},)?) ?"
    rf"({YEAR})\b(?![.,]\d)|(?<![\d.,])({YEAR})\W*$",
    re.IGNORECASE,
)
# English function words. Only English questions are checked for names, since German capitalises all nouns.
_ENGLISH_WORDS = frozenset(
    "and are at by did do does for from has have how is its of on or that the to what when where which who whose why "
    "with".split()
)
# Letters at the end of a name that a search of the whole document ignores: they may be misspelt or inflected.
_IGNORED_LETTERS = 3
# A report also covers the year before.
_MAX_YEARS_APART = 1
# A purpose clause, such as "so that it won't break", is not part of the presuppositions.
_PURPOSE = re.compile(r",? (?:so(?: that)?|in order) .*", re.IGNORECASE | re.DOTALL)
_WHY = re.compile(r"\bwhy\b", re.IGNORECASE)


def find_unmet(question: str, passage: str, title: str) -> tuple[str, ...]:
    """Return a message for each name, figure, negation and antonym of a question that a passage contradicts or lacks.

    Questions with an exchanged name, number or negation look answerable and are not (Rajpurkar, Jia and Liang,
    "Know what you don't know", ACL 2018). One-digit numbers and number words are ignored, because texts seldom
    repeat "two reasons" or "the first".

    Parameters
    ----------
    question : str
    passage : str
        The best sentence of the passage and its neighbours.
    title : str
        Document and heading of the passage.
    """
    question_text, passage_text, title_text = annotate(question), annotate(passage), annotate(title)
    return (
        *_find_missing_names(question_text, passage_text, title_text),
        *map(_describe_number, find_missing_figures(question_text, passage_text, _find_years(title))),
        *_find_negations(question, question_text, passage_text),
    )


def find_unknown(
    question: str,
    passage: str,
    title: str,
    document: str,
    contains: Callable[[str, str], bool],
    others: Collection[str] = (),
) -> dict[str, str]:
    """Return what of a question is unknown to the whole document of a passage.

    A passage need not repeat a name from elsewhere in its document, or the year of a report. But a document does
    not answer a question about a name that it never contains, or about a year far from that in its name or title.
    Names in capitals only, which are mostly abbreviations, and the first word, which may not be a name, are
    ignored. Only English questions are checked for names, since German capitalises all nouns.

    Parameters
    ----------
    question : str
    passage : str
    title : str
        Document and heading of the passage.
    document : str
        The document's name and title.
    contains : callable
        Arguments: word, prefix. Returns whether the document has the word or any word with the prefix.
    others : collection of str
        Names in lower case that the document may lack, such as those of other documents in the question.

    Returns
    -------
    dict of str to str
        Messages, each with the message that `find_unmet` returns for the same name or year.
    """
    question_text, passage_text, title_text = annotate(question), annotate(passage), annotate(title)
    messages = {}
    may_be = (
        {word.start for word in find_likely_names(question_text)} if question_text.folded & _ENGLISH_WORDS else set()
    )
    for name in _group_missing_names(question_text, passage_text, title_text):
        nowhere = [
            word
            for word in name
            if word.start in may_be
            and strip_possessive(word) not in others
            and not any(contains(*form) for form in _get_forms(word))
        ]
        if nowhere:
            written = POSSESSIVE.sub("", _get_text(question_text, nowhere))
            messages[f"“{written}” is nowhere in the document"] = _describe_name(_get_text(question_text, name))
    years = {first or last for first, last in _ASKED_YEAR.findall(question)} | {*find_fiscal_years(question)}
    # A year that only the document's name contains may be that of a scan.
    document_years = [year for year in _find_years(document) if contains(year, year)] if years else []
    apart = min((abs(int(year) - int(other)) for year in years for other in document_years), default=0)
    if apart > _MAX_YEARS_APART and not years & (_find_years(join_digit_groups(passage)) | _find_years(title)):
        for year in sorted(years):
            messages[f"the document covers {max(document_years)}, not {year}"] = _describe_number(year)
    return messages


def _find_negations(question: str, question_text: AnnotatedText, passage_text: AnnotatedText) -> Iterator[str]:
    """Yield a message for each negation or antonym that only the question or only the passage contains.

    A yes-no question presupposes neither, because "no" is an answer to it. Negations of a "why" question are
    ignored, because the reason is often affirmative: "it does up to 2 TB" answers "why won't it do more".
    """
    if is_yes_no_question(question):
        return
    apart = annotate(_PURPOSE.sub("", question))
    if not _WHY.search(question):
        yield from find_added_negations(apart, passage_text)
    yield from find_dropped_negations(apart, passage_text)
    yield from find_antonyms(question_text, passage_text)


def _find_missing_names(
    question_text: AnnotatedText, passage_text: AnnotatedText, title_text: AnnotatedText
) -> Iterator[str]:
    for name in _group_missing_names(question_text, passage_text, title_text):
        yield _describe_name(_get_text(question_text, name))


def _group_missing_names(
    question_text: AnnotatedText, passage_text: AnnotatedText, title_text: AnnotatedText
) -> list[list[Word]]:
    """Return the names that are missing; adjacent words, as in "Great Britain", are one name."""
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


def _get_forms(word: Word) -> Iterator[tuple[str, str]]:
    """Yield a name as written and as normalised, each with its prefix; the index handles apostrophes and accents."""
    for form in dict.fromkeys((POSSESSIVE.sub("", word.text), strip_possessive(word))):
        yield form, form[: max(MIN_NAME_CHARS, len(form) - _IGNORED_LETTERS)]


def _find_years(text: str) -> frozenset[str]:
    """Return the years in a text; those after 1999 are also found as ``FY22``."""
    return frozenset((*_YEAR.findall(text), *find_fiscal_years(text)))


def _describe_name(name: str) -> str:
    return f"the name “{name}” is missing"


def _describe_number(number: str) -> str:
    return f"the number {number} is missing"
