"""Extract names from questions, and find them in texts."""

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

# Minimum similarity, from 0 to 100, of two words that count as the same name. Questions misspell names ("Celeron" for
# "Céloron") and use related forms ("Britain" for "British").
MIN_NAME_RATIO = 78.0
# Abbreviations of periods and currencies, which are not names.
UNIT_ABBREVIATIONS = frozenset(("fy", "usd", "eur", "gbp"))
# Common words of questions about figures, which are no names of companies.
_ASKING = UNIT_ABBREVIATIONS | frozenset(
    "a according annual answer assume calculate company compute decimal decimals determine dollar dollars end ended "
    "ending find fiscal give how is list million millions billion percent percentage please provide quarter report "
    "reported round show state tell the thousand thousands two use using what which year".split()
)
# Minimum number of letters of a ticker symbol, such as CVS, or of a name in a lower-case question.
MIN_SYMBOL_CHARS = 3
# Minimum number of letters of other names. Many other words begin with a shorter name: "Ann" would match "Annual".
MIN_NAME_CHARS = 4
# Capitalized words that a text can express in other words or in figures, so that they are not compared as names.
_SAID_OTHERWISE = frozenset(MONTHS) | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday african american asian british chinese danish dutch "
    "eastern english european french german greek indian irish italian japanese korean northern polish portuguese "
    "russian scottish southern spanish swedish swiss turkish welsh western celsius fahrenheit euro euros dollar pound "
    "pounds annex appendix article chapter clause exhibit figure item page paragraph part schedule section "
    "table".split()
)
# A question is in title case if it has at least 4 content words, of which more than 70 % are capitalized.
_MIN_TITLE_CASE_WORDS, _TITLE_CASE_SHARE = 4, 0.7
POSSESSIVE = re.compile(r"['’]s?$")
# A position where a word begins without a separator, as in "AnnualReport" and "FY2023Boeing".
_WORD_START = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])|(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
# Cached, because a question is compared with several passages, which often have the same title.
annotate = lru_cache(maxsize=32)(AnnotatedText)


def find_document_names(question: str) -> list[str]:
    """Return the names in a question, in lower case, for comparison with document names.

    >>> find_document_names("How much did Acme's Bridge Fund earn in FY2022?")
    ['acme', 'bridge', 'fund']
    """
    return _list_distinct_names(word for word in annotate(question).names if _is_long_enough(word))


def find_lowercase_names(question: str) -> list[str]:
    """Return the content words of a question, because any of them may be a name; empty if the question has capitals.

    >>> find_lowercase_names("acme's current ratio?")
    ['acme', 'current', 'ratio']
    """
    content = annotate(question).content if question == question.lower() else []
    return _list_distinct_names(word for word in content if len(strip_possessive(word)) >= MIN_SYMBOL_CHARS)


def _list_distinct_names(found: Iterable[Word]) -> list[str]:
    return list(dict.fromkeys(strip_possessive(word) for word in found if not is_question_word(word)))


def _is_long_enough(word: Word) -> bool:
    """Return whether a name has enough letters: three for a symbol with several capitals (CVS, JnJ), else four."""
    is_symbol = sum(map(str.isupper, word.text)) > 1
    return len(strip_possessive(word)) >= (MIN_SYMBOL_CHARS if is_symbol else MIN_NAME_CHARS)


def is_question_word(word: Word) -> bool:
    """Return whether a word of a question cannot be a name: a function word, a number, or a word such as "percent"."""
    return word.folded in STOP_WORDS or word.folded in _ASKING or word.text[0].isdigit()


def list_name_words(question: str, start: int, end: int) -> list[Word]:
    """Return the words of a name, given its span in a question, without words that cannot be names."""
    return [one for one in annotate(question).words if start <= one.start < end and not is_question_word(one)]


def contains_name_form(word: Word, said: AnnotatedText, about: AnnotatedText) -> bool:
    """Return whether a passage (``said``) or its title (``about``) contains a name or another form of the name.

    Other forms are:

    - an inflected form, or a word that is similar (`MIN_NAME_RATIO`);
    - words of the passage that form the name without blanks;
    - a word of the title that begins or ends with the name;
    - for an acronym, words of the passage with its letters as initials.
    """
    name, (words, joined) = strip_possessive(word), _normalize_words(said, about)
    stems = said.stems | about.stems
    if name in words or word.stem in stems or stem(name) in stems or name in joined:
        return True
    if any(fuzz.ratio(name, other) >= MIN_NAME_RATIO for other in words):
        return True
    if any(_is_joined_name(word, other.folded) for other in about.words):
        return True
    return word.text.isupper() and _is_acronym_of(name, said)


def _is_joined_name(word: Word, title_word: str) -> bool:
    """Return whether a word of a title begins or ends with a name, because file names join words ("BESTBUY_2023")."""
    name = strip_possessive(word)
    begins = title_word.startswith(name) and _is_long_enough(word)
    return begins or (title_word.endswith(name) and len(name) >= MIN_SYMBOL_CHARS)


# Cached, because each name of a question is compared with the same words.
@lru_cache(maxsize=32)
def _normalize_words(said: AnnotatedText, about: AnnotatedText) -> tuple[frozenset[str], str]:
    """Return the words of both texts without possessive endings, and all words of ``said`` joined without blanks."""
    words = frozenset(strip_possessive(word) for text in (said, about) for word in text.words)
    return words, "".join(word.folded for word in said.words)


def strip_possessive(word: Word) -> str:
    """Return a word in lower case without its possessive ending."""
    return word.folded if word.folded.isalnum() else POSSESSIVE.sub("", word.folded)


def _is_acronym_of(name: str, said: AnnotatedText) -> bool:
    """Return whether an acronym consists of the initials of words in a text.

    The words are capitalized, or follow each other, such as "earnings per share" for "EPS".
    """
    initials = "".join(word.text[0] for word in said.words if word.text[0].isupper()).casefold()
    if name in initials or len(name) < MIN_SYMBOL_CHARS:
        return name in initials
    words = r"[\s-]+".join(rf"{re.escape(letter)}\w*" for letter in name)
    found = (re.split(r"[\s-]+", one[0].lower()) for one in re.finditer(rf"(?<!\w){words}", said.text, re.IGNORECASE))
    return any(one[0] not in STOP_WORDS and one[-1] not in STOP_WORDS for one in found)


def find_likely_names(asked: AnnotatedText) -> list[Word]:
    """Return the words of a question that are probably names; empty for a question in title case."""
    if len(asked.content) >= _MIN_TITLE_CASE_WORDS and len(asked.names) > _TITLE_CASE_SHARE * len(asked.content):
        return []
    return [
        word
        for word in asked.names
        if not asked.begins_sentence(word)
        and len(strip_possessive(word)) >= MIN_NAME_CHARS
        and not word.text.isupper()
        and not is_question_word(word)
        and strip_possessive(word) not in _SAID_OTHERWISE
    ]


def contains_document_name(title: str, name: str) -> bool:
    """Return whether the name or title of a document contains a name, in any case.

    It contains all words of the name, in any order; or it contains the name with any separators, from the beginning of
    a word: "oakstreet_lease" and "LeaseOakStreet" contain "Oak Street", but "royaloakstreet" does not.
    """
    words, joined, starts = _split_title(title)
    parts = ALPHANUMERIC.findall(normalize(name))
    wanted = "".join(parts)
    begins = len(wanted) >= MIN_SYMBOL_CHARS and any(joined.startswith(wanted, start) for start in starts)
    return bool(parts) and (begins or words.issuperset(parts))


@lru_cache(maxsize=1000)
def _split_title(title: str) -> tuple[frozenset[str], str, tuple[int, ...]]:
    """Return the words of a title, all its letters and digits joined, and the offsets at which words begin there."""
    pieces = ALPHANUMERIC.findall(normalize(_WORD_START.sub(" ", title)))
    return (
        frozenset(ALPHANUMERIC.findall(normalize(title))),
        "".join(pieces),
        tuple(accumulate(map(len, pieces), initial=0)),
    )
