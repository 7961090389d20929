"""The few characters that a question asks for, where quotes leave no doubt which they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_core.answering.expected import Kind, dated, expected, unasked
from rag_core.answering.numbers import MONTHS
from rag_core.answering.wording import FUNCTION_WORDS, stem

_MONTH = "|".join(month.capitalize() for month in MONTHS)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"(?:(?:{_DAY} (?:of )?)?(?:{_MONTH})(?: {_DAY})?,? )?(?<![\d.,$€£-])\b(1\d{{3}}|20\d\d)\b(?![.,]\d|[\d%-])"
)
# A span of time, or one that its digits name only in part.
_UNCLEAR_DATES = re.compile(r"\b(?:1\d|20)\d0s|\d{4}\s?[-–/]\s?\d|\bB\.?C|\bcentur", re.IGNORECASE)
# Questions about time that a year or a date does not answer.
_OTHER_TIMES = re.compile(r"\b(?:centur\w*|decades?|days?|months?|era|period|how long|times?)\b", re.IGNORECASE)
_YEAR = re.compile(r"\byears?\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many (?P<counted>[\w-]+(?: [\w-]+)?)", re.IGNORECASE)
# What is counted stands within so many words after its number.
_WITHIN_WORDS = 3
_WORD = re.compile(r"[\w-]+")


def short_answer(question: str, quotes: Sequence[str]) -> str:
    """The date, share or count that a question asks for, as it stands in a quote; empty where none is clear.

    It is clear where the quotes hold one value of that kind alone which the question does not name
    itself; a count also has to stand before what is counted. Names are never given: of several
    capitalised words, too often another one is meant.

    >>> short_answer("When was the bridge opened?", ["It was opened on 3 May 1931 by the mayor."])
    '3 May 1931'
    >>> short_answer("How many arches does it have?", ["Its 12 arches rest on 11 piers."])
    '12'
    >>> short_answer("When was the mill built?", ["Built in 1802, it burnt down in 1840."])
    ''
    """
    lines = [" ".join(quote.split()) for quote in quotes]
    kind = expected(question)
    if kind is Kind.DATE:
        return _date(question, lines)
    if kind is Kind.PERCENT:
        return _only([number.text for line in lines for number in unasked(line, question) if number.kind == "percent"])
    if kind is Kind.NUMBER:
        return _only(list(_counts(question, lines)))
    return ""


def _date(question: str, lines: Sequence[str]) -> str:
    if _OTHER_TIMES.search(question) or any(_UNCLEAR_DATES.search(line) for line in lines):
        return ""
    found = [match for line in lines for match in _DATE.finditer(line) if match[1] not in question]
    if len({match[1] for match in found}) != 1:
        return ""
    if _YEAR.search(question):
        return found[0][1]
    whole = [match[0] for match in found if match[0] != match[1]]
    return _only(whole or [found[0][1]])


def _counts(question: str, lines: Sequence[str]) -> Iterator[str]:
    asked = _HOW_MANY.search(question)
    words = asked["counted"].lower().split() if asked else []
    counted = {stem(word) for word in words if word not in FUNCTION_WORDS}
    for line in lines:
        for number in unasked(line, question):
            after = _WORD.findall(line[number.end :])[:_WITHIN_WORDS]
            if not dated(number) and counted & {stem(word.lower()) for word in after}:
                yield line[number.start : number.end].strip()


def _only(found: Sequence[str]) -> str:
    return found[0] if len(set(found)) == 1 else ""
