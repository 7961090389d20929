"""What may not differ between a statement and its source: numbers, names, negations, opposites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rag_core.text.languages import COMMON, DENIALS, INTERJECTION, NEGATIONS, NO_LONGER, OPPOSITES, unelided
from rag_core.text.numbers import Number, equal, numbers, table_scales
from rag_core.text.words import PRONOUNS, Word, words

# "I've", "I'm": the pronoun, whatever its verb is cut to.
_SPEAKER = re.compile(r"I['’]")
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")
_NO_NEGATION = re.compile(r"not\s+only\b|no\s+(?:fewer|less|more|later|sooner)\s+than\b|no\.?\s*\d", re.I)
# Endings by which the name of a place, a people and its language differ.
_NAME_ENDINGS = frozenset("s es n an ian ean ese ish i y ern er ers".split())
_SCOPE_WITHIN = 5
_CLAUSE_END = re.compile(r"[;:.!?]")


@dataclass(frozen=True)
class Reading:
    """A text with what is compared of it; ``language`` is one of `languages`, or empty for English or not known."""

    text: str
    language: str = ""

    @cached_property
    def words(self) -> list[Word]:
        return unelided(words(self.text), self.language)

    @cached_property
    def content(self) -> list[Word]:
        return [word for word in self.words if word.content and not self._denies(word)]

    def _denies(self, word: Word) -> bool:
        listed = word.folded in NEGATIONS[""] or word.folded in NEGATIONS[self.language]
        return listed or (self.language == "fr" and NO_LONGER.search(self.text, 0, word.end) is not None)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words)

    @cached_property
    def folded(self) -> frozenset[str]:
        return frozenset(word.folded for word in self.words)

    @cached_property
    def numbers(self) -> list[Number]:
        # "One" is a pronoun as often as a number.
        return [number for number in numbers(self.text) if number.text.casefold() not in ("one", "zero")]

    @cached_property
    def columns(self) -> list[Number]:
        """The numbers that "94 000" would be in a table, where a blank parts columns and not thousands."""
        return numbers(self.text, spaced=False)

    @cached_property
    def keys(self) -> list[str]:
        """The words as they are aligned: stems, and numbers by value."""
        figures = [self.number_at(word) for word in self.words]
        return [
            f"{min(figure.values):f}{figure.kind}" if figure else word.stem
            for word, figure in zip(self.words, figures, strict=True)
        ]

    @cached_property
    def names(self) -> list[Word]:
        """Capitalised words; whether the first of a sentence is one cannot be told from it alone."""
        numeric = [(number.start, number.end) for number in self.numbers]
        return [
            word
            for word in self.content
            if word.text[0].isupper()
            and not _SPEAKER.match(word.text)
            and not any(start <= word.start < end for start, end in numeric)
        ]

    def begins_sentence(self, word: Word) -> bool:
        """Whether a word is capitalised for where it stands."""
        before = self.text[: word.start].rstrip(" \t\n\"'“‘(*-•")
        return not before or before[-1] in ".!?:\n"

    @cached_property
    def negations(self) -> list[tuple[str, frozenset[str]]]:
        """Each negation with the stems of the next content words in its clause, which it denies."""
        return [(self.words[position].text, self._scope(position)) for position in self._negating]

    @cached_property
    def denied(self) -> list[tuple[str, list[str]]]:
        """Each negation with the stems of all content words that it reaches, in order; none in French."""
        found = [] if self.language == "fr" else self._negating
        return [(self.words[position].text, self._behind(position)) for position in found]

    @cached_property
    def _negating(self) -> list[int]:
        return [
            position
            for position, word in enumerate(self.words)
            if self._denies(word) and not _NO_NEGATION.match(self.text, word.start) and not self._exclaims(word)
        ]

    def _exclaims(self, word: Word) -> bool:
        """Whether a word answers what was asked before, as the "No" of "No, it ends in May" does."""
        return self.begins_sentence(word) and INTERJECTION.match(self.text, word.start) is not None

    @cached_property
    def denials(self) -> list[frozenset[str]]:
        """What words such as "refused" deny, as in `negations`."""
        denials = DENIALS[""] | DENIALS[self.language]
        return [self._scope(position) for position, word in enumerate(self.words) if word.stem in denials]

    def _behind(self, position: int) -> list[str]:
        word, following = self.words[position], []
        for other in self.words[position + 1 : position + 1 + _SCOPE_WITHIN]:
            if _CLAUSE_END.search(self.text, word.end, other.start):
                break
            if self._tells(other) and not other.folded.endswith("ly"):
                following.append(other.stem)
        return following

    def _scope(self, position: int) -> frozenset[str]:
        if self.language == "fr" and position and self._tells(self.words[position - 1]):
            # "n'exporte pas": the verb is denied, whatever follows.
            return frozenset([self.words[position - 1].stem])
        following = self._behind(position)
        before = [other.stem for other in self.words[max(0, position - 3) : position] if self._tells(other)]
        return frozenset([*following, *before[::-1]][:2])

    def _tells(self, word: Word) -> bool:
        return word.content and word.folded not in COMMON.get(self.language, ())

    def number_at(self, word: Word) -> Number | None:
        """The number that a word is, or is a part of."""
        return next((number for number in self.numbers if number.start <= word.start < number.end), None)

    def unit(self, number: Number) -> str:
        """The stem of the content word right behind a number, which is what it counts; else empty."""
        following = next((word for word in self.words if word.start >= number.end), None)
        if following is None or not following.content or not self.text[number.end : following.start].isspace():
            return ""
        return "" if following.text[0].isdigit() or following.text[0].isupper() else following.stem


def differences(statement: Reading, source: Reading, around: Reading, context: Reading, title: Reading) -> list[str]:
    """What but numbers a statement says otherwise than its source does, in words for the reader; empty when nothing.

    Parameters
    ----------
    statement : Reading
    source : Reading
        The sentences that the statement is held against.
    around : Reading
        The same, with what heads them where they are rows of a table.
    context : Reading
        What stands before them: there a pronoun of the source finds its name.
    title : Reading
        What the passage is about: a name in it need not be repeated in every sentence.
    """
    return [
        *_names(statement, around, context, title),
        *own_negations(statement, source),
        *source_negations(statement, source),
        *_half_denied(statement, source),
        *_otherwise_denied(statement, source),
        *opposites(statement, source),
    ]


def miscounted(statement: Reading, source: Reading, around: str, scales: frozenset[int] = frozenset()) -> Iterator[str]:
    """Where the numbers of a statement are not those of its source, or count something else, in words for the reader.

    A table's scale is looked for in the source and ``around`` it, and may be among ``scales``.
    """
    scales |= table_scales(around) | table_scales(source.text)
    there = [*source.numbers, *source.columns]
    for number in statement.numbers:
        same = [one for one in there if equal(number, one, scales)]
        if not same:
            yield f"the number {number.text} is not there"
            continue
        unit = statement.unit(number)
        others = {source.unit(one) for one in there if one not in same}
        if unit and unit in others and unit not in {source.unit(one) for one in same}:
            yield f"the number {number.text} counts something else there"


def _names(statement: Reading, source: Reading, context: Reading, title: Reading) -> Iterator[str]:
    refers = bool(source.folded & PRONOUNS)
    for word in statement.names:
        # "FY22": the fiscal year.
        if word.folded == "fy":
            continue
        if holds_name(source, word) or holds_name(title, word) or (refers and holds_name(context, word)):
            continue
        if not statement.begins_sentence(word):
            yield f"the name “{word.text}” is not there"


def holds_name(reading: Reading, name: Word) -> bool:
    """Whether a name stands in a text, in a like form, or by its initials."""
    return any(_same_name(name.folded, one.folded) for one in reading.words) or spelled_out(name, reading)


def _same_name(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if shorter == longer:
        return True
    return len(shorter) > 3 and longer.startswith(shorter) and longer[len(shorter) :] in _NAME_ENDINGS


def spelled_out(word: Word, source: Reading) -> bool:
    """Whether the words that an acronym stands for are in the source, in small letters where it has three or more."""
    if not (word.text.isupper() and len(word.text) > 1):
        return False
    initials = "".join(one.text[0] for one in source.words)
    capitals = "".join(initial for initial in initials if initial.isupper())
    return word.folded in capitals.casefold() or (len(word.text) > 2 and word.folded in initials.casefold())


def own_negations(statement: Reading, source: Reading) -> Iterator[str]:
    """Where a statement denies what its source says, in words for the reader."""
    for word, scope in statement.negations:
        prefixed = any(
            other.startswith(prefix + one) for prefix in _PREFIXES for one in scope for other in source.folded
        )
        if not prefixed and not _met(scope, source):
            yield f"the source does not say “{word}”"


def source_negations(statement: Reading, source: Reading) -> Iterator[str]:
    """Where a source denies what the statement says, in words for the reader."""
    for word, scope in source.negations:
        if scope and scope <= statement.stems and not _met(scope, statement):
            yield f"the source says “{word}”"


def _half_denied(statement: Reading, source: Reading) -> Iterator[str]:
    """Where a source denies what a statement says with fewer words: "covers water", of "not cover damage by water"."""
    for word, reached in source.denied:
        head, rest = frozenset(reached[:1]), statement.stems & frozenset(reached[1:])
        if head <= statement.stems and rest and not _met(head | rest, statement):
            yield f"the source says “{word}”"


def _otherwise_denied(statement: Reading, source: Reading) -> Iterator[str]:
    """Where both deny the same of different things: "not cover damage by fire", and by water."""
    for (word, reached), (_, scope) in zip(statement.denied, statement.negations, strict=False):
        for _, there in source.denied:
            own = {*reached, *scope} - source.stems
            if reached[:1] == there[:1] and own and set(there) - statement.stems:
                yield f"the source says “{word}” of something else"


def _met(scope: frozenset[str], other: Reading) -> bool:
    """Whether the other text denies the same too."""
    denied = [there for _, there in other.negations]
    # "Not forbidden" is no denial, and "forbidden" does not say the same.
    if not scope & (DENIALS[""] | DENIALS[other.language]):
        denied += other.denials
    return any(scope & there or scope == there for there in denied)


def opposites(statement: Reading, source: Reading) -> Iterator[str]:
    """Where one has a word and the other its opposite, in words for the reader."""
    # What is not allowed is forbidden.
    denied, denied_there = (
        frozenset[str]().union(*(scope for _, scope in reading.negations)) for reading in (statement, source)
    )
    for pair in dict.fromkeys((*OPPOSITES[""], *OPPOSITES[source.language])):
        for one, other in (pair, pair[::-1]):
            if (
                statement.stems & one
                and not source.stems & one
                and source.stems & other
                and not statement.stems & other
                and bool(statement.stems & one & denied) == bool(source.stems & other & denied_there)
            ):
                said = next(word.text for word in statement.words if word.stem in one)
                yield f"the source says the opposite of “{said}”"
