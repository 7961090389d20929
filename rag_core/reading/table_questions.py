"""Parse questions over the rows of a table: the largest, a count, a list, a difference, the largest change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from rag_core.text.adjectives import ADJECTIVES, MEASURES, TIMES, inflect
from rag_core.text.dates import Period, find_periods
from rag_core.text.numbers import Number, parse_numbers
from rag_core.text.words import STOP_WORDS, Word, find_lemma, tokenize


class Operation(Enum):
    """What a question asks for: a row, a number of rows, some rows, or the difference of two cells."""

    GREATEST = "greatest"
    LEAST = "least"
    COUNT = "count"
    LIST = "list"
    DIFFERENCE = "difference"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition such as "more than 10 kg".

    ``relation`` is one of ``>``, ``<``, ``>=`` and ``<=``. ``unit`` is the word after the number.
    """

    relation: str
    number: Number
    unit: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """A question over the rows of a table.

    Attributes
    ----------
    text : str
    operation : Operation
    nouns : tuple of Word
        The words that may name what the rows are, such as "region" in "Which region …"; empty for "who".
    words : tuple of Word
        The other content words, which the table has to explain.
    adjective : str
        The adjective of a superlative or comparative that names what is compared, such as "heavy"; it may be empty.
    direction : int
        1 for a rise, -1 for a fall, 0 for a change of either kind.
    condition : Condition or None
    is_value : bool
        Whether the question may ask for the largest value itself, as in "What is the highest price?".
    is_yes_no : bool
    compared_at : int
        Offset of the superlative or of the condition; -1 if there is none.
    after_most : Word or None
        The word directly after "most" or "least", which may be an adjective.
    periods : tuple of Period
        The years, parts of years and dates that the question names, in order.
    """

    text: str
    operation: Operation
    nouns: tuple[Word, ...]
    words: tuple[Word, ...]
    adjective: str = ""
    direction: int = 0
    condition: Condition | None = None
    is_value: bool = False
    is_yes_no: bool = False
    compared_at: int = -1
    after_most: Word | None = None
    periods: tuple[Period, ...] = ()

    @property
    def verb(self) -> Word | None:
        """The verb before what is compared, as in "Which models weigh less than 10 kg?" or "sold the most cars"."""
        last = next((word for word in reversed(self.words) if word.end <= self.compared_at), None)
        if last is None or self.text[last.end : self.compared_at].strip() not in ("", "the"):
            return None
        if self.condition is None:
            return last
        # Only a plural noun has a verb without "s"; "had profits over 10" has a measure before the comparison.
        is_verb = last in self.nouns[1:] and _is_plural(self.nouns[0]) and not _is_plural(last)
        return last if is_verb else None

    @property
    def compares_rows(self) -> bool:
        """Whether one row alone cannot answer the question."""
        return self.condition is not None or self.operation not in (Operation.COUNT, Operation.LIST)

    @property
    def is_superlative(self) -> bool:
        return self.operation in (Operation.GREATEST, Operation.LEAST)

    @property
    def is_plural_list(self) -> bool:
        """Whether the question asks for all rows that fit, as in "Which actions are due in June?"."""
        return self.operation is Operation.LIST and self.condition is None


def _inflect_all(direction: int, ending: str) -> dict[str, str]:
    """Return the comparatives or superlatives of one direction, with the adjective of their measure.

    The adjective is empty if it names no measure.
    """
    return {
        inflect(word, ending): one.measured_as if one.measured_as in MEASURES else ""
        for word, one in ADJECTIVES.items()
        if one.direction == direction and word not in TIMES
    }


_GREATEST = dict.fromkeys("most maximum best top".split(), "") | _inflect_all(1, "est")
_LEAST = dict.fromkeys("least fewest minimum worst".split(), "") | _inflect_all(-1, "est")
_MORE, _LESS = {"more": "", **_inflect_all(1, "er")}, {"less": "", "fewer": "", **_inflect_all(-1, "er")}
_COMPARISONS = (
    (re.compile(rf"\b(?:more\s+\w+|{'|'.join(_MORE)})\s+than\s*$", re.IGNORECASE), ">"),
    (re.compile(rf"\b(?:less\s+\w+|{'|'.join(_LESS)})\s+than\s*$", re.IGNORECASE), "<"),
    (re.compile(r"\b(?:over|above|exceed(?:s|ed|ing)?|beyond)\s*$", re.IGNORECASE), ">"),
    (re.compile(r"\b(?:under|below)\s*$", re.IGNORECASE), "<"),
    (re.compile(r"\bat least\s*$", re.IGNORECASE), ">="),
    (re.compile(r"\b(?:at most|up to)\s*$", re.IGNORECASE), "<="),
)
_AFTER = (
    (re.compile(r"\s+or (?:more|over|above|longer|higher)\b"), ">="),
    (re.compile(r"\s+or (?:less|fewer|under|below)\b"), "<="),
)
_METRES = re.compile(r"\d\s(m)$")
_UNIT = re.compile(r"\s*([^\W\d]+[²³]?(?:/[^\W\d]+[²³]?)?|%|°\w)")
_RISE = frozenset("grow growth rise increase expand improve".split())
_FALL = frozenset("fall decline drop decrease shrink reduction".split())
_CHANGE = frozenset("change differ difference".split())
_EXCEED = frozenset("exceed surpass outnumber".split())
# A question with one of these words asks for other rows than those that its other words describe.
_EXCLUDED = frozenset("not no nor never without except excluding neither or between average mean median".split())
_LISTING = re.compile(
    r"(?:please\s+)?(?:list|name|show|give|enumerate)\s+(?:me\s+|us\s+)?(?:all\s+)?(?:of\s+)?(?:the\s+)?", re.IGNORECASE
)
_WHICH = re.compile(r"\b(?:which|what)\s+(?P<be>(?:is|are|was|were)\s+(?:the\s+)?)?", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many\s+(?:of the\s+|different\s+)?", re.IGNORECASE)
_DIFFERENCE = re.compile(rf"\bhow (?:much|many)\s+(?:{'|'.join((*_MORE, *_LESS))})\b.*\bthan\b", re.IGNORECASE)
_HOW_MUCH = re.compile(
    r"\bby how much\b|\bhow much (?:did|has|have|does|do)\b"
    r"|\bwhat (?:is|was) the (?:change|difference|increase|decrease|rise|fall)\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(r"(?:did|has|have)\b", re.IGNORECASE)
_WHO = re.compile(r"who\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Wording:
    """The parts of a question that show its operation."""

    text: str
    words: list[Word]
    condition: Condition | None
    superlatives: list[Word]
    direction: int
    names_change: bool
    which: re.Match[str] | None
    many: re.Match[str] | None
    listing: re.Match[str] | None


@dataclass(frozen=True, slots=True)
class _Asked:
    """The operation of a question, and the nouns and the adjective that say what it is about."""

    operation: Operation
    nouns: list[Word]
    adjective: str
    is_value: bool = False
    is_yes_no: bool = False


def parse_table_question(text: str) -> TableQuestion | None:
    """Return the operation that a question asks for; ``None`` if it asks for none over the rows of a table.

    >>> found = parse_table_question("Which models weigh less than 10 kg?")
    >>> found.operation.name, found.condition.relation, [word.text for word in found.nouns]
    ('LIST', '<', ['models', 'weigh'])
    >>> parse_table_question("What does the first model cost?") is None
    True
    """
    wording = _read_wording(text)
    asked = None if wording is None else _find_difference(wording) or _find_extreme(wording) or _find_list(wording)
    if wording is None or asked is None:
        return None
    spent = [word for word in wording.words if _is_spent(word, wording.listing)]
    others = tuple(word for word in wording.words if word.content and word not in spent)
    condition, superlatives = wording.condition, wording.superlatives
    most = next((word for word in superlatives if word.folded in ("most", "least")), None)
    return TableQuestion(
        text=text,
        operation=asked.operation,
        nouns=tuple(asked.nouns),
        words=others,
        adjective=asked.adjective,
        direction=wording.direction,
        condition=condition,
        is_value=asked.is_value,
        is_yes_no=asked.is_yes_no,
        compared_at=superlatives[0].start if superlatives else condition.start if condition else -1,
        after_most=next((word for word in others if most and word.start == most.end + 1), None),
        periods=tuple(find_periods(text)),
    )


def _read_wording(text: str) -> _Wording | None:
    condition, ends = _find_condition(text)
    words = [word for word in tokenize(text) if not any(start <= word.start < end for start, end in ends)]
    if any(word.folded in _EXCLUDED for word in words) or re.search(r"\w+n['’]t\b", text):
        return None
    rise, fall = (any(_is_one_of(word, kind) for word in words) for kind in (_RISE, _FALL))
    superlatives = [word for word in words if word.folded in _GREATEST or word.folded in _LEAST]
    if len(superlatives) > 1 or (rise and fall):
        return None
    return _Wording(
        text=text,
        words=words,
        condition=condition,
        superlatives=superlatives,
        direction=rise - fall,
        names_change=rise or fall or any(_is_one_of(word, _CHANGE | _EXCEED) for word in words),
        which=_WHICH.search(text),
        many=_HOW_MANY.search(text),
        listing=_LISTING.match(text),
    )


def _find_difference(wording: _Wording) -> _Asked | None:
    text, words = wording.text, wording.words
    is_yes_no = _YES_NO.match(text) is not None and wording.names_change
    is_change = _HOW_MUCH.search(text) is not None and wording.names_change and not wording.superlatives
    if not (_DIFFERENCE.search(text) or is_yes_no or is_change):
        return None
    adjectives = (kind[word.folded] for word in words for kind in (_MORE, _LESS) if kind.get(word.folded))
    return _Asked(Operation.DIFFERENCE, [], next(adjectives, ""), is_yes_no=is_yes_no)


def _find_extreme(wording: _Wording) -> _Asked | None:
    """Return the operation of a question with a superlative, such as "Which region grew most?"."""
    which = wording.which
    if not wording.superlatives or not (which or _WHO.match(wording.text)):
        return None
    (superlative,) = wording.superlatives
    is_most = superlative.folded in _GREATEST
    if wording.names_change and not is_most:
        return None
    operation = Operation.CHANGE if wording.names_change else Operation.GREATEST if is_most else Operation.LEAST
    is_value = which is not None and bool(which["be"])
    after = superlative.end if is_value else which.end() if which else None
    nouns = _take_nouns(wording.words, after) if after is not None else []
    return _Asked(operation, nouns, (_GREATEST | _LEAST)[superlative.folded], is_value)


def _find_list(wording: _Wording) -> _Asked | None:
    """Return the operation of a question for a number of rows, or for the rows themselves."""
    which, condition = wording.which, wording.condition
    match = wording.many or wording.listing or which
    if match is None or (wording.superlatives and (which or _WHO.match(wording.text))):
        return None
    nouns = _take_nouns(
        [word for word in wording.words if condition is None or word.start < condition.start], match.end()
    )
    is_list = wording.many is None
    if not nouns or (is_list and (not any(map(_is_plural, nouns)) or (which is not None and which["be"]))):
        return None
    compared = re.search(r"(\w+)\s+than\s*$", wording.text[: condition.number.start]) if condition else None
    word = compared[1].casefold() if compared else ""
    return _Asked(Operation.LIST if is_list else Operation.COUNT, nouns, (_MORE | _LESS).get(word, word))


def _is_spent(word: Word, listing: re.Match[str] | None) -> bool:
    """Return whether a word only states the operation."""
    if listing is not None and word.start < listing.end():
        return True
    is_degree = any(word.folded in kind for kind in (_GREATEST, _LEAST, _MORE, _LESS))
    return is_degree or _is_one_of(word, _RISE | _FALL | _CHANGE | _EXCEED)


def _is_one_of(word: Word, kind: frozenset[str]) -> bool:
    return word.folded in kind or find_lemma(word.folded) in kind


def find_measures(adjective: str) -> set[str]:
    """Return the lemmas of the names of the measures that an adjective compares."""
    return {find_lemma(noun) for noun in MEASURES.get(adjective, ())}


def _find_condition(text: str) -> tuple[Condition | None, list[tuple[int, int]]]:
    """Return the only condition with a number in a question, and the spans of all conditions."""
    found = []
    for number in parse_numbers(text, spaced=False):
        # The parser joins a currency symbol, but not a blank and a unit such as "kg", to a number.
        before = text[: number.start]
        # The parser reads "400 m" as 400 metres or 400 million.
        following = _UNIT.match(text, number.end) or (_METRES.search(number.text) if not number.currency else None)
        unit = following[1] if following else ""
        for pattern, relation in _COMPARISONS:
            if (match := pattern.search(before)) is not None:
                found.append(Condition(relation, number, unit, match.start(), number.end))
        for pattern, relation in _AFTER:
            if (match := pattern.match(text, number.end)) is not None:
                found.append(Condition(relation, number, "", number.start, match.end()))
    spans = [(one.start, one.end) for one in found]
    return (found[0] if len(found) == 1 else None), spans


def _take_nouns(words: Sequence[Word], start: int) -> list[Word]:
    """Return the content words from an offset to the first stop word."""
    nouns: list[Word] = []
    for word in words:
        if word.start < start:
            continue
        if word.folded in STOP_WORDS or word.folded in _GREATEST or word.folded in _LEAST:
            break
        nouns.append(word)
    return nouns


def _is_plural(word: Word) -> bool:
    return word.folded.endswith("s") and not word.folded.endswith("ss")
