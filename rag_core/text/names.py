"""Extraction of the names in a question, and search for them in texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate

from rapidfuzz import fuzz

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import MONTHS
from rag_core.text.normalize import normalize
from rag_core.text.words import ALPHANUMERIC, STOP_WORDS, Word, stem

# Least fuzzy ratio at which two words count as the same name. Questions misspell names ("Celeron" for "Céloron") and
# use related forms ("Britain" for "British").
MIN_NAME_RATIO = 78.0
# Abbreviations of periods and currencies, which are not names.
UNIT_ABBREVIATIONS = frozenset(("fy", "usd", "eur", "gbp"))
# Words that are common in questions about figures and are not company names.
_ASKING = UNIT_ABBREVIATIONS | frozenset(
    "a according annual answer assume calculate company compute decimal decimals determine dollar dollars end ended "
    "ending find fiscal give how is list million millions billion percent percentage please provide quarter report "
    "reported round show state tell the thousand thousands two use using what which year".split()
)
# Least number of letters of a ticker symbol, such as CVS, or of a name in a lower-case question.
MIN_SYMBOL_CHARS = 3
# Least number of letters of other names. A shorter name often begins another word: "Ann" would match "Annual".
MIN_NAME_CHARS = 4
# Words that are not treated as names, because a text may express them in other words or in figures.
_SAID_OTHERWISE = frozenset(MONTHS) | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday african american asian british chinese danish dutch "
    "eastern english european french german greek indian irish italian japanese korean northern polish portuguese "
    "russian scottish southern spanish swedish swiss turkish welsh western celsius fahrenheit euro euros dollar pound "
    "pounds annex appendix article chapter clause exhibit figure item page paragraph part schedule section "
    "table".split()
)
# A question is in title case if it has at least ``_LEAST_HEADLINE`` content words and more than the share ``_HEADLINE``
# of them is capitalized.
_LEAST_HEADLINE, _HEADLINE = 4, 0.7
POSSESSIVE = re.compile(r"['’]s?$")
# Where a word begins without a separator, as in "AnnualReport" and "FY2023Boeing".
_WORD_START = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])|(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
# Cached, because a question is compared with several passages, and these often have the same title.
annotate = lru_cache(maxsize=32)(AnnotatedText)


def find_document_names(question: str) -> list[str]:
    """Return the names in a question, in lower case, for comparison with document names.

    >>> find_document_names("How much did Acme's Bridge Fund earn in FY2022?")
    ['acme', 'bridge', 'fund']
    """
    return _distinct(word for word in annotate(question).names if _is_long_enough(word))


def find_lowercase_names(question: str) -> list[str]:
    """Return the content words of a question written in lower case, as possible names; empty for other questions.

    >>> find_lowercase_names("acme's current ratio?")
    ['acme', 'current', 'ratio']
    """
    content = annotate(question).content if question == question.lower() else []
    return _distinct(word for word in content if len(strip_possessive(word)) >= MIN_SYMBOL_CHARS)


def _distinct(found: Iterable[Word]) -> list[str]:
    return list(dict.fromkeys(strip_possessive(word) for word in found if not is_question_word(word)))


def _is_long_enough(word: Word) -> bool:
    """Return whether a name has enough letters: three for a symbol with several capitals (CVS, JnJ), else four."""
    symbol = sum(letter.isupper() for letter in word.text) > 1
    return len(strip_possessive(word)) >= (MIN_SYMBOL_CHARS if symbol else MIN_NAME_CHARS)


def is_question_word(word: Word) -> bool:
    """Return whether a word only phrases the question: a function word, a number, or a word such as "percent"."""
    return word.folded in STOP_WORDS or word.folded in _ASKING or word.text[0].isdigit()


def list_name_words(question: str, start: int, end: int) -> list[Word]:
    """Return the words of a name in a question, given its span, except words that only phrase the question."""
    return [one for one in annotate(question).words if start <= one.start < end and not is_question_word(one)]


def contains_name_form(word: Word, said: AnnotatedText, about: AnnotatedText) -> bool:
    """Return whether a passage (``said``) or its title (``about``) contains any form of a name."""
    name, (there, together) = strip_possessive(word), _words_of(said, about)
    stems = said.stems | about.stems
    if name in there or word.stem in stems or stem(name) in stems or name in together:
        return True
    if any(fuzz.ratio(name, other) >= MIN_NAME_RATIO for other in there):
        return True
    if any(_is_part(word, other.folded) for other in about.words):
        return True
    return word.text.isupper() and _is_acronym_of(name, said)


def _is_part(word: Word, title: str) -> bool:
    """Return whether a title word begins or ends with a name, since file names join words, as in "BESTBUY_2023"."""
    name = strip_possessive(word)
    begins = title.startswith(name) and _is_long_enough(word)
    return begins or (title.endswith(name) and len(name) >= MIN_SYMBOL_CHARS)


# Cached, because each name of a question is compared with the same words.
@lru_cache(maxsize=32)
def _words_of(said: AnnotatedText, about: AnnotatedText) -> tuple[frozenset[str], str]:
    """Return the words of both texts without possessive endings, and all words of ``said`` joined without blanks."""
    there = frozenset(strip_possessive(word) for text in (said, about) for word in text.words)
    return there, "".join(word.folded for word in said.words)


def strip_possessive(word: Word) -> str:
    """Return a word in lower case without its possessive ending."""
    return word.folded if word.folded.isalnum() else POSSESSIVE.sub("", word.folded)


def _is_acronym_of(name: str, said: AnnotatedText) -> bool:
    """Return whether a text has capital initials with these letters, or words in a row, as in "earnings per share"."""
    initials = "".join(word.text[0] for word in said.words if word.text[0].isupper()).casefold()
    if name in initials or len(name) < MIN_SYMBOL_CHARS:
        return name in initials
    row = r"[\s-]+".join(rf"{re.escape(letter)}\w*" for letter in name)
    found = (re.split(r"[\s-]+", one[0].lower()) for one in re.finditer(rf"(?<!\w){row}", said.text, re.IGNORECASE))
    return any(words[0] not in STOP_WORDS and words[-1] not in STOP_WORDS for words in found)


def find_likely_names(asked: AnnotatedText) -> list[Word]:
    """Return the words of a question that are probably names; empty for a question in title case."""
    names = [word for word in asked.names if not asked.begins_sentence(word)]
    if len(asked.content) >= _LEAST_HEADLINE and len(asked.names) > _HEADLINE * len(asked.content):
        return []
    return [
        word
        for word in names
        if len(strip_possessive(word)) >= MIN_NAME_CHARS
        and not word.text.isupper()
        and not is_question_word(word)
        and strip_possessive(word) not in _SAID_OTHERWISE
    ]


def contains_document_name(title: str, name: str) -> bool:
    """Return whether the name or title of a document contains a name, in any case and with any separators.

    The name begins at a word of the title: "oakstreet_lease" and "LeaseOakStreet" contain "Oak Street", but
    "royaloakstreet" does not.
    """
    words, joined, starts = _split_title(title)
    parts = ALPHANUMERIC.findall(normalize(name))
    wanted = "".join(parts)
    begins = len(wanted) >= MIN_SYMBOL_CHARS and any(joined.startswith(wanted, at) for at in starts)
    return bool(parts) and (begins or words.issuperset(parts))


@lru_cache(maxsize=1000)
def _split_title(title: str) -> tuple[frozenset[str], str, tuple[int, ...]]:
    """Return the words of a title, all its letters and digits, and where words begin in these."""
    pieces = ALPHANUMERIC.findall(normalize(_WORD_START.sub(" ", title)))
    return (
        frozenset(ALPHANUMERIC.findall(normalize(title))),
        "".join(pieces),
        tuple(accumulate(map(len, pieces), initial=0)),
    )
