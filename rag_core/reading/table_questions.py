"""Parse questions over the rows of a table: the largest, a count, a list, a difference, the largest change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from rag_core.text.dates import YEAR
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
class Comparison:
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
    comparison : Comparison or None
    is_value : bool
        Whether the question may ask for the largest value itself, as in "What is the highest price?".
    is_yes_no : bool
    compared_at : int
        Offset of the superlative or of the comparison; -1 if there is none.
    after_most : Word or None
        The word directly after "most" or "least", which may be an adjective.
    """

    text: str
    operation: Operation
    nouns: tuple[Word, ...]
    words: tuple[Word, ...]
    adjective: str = ""
    direction: int = 0
    comparison: Comparison | None = None
    is_value: bool = False
    is_yes_no: bool = False
    compared_at: int = -1
    after_most: Word | None = None

    @property
    def verb(self) -> Word | None:
        """The verb before what is compared, as in "Which models weigh less than 10 kg?" or "sold the most cars"."""
        last = next((word for word in reversed(self.words) if word.end <= self.compared_at), None)
        if last is None or self.text[last.end : self.compared_at].strip() not in ("", "the"):
            return None
        if self.comparison is None:
            return last
        # Only a plural noun has a verb without "s"; "had profits over 10" has a measure before the comparison.
        is_verb = last in self.nouns[1:] and _is_plural(self.nouns[0]) and not _is_plural(last)
        return last if is_verb else None

    @property
    def compares_rows(self) -> bool:
        """Whether one row alone cannot answer the question."""
        return self.comparison is not None or self.operation not in (Operation.COUNT, Operation.LIST)

    @property
    def is_superlative(self) -> bool:
        return self.operation in (Operation.GREATEST, Operation.LEAST)

    @property
    def years(self) -> list[int]:
        return sorted({int(word.text) for word in self.words if re.fullmatch(YEAR, word.text)})


# Superlatives with their adjective; "" if the adjective names no measure.
_GREATEST = dict.fromkeys("most largest greatest highest biggest maximum best top".split(), "") | {
    "longest": "long", "heaviest": "heavy", "tallest": "tall", "widest": "wide", "deepest": "deep",
    "strongest": "strong", "dearest": "expensive", "hottest": "hot", "warmest": "warm", "wettest": "wet",
}  # fmt: skip
_LEAST = dict.fromkeys("least fewest lowest smallest minimum worst".split(), "") | {
    "shortest": "short", "lightest": "heavy", "cheapest": "expensive", "narrowest": "wide", "weakest": "strong",
    "coldest": "cold", "coolest": "cool", "driest": "dry", "shallowest": "deep",
}  # fmt: skip
_MORE = {"more": "", "greater": "", "higher": "", "larger": "", "bigger": "", "heavier": "heavy", "longer": "long",
         "taller": "tall", "wider": "wide", "deeper": "deep", "dearer": "expensive"}  # fmt: skip
_LESS = {"less": "", "fewer": "", "lower": "", "smaller": "", "lighter": "heavy", "shorter": "long",
         "cheaper": "expensive", "narrower": "wide"}  # fmt: skip
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
_UNIT = re.compile(r"\s*([^\W\d]+[²³]?|%|°\w)")
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


def parse_table_question(text: str) -> TableQuestion | None:
    """Return the operation that a question asks for; ``None`` if it asks for none over the rows of a table.

    >>> found = parse_table_question("Which models weigh less than 10 kg?")
    >>> found.operation.name, found.comparison.relation, [word.text for word in found.nouns]
    ('LIST', '<', ['models', 'weigh'])
    >>> parse_table_question("What does the first model cost?") is None
    True
    """
    comparison, ends = _find_comparison(text)
    words = [word for word in tokenize(text) if not any(start <= word.start < end for start, end in ends)]
    if any(word.folded in _EXCLUDED for word in words) or re.search(r"\w+n['’]t\b", text):
        return None
    lemmas = {word.folded: find_lemma(word.folded) for word in words}
    rise, fall = (any(lemma in kind or word in kind for word, lemma in lemmas.items()) for kind in (_RISE, _FALL))
    changes = rise or fall or any({word, lemma} & (_CHANGE | _EXCEED) for word, lemma in lemmas.items())
    superlatives = [word for word in words if word.folded in _GREATEST or word.folded in _LEAST]
    which, many, listed = _WHICH.search(text), _HOW_MANY.search(text), _LISTING.match(text)
    is_yes_no = _YES_NO.match(text) is not None and changes
    if len(superlatives) > 1 or (rise and fall):
        return None
    nouns: list[Word] = []
    adjective, is_value = "", False
    if _DIFFERENCE.search(text) or is_yes_no or (_HOW_MUCH.search(text) and changes and not superlatives):
        operation = Operation.DIFFERENCE
        adjective = next((kind[word.folded] for word in words for kind in (_MORE, _LESS) if kind.get(word.folded)), "")
    elif superlatives and (which or _WHO.match(text)):
        (superlative,) = superlatives
        is_most = superlative.folded in _GREATEST
        operation = Operation.CHANGE if changes else Operation.GREATEST if is_most else Operation.LEAST
        if changes and not is_most:
            return None
        adjective = (_GREATEST | _LEAST)[superlative.folded]
        is_value = which is not None and bool(which["be"])
        after = superlative.end if is_value else which.end() if which else None
        nouns = _take_nouns(words, after) if after is not None else []
    elif many or listed or which:
        operation = Operation.COUNT if many else Operation.LIST
        match = many or listed or which
        before = [word for word in words if comparison is None or word.start < comparison.start]
        nouns = _take_nouns(before, match.end()) if match else []
        is_list = operation is Operation.LIST
        if not nouns or (is_list and (not any(map(_is_plural, nouns)) or (which is not None and which["be"]))):
            return None
        if comparison is not None:
            compared = re.search(r"(\w+)\s+than\s*$", text[: comparison.number.start])
            word = compared[1].casefold() if compared else ""
            adjective = (_MORE | _LESS).get(word, word)
    else:
        return None
    movements = _RISE | _FALL | _CHANGE | _EXCEED
    spent = {*superlatives, *(word for word in words if {word.folded, lemmas[word.folded]} & movements)}
    spent |= {word for word in words if word.folded in _MORE or word.folded in _LESS}
    if listed:
        spent |= {word for word in words if word.start < listed.end()}
    others = tuple(word for word in words if word.content and word not in spent)
    at = superlatives[0].start if superlatives else comparison.start if comparison else -1
    most = next((word for word in superlatives if word.folded in ("most", "least")), None)
    after_most = next((word for word in others if most and word.start == most.end + 1), None)
    return TableQuestion(
        *(
            text,
            operation,
            tuple(nouns),
            others,
            adjective,
            rise - fall,
            comparison,
            is_value,
            is_yes_no,
            at,
            after_most,
        )
    )


def _find_comparison(text: str) -> tuple[Comparison | None, list[tuple[int, int]]]:
    """Return the only comparison with a number in a question, and the spans of all comparisons."""
    found = []
    for number in parse_numbers(text, spaced=False):
        # The parser joins a currency symbol, but not a blank and a unit such as "kg", to a number.
        before = text[: number.start]
        # The parser reads "400 m" as 400 metres or 400 million.
        following = _UNIT.match(text, number.end) or (_METRES.search(number.text) if not number.currency else None)
        unit = following[1] if following else ""
        for pattern, relation in _COMPARISONS:
            if (match := pattern.search(before)) is not None:
                found.append(Comparison(relation, number, unit, match.start(), number.end))
        for pattern, relation in _AFTER:
            if (match := pattern.match(text, number.end)) is not None:
                found.append(Comparison(relation, number, "", number.start, match.end()))
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
