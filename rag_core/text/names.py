"""What a question names, and whether a text has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from rapidfuzz import fuzz

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import MONTHS
from rag_core.text.normalize import normalize
from rag_core.text.words import FUNCTION_WORDS, Word, stem

# Names are mistyped in questions, and formed otherwise: Celeron for Céloron, Britain for British.
LIKE_NAMES = 78.0
# What years, quarters and amounts are written with is no name.
WRITTEN_WITH = frozenset(("fy", "usd", "eur", "gbp"))
# How figures are asked for, and in what: no company is called so.
_ASKING = WRITTEN_WITH | frozenset(
    "a according annual answer assume calculate company compute decimal decimals determine dollar dollars end ended "
    "ending find fiscal give how is list million millions billion percent percentage please provide quarter report "
    "reported round show state tell the thousand thousands two use using what which year".split()
)
# Letters that a symbol has at least (CVS), or a name in small letters.
FEWEST_LETTERS = 3
# Letters that a name has at least: "Ann" stands in "Annual".
LEAST_NAME = 4
# What a text may say in other words, or in figures.
_SAID_OTHERWISE = frozenset(MONTHS) | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday african american asian british chinese danish dutch "
    "eastern english european french german greek indian irish italian japanese korean northern polish portuguese "
    "russian scottish southern spanish swedish swiss turkish welsh western celsius fahrenheit euro euros dollar pound "
    "pounds annex appendix article chapter clause exhibit figure item page paragraph part schedule section "
    "table".split()
)
# A question with so many words, of which more than this share have capitals, is written as a headline.
_LEAST_HEADLINE, _HEADLINE = 4, 0.7
_LETTERS = re.compile(r"[^\W\d_]+")
POSSESSIVE = re.compile(r"['’]s?$")
# A question is held against several passages, which often have one title.
annotate = lru_cache(maxsize=32)(AnnotatedText)


def document_name_terms(question: str) -> list[str]:
    """What a question names, in small letters, to be looked for in what documents are called.

    >>> document_name_terms("How much did Acme's Bridge Fund earn in FY2022?")
    ['acme', 'bridge', 'fund']
    """
    return _distinct(word for word in annotate(question).names if _is_long_enough(word))


def lowercase_name_terms(question: str) -> list[str]:
    """What a question without any capital may name: whatever it has words for; none of another.

    >>> lowercase_name_terms("acme's current ratio?")
    ['acme', 'current', 'ratio']
    """
    content = annotate(question).content if question == question.lower() else []
    return _distinct(word for word in content if len(strip_possessive(word)) >= FEWEST_LETTERS)


def _distinct(found: Iterable[Word]) -> list[str]:
    return list(dict.fromkeys(strip_possessive(word) for word in found if not is_asking(word)))


def _is_long_enough(word: Word) -> bool:
    """Three letters are enough for a symbol (CVS, JnJ), not for a name (Ann, as in "Annual")."""
    symbol = sum(letter.isupper() for letter in word.text) > 1
    return len(strip_possessive(word)) >= (FEWEST_LETTERS if symbol else LEAST_NAME)


def is_asking(word: Word) -> bool:
    """Whether a word only says what is asked for, or in what: a function word, a number, or one such as "percent"."""
    return word.folded in FUNCTION_WORDS or word.folded in _ASKING or word.text[0].isdigit()


def matched_names(question: str, passage: str, title: str) -> frozenset[str]:
    """The names of a question, in small letters, that a passage or its title has, perhaps in another form."""
    asked, said, about = annotate(question), annotate(passage), annotate(title)
    return frozenset(strip_possessive(word) for word in likely_names(asked) if mentions_name(word, said, about))


def mentions_name(word: Word, said: AnnotatedText, about: AnnotatedText) -> bool:
    """Whether a name stands in what is said or what it is about, perhaps in another form."""
    name, (there, together) = strip_possessive(word), _words_of(said, about)
    stems = said.stems | about.stems
    if name in there or word.stem in stems or stem(name) in stems or name in together:
        return True
    if any(fuzz.ratio(name, other) >= LIKE_NAMES for other in there):
        return True
    if any(_is_part(word, other.folded) for other in about.words):
        return True
    return word.text.isupper() and _initials(name, said)


def _is_part(word: Word, title: str) -> bool:
    """Whether a word of a title, in which files run names together (BESTBUY_2023), begins or ends with a name."""
    name = strip_possessive(word)
    begins = title.startswith(name) and _is_long_enough(word)
    return begins or (title.endswith(name) and len(name) >= FEWEST_LETTERS)


# Each name of a question is looked for in the same words.
@lru_cache(maxsize=32)
def _words_of(said: AnnotatedText, about: AnnotatedText) -> tuple[frozenset[str], str]:
    """The words of both, bare, and those that are said, run together."""
    there = frozenset(strip_possessive(word) for text in (said, about) for word in text.words)
    return there, "".join(word.folded for word in said.words)


def strip_possessive(word: Word) -> str:
    """A word in small letters, without the ending of a possessive."""
    return word.folded if word.folded.isalnum() else POSSESSIVE.sub("", word.folded)


def _initials(name: str, said: AnnotatedText) -> bool:
    return name in "".join(word.text[0] for word in said.words if word.text[0].isupper()).casefold()


def likely_names(asked: AnnotatedText) -> list[Word]:
    """What is likely to be a name; nothing where nearly all words have capitals, as in a headline."""
    names = [word for word in asked.names if not asked.begins_sentence(word)]
    if len(asked.content) >= _LEAST_HEADLINE and len(asked.names) > _HEADLINE * len(asked.content):
        return []
    return [
        word
        for word in names
        if len(strip_possessive(word)) >= LEAST_NAME
        and not word.text.isupper()
        and not is_asking(word)
        and strip_possessive(word) not in _SAID_OTHERWISE
    ]


def names_in_title(document: str, names: Sequence[str]) -> frozenset[str]:
    """Those of these names that the document is called by."""
    words = _LETTERS.findall(normalize(document))
    return frozenset(name for name in names if any(word.startswith(name) or word.endswith(name) for word in words))
