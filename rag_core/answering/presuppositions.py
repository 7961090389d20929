"""What a question takes for granted: a passage that does not say so is about something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rapidfuzz import fuzz

from rag_core.answering.facts import Reading, negation_differences, opposites
from rag_core.answering.wording import Word, stem

# Names are mistyped in questions, and formed otherwise: Celeron for Céloron, Britain for British.
LIKE_NAMES = 78.0
_POSSESSIVE = re.compile(r"['’]s?$")
_FIGURES = re.compile(r"\d{2,}")


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
        *_figures(asked, said),
        *negation_differences(asked, said),
        *opposites(asked, said),
    )


# A question is held against several passages, which often have one title.
_reading = lru_cache(maxsize=32)(Reading)


def _names(asked: Reading, said: Reading, about: Reading) -> Iterator[str]:
    there = {_bare(word) for reading in (said, about) for word in reading.words}
    together = "".join(word.folded for word in said.words)
    stems = said.stems | about.stems
    for word in asked.names:
        name = _bare(word)
        if asked.begins_sentence(word) or name in there or word.stem in stems or stem(name) in stems:
            continue
        if name in together or any(fuzz.ratio(name, other) >= LIKE_NAMES for other in there):
            continue
        if word.text.isupper() and _initials(name, said):
            continue
        yield f"the name “{word.text}” is not there"


def _bare(word: Word) -> str:
    return word.folded if word.folded.isalnum() else _POSSESSIVE.sub("", word.folded)


def _initials(name: str, said: Reading) -> bool:
    return name in "".join(word.text[0] for word in said.words if word.text[0].isupper()).casefold()


def _figures(asked: Reading, said: Reading) -> Iterator[str]:
    digits = re.sub(r"(?<=\d)[,.](?=\d)", "", said.text)
    for match in _FIGURES.finditer(re.sub(r"(?<=\d)[,.](?=\d)", "", asked.text)):
        if match.group() not in digits:
            yield f"the number {match.group()} is not there"
