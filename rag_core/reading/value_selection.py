"""Select the value that a question asks for among several values in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile, pairwise, takewhile

from rag_core.reading.short_answers import CONJUNCTION, SEPARATOR, extend_answer
from rag_core.text.dates import Period, find_periods, match_period
from rag_core.text.grammar import Token, split_tokens
from rag_core.text.noun_phrases import Phrase, find_names
from rag_core.text.numbers import Number, parse_numbers
from rag_core.text.words import stem

# Before the name of what a question excludes.
_OUTSIDE = re.compile(r"\boutside(?:\s+of)?\s+$", re.IGNORECASE)
_COUNTED = re.compile(r"\bhow many (\w+)", re.IGNORECASE)
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_SCALE = re.compile(r"\s(?:thousand|million|billion|trillion)$", re.IGNORECASE)
# Before the second number of a range, and before a negative number.
_RANGE = re.compile(r"(?:\b(?:to|or|between \S+ and)\s+|[-–−]\s?)$")
# Between a list of values and that of their periods.
_TO_PERIODS = re.compile(r",? (?:(?:in|for|at|during|as of|the|both|years?|fiscal|ended) )+")


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

    Without this word, several values in the answer correspond to as many periods directly after them.
    Return an empty string if the values do not correspond to the periods or to the items of a list before them, or if
    the question names several or none of these.

    >>> sentence = "It had 815, 795 and 782 shops in 2021, 2020 and 2019, respectively."
    >>> select_respective("How many shops did it have in 2020?", "782 shops", sentence)
    '795'
    """
    respectively = _RESPECTIVELY.search(sentence)
    if not answer or (respectively is None and len(parse_numbers(answer)) < 2):
        return answer
    before = sentence[: respectively.start()] if respectively else sentence
    known = find_periods(before)
    numbers = _find_figures(before)
    if len(numbers) < 2 or not any(one.text in answer or answer in one.text for one in numbers):
        return answer
    chosen = [known.index(one) for period in find_periods(question) for one in match_period(period, known)]
    if respectively is None and (len(chosen) != 1 or not _are_parallel(sentence, numbers, known)):
        return answer
    asked = {token.word for token in split_tokens(question)}
    items = _list_items(sentence[: numbers[0].start], len(numbers))
    of_items = [place for place, item in enumerate(items) if item and item <= asked]
    if len(known) != len(numbers):
        chosen = of_items
    elif of_items:
        # It is unknown whether the values belong to the periods or to the items, so both must select the same value.
        chosen = [place for place in chosen if place in of_items]
    if len(chosen) != 1:
        return ""
    # "$4.1 and $3.2 million": the scale after the last value is that of all.
    value = numbers[chosen[0]]
    scale = _SCALE.search(numbers[-1].text) if value.unscaled else None
    return f"{value.text}{scale[0] if scale else ''}"


def select_part(question: str, answer: str, sentence: str) -> str:
    """Return the number of the part that a question names if the answer is another number of the sentence.

    The number precedes "in Peru" or, if the question says so, "outside Peru", as in "105 in Peru". The counted thing
    with all its modifiers may be between them, as in "105 new shops in Peru", or a participle, as in "105 based in
    Peru". The sentence must contain the place with its preposition only once. Return an empty string if the number is
    one end of a range, or if the question names several parts.

    >>> sentence = "It had 815 shops in 2021: 564 in Norway and about 105 in Peru."
    >>> select_part("How many shops did it have in Peru?", "815 shops", sentence)
    'about 105'
    """
    numbers, given = _find_figures(sentence), _find_given(answer, sentence)
    if not given or len(given) == len(numbers):
        return answer
    places = [_build_place_pattern(question, name) for name in find_names(question)]
    once = [place for place in places if len(re.findall(rf"\b{place}", sentence, re.IGNORECASE)) == 1]
    things = "|".join([*map(re.escape, _list_counted(question)), "[a-z]+ed"])
    before = re.compile(rf"\s+(?:(?:{things})\s+)?(?:{'|'.join(once)})")
    kind = given[0].kind, given[0].currency
    alike = [one for one in numbers if (one.kind, one.currency) == kind]
    parts = [one for one in alike if before.match(sentence, _find_end(one))]
    if not once or not parts or any(one in given for one in parts):
        return answer
    is_range = _RANGE.search(sentence, 0, parts[0].start) is not None
    return "" if is_range or len(parts) > 1 else extend_answer(sentence, parts[0].start, parts[0].end)


def _list_counted(question: str) -> list[str]:
    """Return what a question with "How many" may count: the next words up to a function word, and their beginnings.

    The words may include the verb, as in "How many employees work in Peru".
    """
    counted = _COUNTED.search(question)
    if counted is None:
        return []
    words = [token for token in split_tokens(question) if token.start >= counted.start(1)]
    words = list(dropwhile(lambda token: token.is_function or token.text[0].isupper(), words))
    thing = list(takewhile(lambda token: not token.is_function and not token.text[0].isupper(), words))
    return [question[thing[0].start : one.end] for one in thing]


def _build_place_pattern(question: str, name: Phrase) -> str:
    """Return a pattern for "in Peru", or for "outside Peru" if "outside" precedes the name in the question."""
    preposition = r"outside(?:\s+of)?" if _OUTSIDE.search(question, 0, name.start) else "(?:in|at)"
    return rf"{preposition}\s+(?:the\s+)?{re.escape(name.text.removeprefix('the '))}\b"


def has_other_period(question: str, answer: str, sentence: str) -> bool:
    """Return whether the periods directly after a number are none of those in the question.

    >>> sentence = "It was 27% in 2022 and 28% in 2021."
    >>> has_other_period("What was it in 2021?", "27%", sentence)
    True
    """
    asked, given = find_periods(question), _find_given(answer, sentence)
    if not asked or len(given) != 1:
        return False
    (number,) = given
    after = [one for one in find_periods(sentence) if min(one.spans)[0] >= number.end]
    is_next = bool(after) and _TO_PERIODS.fullmatch(sentence[_find_end(number) : min(after[0].spans)[0]]) is not None
    listed = _list_joined(sentence, after) if is_next else []
    return is_next and not any(match_period(one, listed) for one in asked)


def _list_joined(sentence: str, periods: Sequence[Period]) -> list[Period]:
    """Return the first periods that only commas or conjunctions separate, as "2022 and 2021"."""
    listed = list(periods[:1])
    for one, other in pairwise(periods):
        if not SEPARATOR.fullmatch(sentence[max(one.spans)[1] : min(other.spans)[0]]):
            break
        listed.append(other)
    return listed


def _are_parallel(sentence: str, numbers: Sequence[Number], periods: Sequence[Period]) -> bool:
    """Return whether a list of numbers is directly before a list of as many periods."""
    spans = [min(period.spans) for period in periods]
    if len(spans) != len(numbers):
        return False
    places = [(one.start, _find_end(one)) for one in numbers]
    joints = [sentence[one[1] : other[0]] for listed in (places, spans) for one, other in pairwise(listed)]
    between = sentence[places[-1][1] : spans[0][0]]
    return all(SEPARATOR.fullmatch(one) for one in joints) and _TO_PERIODS.fullmatch(between) is not None


def _find_end(number: Number) -> int:
    """Return the end of a number without the blank that may follow its scale word."""
    return number.start + len(number.text)


def _find_figures(text: str) -> list[Number]:
    """Return the numbers of a text that belong to no period."""
    spans = [span for period in find_periods(text) for span in period.spans]
    return [one for one in parse_numbers(text) if not any(start <= one.start < end for start, end in spans)]


def _find_given(answer: str, sentence: str) -> list[Number]:
    """Return the numbers of a sentence that are in the answer and belong to no period."""
    start = sentence.find(answer)
    return [one for one in _find_figures(sentence) if start >= 0 and start <= one.start < start + len(answer)]


def _list_items(text: str, count: int) -> list[set[str]]:
    """Return the words next to the separators of the last list of ``count`` items in a text; empty without such a list.

    Of the first and the last item, only the words with a capital letter next to the separator belong to the list.
    """
    separators = list(SEPARATOR.finditer(text))
    last = next((at for at in reversed(range(len(separators))) if CONJUNCTION.search(separators[at][0])), None)
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
