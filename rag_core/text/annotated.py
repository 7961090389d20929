"""A text with its words, numbers, values and names, for comparison with other texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from rag_core.text.dates import find_years
from rag_core.text.numbers import Number, parse_numbers
from rag_core.text.values import Value, find_values
from rag_core.text.words import Word, tokenize

_FIGURE = re.compile(r"\d{2,}")
_DIGIT_SEPARATOR = re.compile(r"(?<=\d)[,.](?=\d)")
# Matches the pronoun in "I've" and "I'm", which is capitalized but not a name.
_SPEAKER = re.compile(r"I['’]")


@dataclass(frozen=True)
class AnnotatedText:
    """A text whose words, numbers, values and names are parsed when they are first needed."""

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
        """The numbers in both readings of blanks between digits: of "94 000", the numbers 94000, 94 and 0."""
        return [*self.numbers, *parse_numbers(self.text, spaced=False)]

    @cached_property
    def values(self) -> list[Value]:
        return find_values(self.text)

    @cached_property
    def separate_values(self) -> list[Value]:
        """The values if blanks between digits separate columns, and not thousands."""
        return find_values(self.text, spaced=False)

    @cached_property
    def names(self) -> list[Word]:
        """The capitalized content words, except words of numbers.

        The first word of a sentence is included, although it is capitalized in any case.
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
        """Return whether a word is the first of its sentence, where it is capitalized even if it is not a name."""
        before = self.text[: word.start].rstrip(" \t\n\"'“‘(*-•")
        return not before or before[-1] in ".!?:\n"

    def find_number_at(self, word: Word) -> Number | None:
        """Return the number that contains a word; ``None`` if no number does."""
        return next((number for number in self.numbers if number.start <= word.start < number.end), None)

    def find_unit(self, number: Number) -> str:
        """Return the unit of a number: the stem of the content word that follows; empty if another word follows."""
        following = next((word for word in self.words if word.start >= number.end), None)
        if following is None or not following.content or not self.text[number.end : following.start].isspace():
            return ""
        return "" if following.text[0].isdigit() or following.text[0].isupper() else following.stem


def find_missing_figures(asked: AnnotatedText, said: AnnotatedText, known: Collection[str] = ()) -> Iterator[str]:
    """Yield the figures of a question that a text does not contain.

    A figure is a sequence of two or more digits. Commas and full stops between digits are ignored.

    Parameters
    ----------
    asked, said : AnnotatedText
        The question and the text.
    known : collection of str
        Years that are left out, also if the question writes them with two digits, as in "FY22".
    """
    digits, question = (_DIGIT_SEPARATOR.sub("", one.text) for one in (said, asked))
    known = {*known, *(year[2:] for year in find_years(asked.text) if year in known and year not in asked.text)}
    for match in _FIGURE.finditer(question):
        if match.group() not in digits and match.group() not in known:
            yield match.group()
