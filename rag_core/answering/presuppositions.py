"""What a question takes for granted: a passage that does not say so is about something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache

from rapidfuzz import fuzz

from rag_core.answering.facts import Reading, negation_differences, opposites
from rag_core.answering.wording import FUNCTION_WORDS, Word, stem

# Names are mistyped in questions, and formed otherwise: Celeron for Céloron, Britain for British.
LIKE_NAMES = 78.0
_POSSESSIVE = re.compile(r"['’]s?$")
_FIGURES = re.compile(r"\d{2,}")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MONTHS = tuple("january february march april may june july august september october november december".split())
# Where a number is a year for sure: not in "2000 euros".
_ASKED_YEAR = re.compile(
    r"\b(?:in|since|during|until|by|before|after|year|fiscal|ended|ending|fy|"
    rf"(?:{'|'.join(_MONTHS)})(?: \d{{1,2}},)?) ?"
    r"((?:19|20)\d\d)\b(?![.,]\d)|(?<![\d.,])((?:19|20)\d\d)\W*$",
    re.IGNORECASE,
)
_FISCAL = re.compile(r"\b(?:FY|fiscal(?: year)?) ?['’]?(\d\d)(?!\d)", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[\W\d_]+")
# What years, quarters and amounts are written with is no name.
_WRITTEN_WITH = frozenset(("fy", "usd", "eur", "gbp"))
# How figures are asked for, and in what: no company is called so.
_ASKING = _WRITTEN_WITH | frozenset(
    "a according annual answer assume calculate company compute decimal decimals determine dollar dollars end ended "
    "ending find fiscal give how is list million millions billion percent percentage please provide quarter report "
    "reported round show state tell the thousand thousands two use using what which year".split()
)
_FEWEST_LETTERS = 3
# Capitals are no sign of a name where nouns have them, as in German; these words tell that a question is English.
_ENGLISH = frozenset(
    "and are at by did do does for from has have how is its of on or that the to what when where which who whose why "
    "with".split()
)
# What a text may say in other words, or in figures.
_SAID_OTHERWISE = frozenset(_MONTHS) | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday african american asian british chinese danish dutch "
    "eastern english european french german greek indian irish italian japanese korean northern polish portuguese "
    "russian scottish southern spanish swedish swiss turkish welsh western celsius fahrenheit euro euros dollar pound "
    "pounds annex appendix article chapter clause exhibit figure item page paragraph part schedule section "
    "table".split()
)
# A question with so many words, of which more than this share have capitals, is written as a headline.
_LEAST_HEADLINE, _HEADLINE = 4, 0.7
# A name is looked for in a whole document by its first letters: its last may be mistyped or inflected.
_LEAST_BEGINNING, _ENDING = 4, 3
# A report tells of the year before its own, too.
_YEARS_APART = 1
# A year's figures are no quarter's.
_QUARTER = re.compile(r"\bq[1-4]\b|\b(?:quarter|three months|13 weeks)", re.IGNORECASE)


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
    asked, said, about = _reading(question), _reading(passage), _reading(title)
    return (
        *_names(asked, said, about),
        *_figures(asked, said, _years(title)),
        *negation_differences(asked, said),
        *opposites(asked, said),
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
    asked, said, about = _reading(question), _reading(passage), _reading(title)
    found = {}
    for word in _subjects(asked) if asked.folded & _ENGLISH else ():
        name, written = _bare(word), _POSSESSIVE.sub("", word.text)
        # As it is written and as it is compared: an apostrophe or accent is a matter of the index.
        forms = dict.fromkeys((written, name))
        if (
            name not in others
            and not _stands(word, said, about)
            and not any(held(one, _beginning(one)) for one in forms)
        ):
            found[f"“{written}” is nowhere in the document"] = _no_name(word.text)
    years = {first or last for first, last in _ASKED_YEAR.findall(question)} | {*_fiscal(question)}
    # A year of its name alone may be that of a scan.
    own = [year for year in _years(document) if held(year, year)] if years else []
    apart = min((abs(int(one) - int(other)) for one in years for other in own), default=0)
    if apart > _YEARS_APART and not years & (_years(_without_separators(passage)) | _years(title)):
        for year in sorted(years):
            found[f"the document is of {max(own)}, not of {year}"] = _no_number(year)
    return found


def borne_out(question: str, passage: str, title: str) -> frozenset[str]:
    """The names of a question, in small letters, that a passage or its title has, perhaps in another form."""
    asked, said, about = _reading(question), _reading(passage), _reading(title)
    return frozenset(_bare(word) for word in _subjects(asked) if _stands(word, said, about))


def is_foreign(question: str, passage: str, title: str, document: str | None) -> bool:
    """Whether figures are, or may be, of another company or time than a question asks for.

    One balance sheet looks like another: what an ordinary sentence may leave open has to be said here.
    Each name and figure of the question must stand in the passage or its title, and one of its words in
    the document's name or title.

    Parameters
    ----------
    question : str
        Without the measures that it asks for.
    passage, title : str
    document : str or None
        Its name and title; ``None`` where it is the only one asked of.
    """
    asked, said, about = _reading(question), _reading(passage), _reading(title)
    # A document's name often runs words together: AMERICANEXPRESS_2022.pdf.
    named = _letters(title)
    # The first word too: what begins a question otherwise is known.
    names = [word for word in asked.names if not _asks(word)]
    if any(_bare(word) not in named and not _stands(word, said, about) for word in names):
        return True
    whole = _reading(f"{title} {passage}")
    if any(_figures(asked, whole)) or (_QUARTER.search(question) and not _QUARTER.search(whole.text)):
        return True
    own = [_bare(word) for word in asked.words if not _asks(word)]
    return document is not None and not any(len(word) >= _FEWEST_LETTERS and word in _letters(document) for word in own)


def named(question: str) -> list[str]:
    """What a question names, in small letters, to be looked for in what documents are called.

    >>> named("How much did Acme's Bridge Fund earn in FY2022?")
    ['acme', 'bridge', 'fund']
    """
    return _distinct(word for word in _reading(question).names if _is_long_enough(word))


def uncapitalised(question: str) -> list[str]:
    """What a question without any capital may name: whatever it has words for; none of another.

    >>> uncapitalised("acme's current ratio?")
    ['acme', 'current', 'ratio']
    """
    content = _reading(question).content if question == question.lower() else []
    return _distinct(word for word in content if len(_bare(word)) >= _FEWEST_LETTERS)


def _distinct(found: Iterable[Word]) -> list[str]:
    return list(dict.fromkeys(_bare(word) for word in found if not _asks(word)))


def _is_long_enough(word: Word) -> bool:
    """Three letters are enough for a symbol (CVS, JnJ), not for a name (Ann, as in "Annual")."""
    symbol = sum(letter.isupper() for letter in word.text) > 1
    return len(_bare(word)) >= (_FEWEST_LETTERS if symbol else _LEAST_BEGINNING)


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text.casefold())


def _asks(word: Word) -> bool:
    return word.folded in FUNCTION_WORDS or word.folded in _ASKING or word.text[0].isdigit()


# A question is held against several passages, which often have one title.
_reading = lru_cache(maxsize=32)(Reading)


def _names(asked: Reading, said: Reading, about: Reading) -> Iterator[str]:
    for word in asked.names:
        if not asked.begins_sentence(word) and word.folded not in _WRITTEN_WITH and not _stands(word, said, about):
            yield _no_name(word.text)


def _stands(word: Word, said: Reading, about: Reading) -> bool:
    """Whether a name stands in what is said or what it is about, perhaps in another form."""
    name, (there, together) = _bare(word), _words_of(said, about)
    stems = said.stems | about.stems
    if name in there or word.stem in stems or stem(name) in stems or name in together:
        return True
    if any(fuzz.ratio(name, other) >= LIKE_NAMES for other in there):
        return True
    return word.text.isupper() and _initials(name, said)


# Each name of a question is looked for in the same words.
@lru_cache(maxsize=32)
def _words_of(said: Reading, about: Reading) -> tuple[frozenset[str], str]:
    """The words of both, bare, and those that are said, run together."""
    there = frozenset(_bare(word) for reading in (said, about) for word in reading.words)
    return there, "".join(word.folded for word in said.words)


def _bare(word: Word) -> str:
    return word.folded if word.folded.isalnum() else _POSSESSIVE.sub("", word.folded)


def _initials(name: str, said: Reading) -> bool:
    return name in "".join(word.text[0] for word in said.words if word.text[0].isupper()).casefold()


def _subjects(asked: Reading) -> list[Word]:
    """What is likely to be a name; nothing where nearly all words have capitals, as in a headline."""
    names = [word for word in asked.names if not asked.begins_sentence(word)]
    if len(asked.content) >= _LEAST_HEADLINE and len(asked.names) > _HEADLINE * len(asked.content):
        return []
    return [
        word
        for word in names
        if len(_bare(word)) >= _LEAST_BEGINNING
        and not word.text.isupper()
        and not _asks(word)
        and _bare(word) not in _SAID_OTHERWISE
    ]


def _beginning(name: str) -> str:
    return name[: max(_LEAST_BEGINNING, len(name) - _ENDING)]


def _years(text: str) -> frozenset[str]:
    """The years in a text, those after 1999 also as ``FY22``."""
    return frozenset((*_YEAR.findall(text), *_fiscal(text)))


def _fiscal(text: str) -> list[str]:
    return [f"20{year}" for year in _FISCAL.findall(text)]


def _without_separators(text: str) -> str:
    return re.sub(r"(?<=\d)[,.](?=\d)", "", text)


def _figures(asked: Reading, said: Reading, known: Collection[str] = ()) -> Iterator[str]:
    """Figures that are not said; a year that is ``known`` need not be."""
    digits = _without_separators(said.text)
    known = {*known, *(year[2:] for year in _fiscal(asked.text) if year in known)}
    for match in _FIGURES.finditer(_without_separators(asked.text)):
        if match.group() not in digits and match.group() not in known:
            yield _no_number(match.group())


def _no_name(name: str) -> str:
    return f"the name “{name}” is not there"


def _no_number(number: str) -> str:
    return f"the number {number} is not there"
