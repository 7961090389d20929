"""A text with its words, numbers and names, for comparison with other texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from rag_core.text.dates import find_years
from rag_core.text.numbers import Number, parse_numbers
from rag_core.text.values import Value, find_values
from rag_core.text.words import Word, tokenize

_FIGURES, _DIGIT_SEPARATOR = re.compile(r"\d{2,}"), re.compile(r"(?<=\d)[,.](?=\d)")
# Matches the pronoun in "I've" and "I'm", which is capitalized but not a name.
_SPEAKER = re.compile(r"I['’]")


@dataclass(frozen=True)
class AnnotatedText:
    """A text with its words, numbers and names."""

    text: str

    @cached_property
    def words(self) -> list[Word]:
        return tokenize(self.text)

    @cached_property
    def content(self) -> list[Word]:
        return [word for word in self.words if word.content]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words)

    @cached_property
    def numbers(self) -> list[Number]:
        # Leave out the words "one" and "zero", because "one" is often a pronoun and not a number.
        return [number for number in parse_numbers(self.text) if number.text.casefold() not in ("one", "zero")]

    @cached_property
    def possible_numbers(self) -> list[Number]:
        """The numbers, and those that are read if blanks separate columns: "94 000" is 94000, and 94 and 000."""
        return [*self.numbers, *parse_numbers(self.text, spaced=False)]

    @cached_property
    def values(self) -> list[Value]:
        return find_values(self.text)

    @cached_property
    def separate_values(self) -> list[Value]:
        """The values if a blank separates columns, not thousands."""
        return find_values(self.text, spaced=False)

    @cached_property
    def names(self) -> list[Word]:
        """The capitalized content words that are not parts of numbers.

        The first word of a sentence is included, although its capital letter does not show that it is a name.
        """
        numeric = [(number.start, number.end) for number in self.numbers]
        return [
            word
            for word in self.content
            if word.text[0].isupper()
            and not _SPEAKER.match(word.text)
            and not any(start <= word.start < end for start, end in numeric)
        ]

    def begins_sentence(self, word: Word) -> bool:
        """Return whether a word is the first of its sentence; such a word is capitalized even if it is not a name."""
        before = self.text[: word.start].rstrip(" \t\n\"'“‘(*-•")
        return not before or before[-1] in ".!?:\n"

    def number_at(self, word: Word) -> Number | None:
        """Return the number that contains a word, or ``None``."""
        return next((number for number in self.numbers if number.start <= word.start < number.end), None)

    def unit(self, number: Number) -> str:
        """Return the unit of a number: the stem of the content word directly after it; empty if there is none."""
        following = next((word for word in self.words if word.start >= number.end), None)
        if following is None or not following.content or not self.text[number.end : following.start].isspace():
            return ""
        return "" if following.text[0].isdigit() or following.text[0].isupper() else following.stem


def find_missing_figures(asked: AnnotatedText, said: AnnotatedText, known: Collection[str] = ()) -> Iterator[str]:
    """Yield the figures of two or more digits in a question that a text lacks, except for years in ``known``."""
    digits, question = (_DIGIT_SEPARATOR.sub("", one.text) for one in (said, asked))
    known = {*known, *(year[2:] for year in find_years(asked.text) if year in known and year not in asked.text)}
    for match in _FIGURES.finditer(question):
        if match.group() not in digits and match.group() not in known:
            yield match.group()
