"""Select the value that a question asks for among several values in a sentence."""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from rag_core.reading.short_answers import extend_answer
from rag_core.text.dates import find_periods, match_period
from rag_core.text.grammar import Token, split_tokens
from rag_core.text.noun_phrases import find_names
from rag_core.text.numbers import Number, parse_numbers
from rag_core.text.words import stem, tokenize

_COUNTED = re.compile(r"\bhow many (\w+)", re.IGNORECASE)
_SEPARATOR = re.compile(r",? (?:and|or) |, ")
_LAST = re.compile(r"\b(?:and|or)\b")
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_SCALE = re.compile(r"\s(?:thousand|million|billion|trillion)$", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[;:]|\.(?=\s|$)")


def select_count(question: str, answer: str, sentence: str) -> str:
    """Return the number before the counted thing if an answer to "How many" has several numbers; empty without one.

    The counted thing is part of the answer if it follows the number.

    >>> select_count("How many species were caught?", "406 beetles of 71", "They caught 406 beetles of 71 species.")
    '71 species'
    """
    counted = _COUNTED.search(question)
    if counted is None:
        return answer
    wanted, several = stem(counted[1].casefold()), len(parse_numbers(answer)) > 1
    for number in parse_numbers(sentence):
        following = next(iter(split_tokens(sentence[number.end :])), None)
        if following is None or stem(following.word) != wanted:
            continue
        with_thing = sentence[number.start : number.end + following.end]
        if several or (number.text in answer and answer in with_thing):
            return with_thing
    return "" if several else answer


def select_respective(question: str, answer: str, sentence: str) -> str:
    """Return the value of the period or thing asked for if a sentence gives several values "respectively".

    Without this word, several values in the answer correspond to as many periods, if the question names one of these.
    Return an empty string if the values do not correspond to the periods or to the items of a list before them, or if
    the question names several or none of these.

    >>> sentence = "It had 815, 795 and 782 shops in 2021, 2020 and 2019, respectively."
    >>> select_respective("How many shops did it have in 2020?", "782 shops", sentence)
    '795'
    """
    respectively = _RESPECTIVELY.search(sentence)
    if respectively is None and len(parse_numbers(answer)) < 2:
        return answer
    before = sentence[: respectively.start()] if respectively else sentence
    known = find_periods(before)
    numbers = _find_figures(before)
    if len(numbers) < 2 or not any(one.text in answer or answer in one.text for one in numbers):
        return answer
    chosen = [known.index(one) for period in find_periods(question) for one in match_period(period, known)]
    if respectively is None and (len(chosen) != 1 or len(known) != len(numbers)):
        return answer
    if len(known) != len(numbers):
        asked = {token.word for token in split_tokens(question)}
        items = _list_items(sentence[: numbers[0].start], len(numbers))
        chosen = [place for place, item in enumerate(items) if item and item <= asked]
    if len(chosen) != 1:
        return ""
    # "$4.1 and $3.2 million": the scale after the last value is that of all.
    value = numbers[chosen[0]]
    scale = _SCALE.search(numbers[-1].text) if value.unscaled else None
    return f"{value.text}{scale[0] if scale else ''}"


def select_part(question: str, answer: str, sentence: str) -> str:
    """Return the number of the part that a question names if the answer is another number of the sentence.

    A number belongs to the names between it and the next number. Return an empty string if the names of the question
    belong to several numbers, but not to that of the answer.

    >>> sentence = "It had 815 shops in 2021: 564 in Norway and about 105 in Peru."
    >>> select_part("How many shops did it have in Peru?", "815 shops", sentence)
    'about 105'
    """
    numbers = _find_figures(sentence)
    start = sentence.find(answer)
    given = [one for one in numbers if start <= one.start < start + len(answer)]
    if start < 0 or not given or len(given) == len(numbers):
        return answer
    names = [f" {_join_words(name.text.removeprefix('the '))} " for name in find_names(question)]
    ends = [one.start for one in numbers[1:]] + [len(sentence)]
    parts = []
    for one, end in zip(numbers, ends, strict=True):
        clause_end = _CLAUSE_END.search(sentence, one.end, end)
        belonging = f" {_join_words(sentence[one.end : clause_end.start() if clause_end else end])} "
        if (one.kind, one.currency) == (given[0].kind, given[0].currency) and any(name in belonging for name in names):
            parts.append(one)
    if not parts or any(one in given for one in parts):
        return answer
    return extend_answer(sentence, parts[0].start, parts[0].end) if len(parts) == 1 else ""


def _find_figures(text: str) -> list[Number]:
    """Return the numbers of a text that belong to no period."""
    spans = [span for period in find_periods(text) for span in period.spans]
    return [one for one in parse_numbers(text) if not any(start <= one.start < end for start, end in spans)]


def _join_words(text: str) -> str:
    return " ".join(word.folded for word in tokenize(text))


def _list_items(text: str, count: int) -> list[set[str]]:
    """Return the words next to the separators of the last list of ``count`` items in a text; empty without such a list.

    Of the first and the last item, only the words with a capital letter next to the separator belong to the list.
    """
    separators = list(_SEPARATOR.finditer(text))
    last = next((at for at in reversed(range(len(separators))) if _LAST.search(separators[at][0])), None)
    if last is None or last < count - 2:
        return []
    bounds = separators[last - count + 2 : last + 1]
    inner = [text[one.end() : other.start()] for one, other in pairwise(bounds)]
    before, after = split_tokens(text[: bounds[0].start()]), split_tokens(text[bounds[-1].end() :])
    names = (list(takewhile(_is_name, reversed(before))), list(takewhile(_is_name, after)))
    return [
        {token.word for token in names[0]},
        *({token.word for token in split_tokens(item)} for item in inner),
        {token.word for token in names[1]},
    ]


def _is_name(token: Token) -> bool:
    return token.text[0].isupper()
