"""The kind of answer that an English question asks for, and whether a text contains such an answer.

The patterns are English. A question in another language has no expected kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from functools import lru_cache

from rag_core.text.dates import is_year
from rag_core.text.grammar import AUXILIARIES, WH, split_tokens
from rag_core.text.numbers import Number, parse_numbers
from rag_core.text.sentences import LIST_MARKER
from rag_core.text.words import stem


class Kind(Enum):
    """The kind of answer that a question asks for."""

    PERCENT = "percent"
    DATE = "date"
    NUMBER = "number"
    NAME = "name"
    REASON = "reason"


# Patterns for reported business figures, and for the words that may precede or follow them in a question.
_REPORTED = (
    r"(?:revenues?|sales|income|profits?|loss(?:es)?|earnings|margins?|ebitda|eps|expenses?|expenditures?|capex|"
    r"cash flows?|assets|liabilities|equity|debts?|dividends?|ratio|rate|turnover|salary|wages?|tax(?:es)?)\b"
)
_FEW_WORDS = r"(?:(?!of\b)[\w'’&.-]+ ){0,5}?"
_OF_WHAT = r"\W+(?:in|for|at|of|during|as of)\b"
# Match "What was the net income for 2021" and "what are Acme's sales", but not "what is income tax", which asks for a
# definition, and not "what was the cause of the loss", which asks for a cause.
_PAST_FIGURE = rf"\bwhat (?:was|were) {_FEW_WORDS}{_REPORTED}(?=\W*$|{_OF_WHAT})"
_PRESENT_FIGURE = (
    rf"\bwhat (?:is|are) {_FEW_WORDS}(?:{_REPORTED}(?={_OF_WHAT})|[\w.&-]+['’]s {_FEW_WORDS}{_REPORTED}(?=\W*$))"
)
# The first pattern that matches decides, so the order matters: "how many percent" must match PERCENT, not NUMBER.
_QUESTIONS: Mapping[Kind, str] = {
    Kind.PERCENT: r"\b(?:what|which) (?:\w+ )?(?:percent|percentage|share|proportion|fraction)\b|\bhow many percent\b",
    Kind.DATE: (
        rf"\bwhen (?:{'|'.join(sorted(AUXILIARIES))})\b|"
        r"\b(?:what|which) (?:\w+ )?(?:years?|dates?|days?|months?|centur(?:y|ies)|decades?|time|era|period)\b"
    ),
    Kind.NUMBER: (
        r"\bhow (?:many|much|old|long|far|tall|large|big|high|deep|fast|wide|heavy|few|often)\b|"
        r"\b(?:what|which) (?:(?:is|was|are|were) )?(?:the |its )?(?:\w+ )?(?:number|amount|cost|price|size|population|"
        r"length|height|weight|speed|budget|age|area|distance|temperature|total|quantity)\b|"
        rf"{_PAST_FIGURE}|{_PRESENT_FIGURE}"
    ),
    Kind.NAME: (
        r"\bwh(?:o|om|ose)\b|\bwhere\b|"
        r"\b(?:what|which) (?:\w+ )?(?:person|man|woman|king|queen|president|author|writer|scientist|economist|leader|"
        r"general|philosopher|artist|composer|minister|emperor|pope|engineer|inventor|city|country|nation|state|town|"
        r"place|river|continent|region|province|company|organi[sz]ation|university|street|island|district|party|book|"
        r"film|language|treaty|battle|war)\b"
    ),
    Kind.REASON: r"\bwhy\b|\b(?:what|which) (?:(?:is|was|are|were) the )?(?:\w+ )?(?:reasons?|causes?|caused)\b",
}
_PATTERNS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _QUESTIONS.items()}
_DAY_TO_MONTH, _MONTH_TO_DAY = re.compile(r"(?:st|nd|rd|th)?\s+(?:of\s+)?"), re.compile(r"\.?\s+")
# Kinds of value that an answer must contain, each with unambiguous wordings of questions that ask for it.
_REQUIRED_VALUES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "a percentage": r"\b(?:what|which) (?:\w+ )?percent(?:age)?\b|\bhow many percent\b",
        "a number": rf"\bhow many\b|{_PAST_FIGURE}",
        "an amount": r"\bhow much (?:are|did|do|does|had|has|have|is|money|was|were|will)\b",
        "a year": r"\b(?:what|which) (?:\w+ )?years?\b",
        # Excludes "when do leaves fall", which may ask for a condition.
        "a time": r"\bwhen (?:did|had|was|were|will)\b",
        "a length": r"\bhow long\b",
        "an age": r"\bhow old\b",
    }.items()
}
_ASKS_MORE = re.compile(rf"(?:,|\b(?:and|or))\s(?:\w+ )?(?:{'|'.join(sorted(WH))})\b", re.IGNORECASE)
# Words that give a quantity without a number: "dozens", "no employees", "the only bridge", "a lot".
_QUANTITY = re.compile(
    r"\b(?:all|another|any|both|couples?|countless|double|dozens?|each|either|entire|every|few(?:er)?|halves|half|"
    r"hundreds?|last|lots?|majority|many|minority|most|multi(?:ple)?|neither|never|no|nobody|none|nothing|numbers?|"
    r"numerous|once|only|pairs?|plenty|portion|proportion|quarters?|scores?|several|shares?|single|sole(?:ly)?|thirds?|"
    r"thousands?|millions?|billions?|triple|twice|various|whole|without)\b|"
    # A figure with a unit, as in "20mb/s", but not an ordinal such as "3rd".
    r"\d(?!(?:st|nd|rd|th)\b)[a-z]",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\b(?:amount\w*|enough|free|high\w*|large\w*|less|little|low\w*|more|much|not|small\w*|too|very)\b|n['’]t\b",
    re.IGNORECASE,
)
_YEARS = re.compile(r"\b(?:years?|centur(?:y|ies)|decades?|c\d{3,4})\b", re.IGNORECASE)
# Words that give a time without a date, as in "after the war" and "at dawn", or a duration without a number.
_TIMES = re.compile(
    r"\b(?:afternoons?|after\w*|ages?|ago|already|always|ancient|anniversary|annual\w*|antiquity|autumn|before\w*|"
    r"beg[aiu]n\w*|between|birth|christmas|currently|dai?ly|dawn|days?|during|dusk|earl(?:y|ier)|easter|ended|"
    r"ending|ends?|eras?|eve|evenings?|eventually|every|fall|first|follow(?:ed|ing)|holidays?|if|immediately|last|"
    r"late\w*|medieval|midnight|moments?|monthly|months?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mornings?|"
    r"never|next|nights?|noon|now|occasional\w*|often|once|periods?|prehistor\w*|previously|prior|recent\w*|"
    r"reign\w*|renaissance|seasons?|shortly|since|sometimes|soon\w*|spring|start\w*|summers?|then|throughout|till|"
    r"times?|today|tomorrow|tonight|until|upon|weekends?|weekly|weeks?|when\w*|while|whilst|winters?|within|"
    r"yearly|yesterday)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:brief\w*|childhood|constant\w*|continu\w*|ever|for ?ever|frequent\w*|from|generations?|hours?|"
    r"indefinite\w*|lasting|life|lifetimes?|millenni\w+|minutes?|newborn|old\w*|overnight|per|permanent\w*|"
    r"quick\w*|rare\w*|regular\w*|seconds?|short\w*|teen\w*|temporar\w+|usual\w*|\w*long\w*|young\w*)\b",
    re.IGNORECASE,
)
# Words that state each kind of value without a number.
_WORDS_FOR: Mapping[str, tuple[re.Pattern[str], ...]] = {
    "a percentage": (_QUANTITY,),
    "a number": (_QUANTITY,),
    "an amount": (_AMOUNT, _QUANTITY),
    "a year": (_YEARS,),
    "a time": (_YEARS, _TIMES),
    "a length": (_YEARS, _TIMES, _LASTING, _QUANTITY),
    "an age": (_YEARS, _TIMES, _LASTING, _QUANTITY),
}
# Kinds of value that a list may state without a number, because its items can be counted.
_COUNTED = frozenset({"a percentage", "a number", "an amount"})
# A text with a smaller share of English function words is not English. Such a text is never reported to lack a value,
# because only English number words are parsed.
_MIN_FUNCTION_WORDS = 0.2


def find_answer_kind(question: str) -> Kind | None:
    """Return the kind of answer that a question asks for; ``None`` if its wording does not show it.

    >>> find_answer_kind("In which year was the bridge opened?")
    <Kind.DATE: 'date'>
    >>> find_answer_kind("Wie hoch ist der Turm?")
    """
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.search(question)), None)


def answers_kind(question: str, answer: str) -> bool:
    """Return ``False`` only if the question clearly requires a value and the answer has none.

    >>> answers_kind("How many arches does it have?", "the mayor")
    False
    """
    if find_answer_kind(question) not in (Kind.PERCENT, Kind.DATE, Kind.NUMBER):
        return True
    wanted = _find_required_value(question)
    return not wanted or _may_contain(wanted, answer, question)


# Cached, because checking the numbers of a text one by one parses the same text again.
@lru_cache(maxsize=64)
def _parse_numbers(text: str) -> tuple[Number, ...]:
    return tuple(parse_numbers(text))


def find_missing_value(question: str, texts: Sequence[str]) -> str:
    """Return the kind of value, such as ``a number``, that a question asks for and no text contains; else empty.

    >>> find_missing_value("How many arches does it have?", ["The bridge was built by the mayor."])
    'a number'
    >>> find_missing_value("How many arches does it have?", ["The bridge has several arches."])
    ''
    """
    wanted = _find_required_value(question)
    if not wanted or not texts:
        return ""
    return "" if any(not _is_english(text) or _may_contain(wanted, text, question) for text in texts) else wanted


def _find_required_value(question: str) -> str:
    """Return the kind of value that a question asks for; empty if it also asks for something else."""
    if _ASKS_MORE.search(question):
        return ""
    return next((name for name, pattern in _REQUIRED_VALUES.items() if pattern.search(question)), "")


def _may_contain(wanted: str, text: str, question: str) -> bool:
    numbers = find_new_numbers(text, question)
    if wanted == "a number":
        question_stems = {stem(token.word) for token in split_tokens(question)}
        numbers = [
            number
            for number in numbers
            if not is_date_part(number, text)
            or (_is_year(number) and _precedes_question_word(number, text, question_stems))
        ]
    has_value = numbers or any(words.search(text) for words in _WORDS_FOR[wanted])
    return bool(has_value or (wanted in _COUNTED and _count_items(text) > 1))


def _precedes_question_word(number: Number, text: str, question_stems: Collection[str]) -> bool:
    """Return whether a number that looks like a year precedes a word of the question, as in "2000 guests"."""
    following = split_tokens(text[number.end :])[:2]
    return any(stem(token.word) in question_stems for token in following if not token.is_function)


def _count_items(text: str) -> int:
    return sum(bool(LIST_MARKER.match(line.strip())) for line in text.split("\n"))


def _is_english(text: str) -> bool:
    words = split_tokens(text)
    return sum(word.is_function for word in words) >= _MIN_FUNCTION_WORDS * len(words)


def find_new_numbers(text: str, question: str) -> list[Number]:
    """Return the numbers of a text that the question does not contain."""
    known: set[Decimal] = {value for number in _parse_numbers(question) for value in number.values}
    return [number for number in _parse_numbers(text) if not known & number.values]


def is_date_part(number: Number, text: str) -> bool:
    """Return whether a number of a text is a year, a part of a date or a decade."""
    return _is_year(number) or number.kind in ("month", "decade") or _is_day(number, text)


def _is_year(number: Number) -> bool:
    # A year has four digits and no thousands separator, scale or currency.
    plain = number.unscaled and not number.currency and not number.kind
    return plain and is_year(number.text)


def _is_day(number: Number, text: str) -> bool:
    """Return whether a number is the day of a date, because a month is next to it."""
    if not number.unscaled or number.kind:
        return False
    # A month must be capitalized: "12 may attend" contains no month.
    months = [other for other in _parse_numbers(text) if other.kind == "month" and other.text[0].isupper()]
    return any(
        _DAY_TO_MONTH.fullmatch(text, number.end, month.start) or _MONTH_TO_DAY.fullmatch(text, month.end, number.start)
        for month in months
    )
