"""Words that belong to a value: an article, and words that limit it, such as "at least"."""

from __future__ import annotations

import re
from itertools import takewhile

from rag_core.reading.statement_reading import contains_negation
from rag_core.text.grammar import ARTICLES, AUXILIARIES, split_tokens
from rag_core.text.numbers import parse_numbers
from rag_core.text.words import stem

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
_COUNTED = re.compile(r"\bhow many (\w+)", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:the|an?) $", re.IGNORECASE)
# Most words of a further item of a list.
MAX_ITEM_WORDS = 4
_SEPARATOR = re.compile(r",? (?:and|or) |, ")
_LAST = re.compile(r"\b(?:and|or)\b")
_ITEM = re.compile(r"[^,;:.!?()]*")
_DIGIT = re.compile(r"\d")


def has_limit(sentence: str, start: int, end: int) -> bool:
    """Return whether words such as "about" or "at least" limit a value, given its span in the sentence.

    >>> has_limit("It holds up to 500 guests.", 15, 18)
    True
    """
    return bool(_BEFORE_A_COUNT.search(sentence, 0, start) or _BOUND_AFTER.match(sentence, end))


def extend_answer(sentence: str, start: int, end: int) -> str:
    """Return an answer with the words that limit a figure, or with the article of a name and the rest of its list.

    >>> extend_answer("It holds up to 500 guests.", 15, 18)
    'up to 500'
    >>> extend_answer("It holds not less than 500 guests.", 23, 26)
    'not less than 500'
    >>> extend_answer("It was built by the mayor.", 20, 25)
    'the mayor'
    >>> extend_answer("It covers floods, wear and pets.", 10, 16)
    'floods, wear and pets'
    """
    if not _DIGIT.search(sentence, start, end):
        before = _ARTICLE.search(sentence, 0, start)
        return sentence[before.start() if before else start : _find_list_end(sentence, end)]
    before = _BEFORE_A_COUNT.search(sentence, 0, start) or _BEFORE_A_DATE.search(sentence, 0, start)
    after = _BOUND_AFTER.match(sentence, end)
    return sentence[before.start() if before else start : after.end() if after else end].strip()


def select_count(question: str, answer: str, sentence: str) -> str:
    """Return the number before the counted thing if an answer to "How many" has several numbers; empty without one.

    >>> select_count("How many species were caught?", "406 beetles of 71", "They caught 406 beetles of 71 species.")
    '71'
    """
    counted = _COUNTED.search(question)
    if counted is None or len(parse_numbers(answer)) < 2:
        return answer
    wanted = stem(counted[1].casefold())
    for number in parse_numbers(sentence):
        following = next(iter(split_tokens(sentence[number.end :])), None)
        if following is not None and stem(following.word) == wanted:
            return number.text
    return ""


def is_denied_elsewhere(following: str) -> bool:
    """Return whether the negation after an answer belongs to another verb than that of the answer.

    Of "The post in mathematics has been filled, that in music has not", "mathematics" is not what is denied.
    """
    verbs = 0
    for token in split_tokens(following):
        verbs += token.word in AUXILIARIES - {"be", "been"}
        if contains_negation(following[: token.end]):
            return verbs > 1
    return False


def _find_list_end(sentence: str, end: int) -> int:
    """Return the end of the list of which an answer is the first item; ``end`` if it is in no list."""
    at = end
    while separator := _SEPARATOR.match(sentence, at):
        words = split_tokens(_ITEM.match(sentence, separator.end())[0])  # type: ignore[index]
        item = list(takewhile(lambda word: not word.is_function or word.word in ARTICLES, words))
        if not item or len(item) > MAX_ITEM_WORDS:
            break
        at = separator.end() + item[-1].end
        if _LAST.search(separator[0]):
            return at
    return end
