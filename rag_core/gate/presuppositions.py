"""What a question takes for granted: a passage that does not say so is about something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from rag_core.gate.yes_no_questions import is_polar
from rag_core.text.annotated import AnnotatedText
from rag_core.text.contradictions import added_negations, dropped_negations, find_antonyms
from rag_core.text.dates import MONTHS
from rag_core.text.figures import fiscal_years, join_digit_groups, missing_figures
from rag_core.text.names import (
    LEAST_NAME,
    POSSESSIVE,
    WRITTEN_WITH,
    annotate,
    likely_names,
    mentions_name,
    strip_possessive,
)
from rag_core.text.words import Word

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# Where a number is a year for sure: not in "2000 euros".
_ASKED_YEAR = re.compile(
    r"\b(?:in|since|during|until|by|before|after|year|fiscal|ended|ending|fy|"
    rf"(?:{'|'.join(MONTHS)})(?: \d{{1,2}},)?) ?"
    r"((?:19|20)\d\d)\b(?![.,]\d)|(?<![\d.,])((?:19|20)\d\d)\W*$",
    re.IGNORECASE,
)
# Capitals are no sign of a name where nouns have them, as in German; these words tell that a question is English.
_ENGLISH = frozenset(
    "and are at by did do does for from has have how is its of on or that the to what when where which who whose why "
    "with".split()
)
# A name is looked for in a whole document by its first letters: its last may be mistyped or inflected.
_ENDING = 3
# A report tells of the year before its own, too.
_YEARS_APART = 1
# What an asker is after, as in "so that it won't break", is no part of what is asked.
_PURPOSE = re.compile(r",? (?:so(?: that)?|in order) .*", re.IGNORECASE | re.DOTALL)
_WHY = re.compile(r"\bwhy\b", re.IGNORECASE)


def unmet(question: str, passage: str, title: str) -> tuple[str, ...]:
    """Names, figures, negations and opposites of a question that a passage does not bear out, in words.

    Questions of this kind look answerable and are not: their name, number or sense has been exchanged
    (Rajpurkar, Jia and Liang, "Know what you don't know", ACL 2018). Numbers of one digit and number
    words are passed over: "two reasons" and "the first" are seldom said so in the text.

    Parameters
    ----------
    question : str
    passage : str
        The sentence that fits best with those around it.
    title : str
        What the passage is about: its document and heading.
    """
    asked, said, about = annotate(question), annotate(passage), annotate(title)
    return (
        *_names(asked, said, about),
        *map(_no_number, missing_figures(asked, said, _years(title))),
        *_denials(question, asked, said),
    )


def strange(
    question: str,
    passage: str,
    title: str,
    document: str,
    held: Callable[[str, str], bool],
    others: Collection[str] = (),
) -> dict[str, str]:
    """What of a question is strange to the whole document of a passage, in words.

    A passage need not repeat a name that stands elsewhere in its document, nor the year that a report is of. But
    what a document never names it does not tell of; and what one of 2022 tells, by its name or title and its text, is
    not of 2009, unless it says so.
    Names in capitals alone, which are mostly abbreviations, are passed over, and so is the first word, which may be
    none. Only questions in English are read for names, since capitals are no sign of one in German.

    Parameters
    ----------
    question : str
    passage : str
    title : str
        What the passage is about: its document and heading.
    document : str
        The document's name and title.
    held : callable
        Whether the document has a word, or any that begins with the letters given second.
    others : collection of str
        Names, in small letters, that may be strange to it: of what it is compared with.

    Returns
    -------
    dict of str to str
        What to tell, and what `unmet` tells of the same.
    """
    asked, said, about = annotate(question), annotate(passage), annotate(title)
    found = {}
    may_be = {word.start for word in likely_names(asked)} if asked.folded & _ENGLISH else set()
    for name in _missing(asked, said, about):
        nowhere = [
            word
            for word in name
            if word.start in may_be
            and strip_possessive(word) not in others
            and not any(held(*form) for form in _forms(word))
        ]
        if nowhere:
            written = POSSESSIVE.sub("", _written(asked, nowhere))
            found[f"“{written}” is nowhere in the document"] = _no_name(_written(asked, name))
    years = {first or last for first, last in _ASKED_YEAR.findall(question)} | {*fiscal_years(question)}
    # A year of its name alone may be that of a scan.
    own = [year for year in _years(document) if held(year, year)] if years else []
    apart = min((abs(int(one) - int(other)) for one in years for other in own), default=0)
    if apart > _YEARS_APART and not years & (_years(join_digit_groups(passage)) | _years(title)):
        for year in sorted(years):
            found[f"the document is of {max(own)}, not of {year}"] = _no_number(year)
    return found


def _denials(question: str, asked: AnnotatedText, said: AnnotatedText) -> Iterator[str]:
    """Where one denies what the other says, or says the opposite.

    A question of yes or no takes neither for granted: "no" is an answer to it. The reason for which something is not
    so is told in other words: "why won't it do" by "it does up to 2 TB".
    """
    if is_polar(question):
        return
    apart = annotate(_PURPOSE.sub("", question))
    if not _WHY.search(question):
        yield from added_negations(apart, said)
    yield from dropped_negations(apart, said)
    yield from find_antonyms(asked, said)


def _names(asked: AnnotatedText, said: AnnotatedText, about: AnnotatedText) -> Iterator[str]:
    for name in _missing(asked, said, about):
        yield _no_name(_written(asked, name))


def _missing(asked: AnnotatedText, said: AnnotatedText, about: AnnotatedText) -> list[list[Word]]:
    """Names that do not stand there; words that follow one another, as in "Great Britain", are one name."""
    found: list[list[Word]] = []
    for word in asked.names:
        if asked.begins_sentence(word) or word.folded in WRITTEN_WITH or mentions_name(word, said, about):
            continue
        if found and not asked.text[found[-1][-1].end : word.start].strip():
            found[-1].append(word)
        else:
            found.append([word])
    return found


def _written(asked: AnnotatedText, name: Sequence[Word]) -> str:
    return asked.text[name[0].start : name[-1].end]


def _forms(word: Word) -> Iterator[tuple[str, str]]:
    """A name as it is written and as it is compared, each with how it begins.

    An apostrophe or accent is a matter of the index.
    """
    for form in dict.fromkeys((POSSESSIVE.sub("", word.text), strip_possessive(word))):
        yield form, form[: max(LEAST_NAME, len(form) - _ENDING)]


def _years(text: str) -> frozenset[str]:
    """The years in a text, those after 1999 also as ``FY22``."""
    return frozenset((*_YEAR.findall(text), *fiscal_years(text)))


def _no_name(name: str) -> str:
    return f"the name “{name}” is not there"


def _no_number(number: str) -> str:
    return f"the number {number} is not there"
