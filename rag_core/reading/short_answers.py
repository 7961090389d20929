"""Words that belong to a value: an article, and words that limit it, such as "at least"."""

from __future__ import annotations

import re

_ABOUT = (
    r"(?:about|almost|approximately|approx\.|around|c\.|ca\.|circa|nearly|roughly|some|no later than|not later than|"
    r"at (?:the )?(?:latest|earliest))"
)
_BEFORE_A_DATE = re.compile(
    rf"(?:\b(?:(?:not )?(?:after|before|by|since|until|till)|{_ABOUT}|early|late|mid|"
    r"(?:the )?(?:[a-z]+ )?(?:beginning|start|middle|end|spring|summer|autumn|fall|winter|quarter|half) of)[ -])+$",
    re.IGNORECASE,
)
_BEFORE_A_COUNT = re.compile(
    rf"(?:\b(?:at least|at most|as (?:many|few) as|(?:not? )?(?:more|less|fewer) than|(?:just )?(?:over|under)|only|"
    rf"up to|{_ABOUT}) |[~≈<>≤≥] ?)+$",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r" (?:or (?:more|less|fewer|later|earlier)|at (?:the )?(?:latest|earliest|most|least)|onwards?)\b"
)
_ARTICLE = re.compile(r"\b(?:the|an?) $", re.IGNORECASE)
_DIGIT = re.compile(r"\d")


def has_limit(sentence: str, start: int, end: int) -> bool:
    """Return whether words such as "about" or "at least" limit a value, given its span in the sentence.

    >>> has_limit("It holds up to 500 guests.", 15, 18)
    True
    """
    return bool(_BEFORE_A_COUNT.search(sentence, 0, start) or _BOUND_AFTER.match(sentence, end))


def extend_answer(sentence: str, start: int, end: int) -> str:
    """Return an answer with the words before and after it that limit a figure, or with the article of a name.

    >>> extend_answer("It holds up to 500 guests.", 15, 18)
    'up to 500'
    >>> extend_answer("It holds not less than 500 guests.", 23, 26)
    'not less than 500'
    >>> extend_answer("It was built by the mayor.", 20, 25)
    'the mayor'
    """
    if not _DIGIT.search(sentence, start, end):
        before = _ARTICLE.search(sentence, 0, start)
        return sentence[before.start() if before else start : end]
    before = _BEFORE_A_COUNT.search(sentence, 0, start) or _BEFORE_A_DATE.search(sentence, 0, start)
    after = _BOUND_AFTER.match(sentence, end)
    return sentence[before.start() if before else start : after.end() if after else end].strip()
