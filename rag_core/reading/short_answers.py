"""Extraction of a short answer, such as a date or a count, from quotes if it is unambiguous."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.reading.answer_types import Kind, find_answer_kind, find_new_numbers, is_date_part
from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import ANY_YEAR, DAY, MONTHS
from rag_core.text.grammar import AUXILIARIES, PERSONAL, POSSESSIVES, Token, split_tokens
from rag_core.text.sentences import sentence_spans
from rag_core.text.words import STOP_WORDS, find_lemma, lacks_lemmas

_MONTH = "|".join(month.capitalize() for month in MONTHS)
_DATE = re.compile(
    rf"(?:(?:{DAY} (?:of )?)?(?:{_MONTH})(?: {DAY})?,? )?(?<![\d.,$€£-])\b({ANY_YEAR})\b(?![.,]\d|[\d%-])"
)
# Decades, ranges of years, years B.C. and centuries. A text with one of these does not give a clear date.
_UNCLEAR_DATES = re.compile(r"\b(?:1\d|20)\d0s|\d{4}\s?[-–/]\s?\d|\bB\.?C|\bcentur", re.IGNORECASE)
# Words of questions about time that neither a year nor a date answers.
_OTHER_TIMES = re.compile(r"\b(?:centur\w*|decades?|days?|months?|era|period|how long|times?)\b", re.IGNORECASE)
_YEAR = re.compile(r"\byears?\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many (?P<counted>[\w-]+(?: [\w-]+)?)", re.IGNORECASE)
# Most words from a number to the noun that it counts.
_WITHIN_WORDS = 3
_WORD = re.compile(r"[\w-]+")
# Words that limit or hedge a value and are returned with the value.
_ABOUT = (
    r"(?:about|almost|approximately|approx\.|around|c\.|ca\.|circa|nearly|roughly|some|no later than|not later than|"
    r"at (?:the )?(?:latest|earliest))"
)
_BEFORE_A_DATE = re.compile(
    rf"(?:\b(?:(?:not )?(?:after|before|by|from|since|until|till)|{_ABOUT}|early|late|mid|"
    r"(?:the )?(?:[a-z]+ )?(?:beginning|start|middle|end|spring|summer|autumn|fall|winter|quarter|half) of)[ -])+$",
    re.IGNORECASE,
)
_BEFORE_A_COUNT = re.compile(
    rf"(?:\b(?:at least|at most|as (?:many|few) as|(?:no )?(?:more|less|fewer) than|(?:just )?(?:over|under)|only|"
    rf"up to|{_ABOUT}) |[~≈<>≤≥] ?)+$",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r" (?:or (?:more|less|fewer|later|earlier)|at (?:the )?(?:latest|earliest|most|least)|onwards?)\b"
)
_CONJUNCTION = r"\b(?:and|although|because|but|if|though|unless|where|whereas|which|while|who|whom|whose)\b"
_CLAUSE_END = re.compile(rf"[;:()]|,(?!\d)(?:\s+{_CONJUNCTION})?|\s[–—]\s|{_CONJUNCTION}")
_MEASURES = frozenset("percent percentage share proportion fraction year date number many much".split())
# Pronouns, which may replace the subject. A sentence that contains a pronoun need not name the subject.
_PRONOUNS = PERSONAL | POSSESSIVES | {"we", "our", "this", "these", "there"}
# Function words that change the meaning of a question.
_RELATION_WORDS = frozenset("against without before after above below over under".split())


@dataclass(frozen=True, slots=True)
class _QuestionWords:
    """The words of a question, grouped by the place at which they must occur in a text that answers it.

    Attributes
    ----------
    predicate : set of str
        Words that the clause with the value must contain.
    rest : set of str
        Words that the sentence with the value must contain, unless it has a pronoun.
    counted : set of str
        The words after "how many", at least one of which must follow a count.
    """

    predicate: set[str]
    rest: set[str]
    counted: set[str]


@dataclass(frozen=True, slots=True)
class _Value:
    """A value, its sentence, and its span in the sentence."""

    text: str
    sentence: str
    start: int
    end: int
    is_date: bool


def extract_short_answer(question: str, quotes: Sequence[str]) -> str:
    """Return the date, share or count that a question asks for, verbatim from a quote; empty if it is ambiguous.

    A value is unambiguous if it is the only value of its kind in the quotes that is not in the question, and if its
    clause contains the main words of the question and no negation: "212 employees, most of them full time" does not
    answer how many work part time. In addition, a count must precede the noun that it counts. Words that limit a value,
    such as "at least", are returned with the value. Names are never returned, because a sentence often contains several
    names.

    >>> extract_short_answer("When was the bridge opened?", ["It was opened on 3 May 1931 by the mayor."])
    '3 May 1931'
    >>> extract_short_answer("How many arches does it have?", ["Its 12 arches rest on 11 piers."])
    '12'
    >>> extract_short_answer("When was the mill built?", ["Built in 1802, it burnt down in 1840."])
    ''
    """
    sentences = [" ".join(quote[start:end].split()) for quote in quotes for start, end in sentence_spans(quote)]
    kind, question_words = find_answer_kind(question), _group_words(question)
    if kind is Kind.DATE:
        values, before = list(_find_dates(question, sentences)), _BEFORE_A_DATE
    elif kind is Kind.PERCENT:
        values, before = list(_find_shares(question, sentences)), _BEFORE_A_COUNT
    elif kind is Kind.NUMBER:
        values, before = list(_find_counts(question, sentences, question_words)), _BEFORE_A_COUNT
    else:
        return ""
    if len({value.text for value in values}) != 1:
        return ""
    answers = {_add_bounds(value, before) for value in values if _is_answer(value, question_words, before)}
    return answers.pop() if len(answers) == 1 else ""


def has_limit(sentence: str, start: int, end: int) -> bool:
    """Return whether words such as "about" or "at least" limit a value, given its span in the sentence.

    >>> has_limit("It holds up to 500 guests.", 15, 18)
    True
    """
    return bool(_BEFORE_A_COUNT.search(sentence, 0, start) or _BOUND_AFTER.match(sentence, end))


def _group_words(question: str) -> _QuestionWords:
    words = split_tokens(question)
    content = [word for word in words if not word.is_function and word.word not in _MEASURES]
    telling = {word.word for word in words if word.word in _RELATION_WORDS}
    how_many = _HOW_MANY.search(question)
    counted = {word.lower() for word in how_many["counted"].split()} - STOP_WORDS if how_many else set()
    auxiliary = next((place for place, word in enumerate(words) if word.word in AUXILIARIES), None)
    if auxiliary is None:
        return _QuestionWords({word.word for word in content} | telling, set(), counted)
    before = {word.word for word in content if word.start < words[auxiliary].start}
    behind = {word.word for word in content} - before
    # If there is no predicate and no word before the auxiliary, the clause must contain all words after it.
    predicate = _find_predicate(words[auxiliary + 1 :]) or (behind if not before else set())
    rest = behind - predicate
    return _QuestionWords(before | predicate | telling, rest, counted)


def _find_predicate(words: Sequence[Token]) -> set[str]:
    """Return the verb or adjective that follows an auxiliary and its subject, judged by word order.

    If there is a second auxiliary, the predicate is the word after it: "sold" in "can it be sold". Otherwise the
    predicate is the last word in the first run of content words: "fall" in "did the bridge fall". "Does the bridge
    have" has no predicate.
    """
    first = next((place for place, word in enumerate(words) if not word.is_function), len(words))
    end = next((place for place, word in enumerate(words) if place > first and word.is_function), len(words))
    second = next((place for place, word in enumerate(words) if word.word in AUXILIARIES), len(words))
    if second == len(words):
        return {word.word for word in words[first:end][-1:]}
    behind = next((place for place in range(second, len(words)) if words[place].word not in AUXILIARIES), len(words))
    return {word.word for word in words[behind : behind + 1] if not word.is_function}


def _find_dates(question: str, sentences: Sequence[str]) -> Iterator[_Value]:
    if _OTHER_TIMES.search(question) or any(_UNCLEAR_DATES.search(sentence) for sentence in sentences):
        return
    matches = [
        (sentence, match) for sentence in sentences for match in _DATE.finditer(sentence) if match[1] not in question
    ]
    if len({match[1] for _, match in matches}) != 1:
        return
    if not _YEAR.search(question):
        matches = [(sentence, match) for sentence, match in matches if match[0] != match[1]] or matches
    for sentence, match in matches:
        group = 1 if _YEAR.search(question) else 0
        yield _Value(match[group], sentence, match.start(group), match.end(), is_date=True)


def _find_shares(question: str, sentences: Sequence[str]) -> Iterator[_Value]:
    for sentence in sentences:
        for number in find_new_numbers(sentence, question):
            if number.kind == "percent":
                yield _Value(number.text, sentence, number.start, number.end, is_date=False)


def _find_counts(question: str, sentences: Sequence[str], question_words: _QuestionWords) -> Iterator[_Value]:
    counted = {find_lemma(word) for word in question_words.counted}
    for sentence in sentences:
        for number in find_new_numbers(sentence, question):
            after = _WORD.findall(sentence[number.end :])[:_WITHIN_WORDS]
            if not is_date_part(number, sentence) and counted & {find_lemma(word.lower()) for word in after}:
                text = sentence[number.start : number.end].strip()
                yield _Value(text, sentence, number.start, number.end, is_date=False)


def _is_answer(value: _Value, question_words: _QuestionWords, before: re.Pattern[str]) -> bool:
    """Return whether the clause of a value contains the words that the question requires, and no negation."""
    # Remove the words that limit the value, because "not before 2024" is not a negation.
    clause = _find_clause(value)
    reading = AnnotatedText(clause.replace(_add_bounds(value, before), ""))
    if reading.negations or reading.denials or lacks_lemmas(_split_words(clause), question_words.predicate):
        return False
    words = _split_words(value.sentence)
    return bool(_PRONOUNS & set(words)) or not lacks_lemmas(words, question_words.rest)


def _find_clause(value: _Value) -> str:
    """Return the clause of a sentence that contains a value."""
    ends = [end for end in _CLAUSE_END.finditer(value.sentence) if end.end() <= value.start or end.start() >= value.end]
    starts = [0, *(end.end() for end in ends)]
    stops = [*(end.start() for end in ends), len(value.sentence)]
    place = next(place for place, stop in enumerate(stops) if stop >= value.end)
    beside = value.sentence[starts[place] : value.start], value.sentence[value.end : stops[place]]
    # "On 3 May 1931," belongs to the clause after it, and ", in 1931," to the clause before it.
    first = place - 1 if place and _is_adverbial(value, *beside) else place
    last = place + 1 if not place and len(stops) > 1 and _is_adverbial(value, *beside) else place
    return value.sentence[starts[first] : stops[last]]


def _is_adverbial(value: _Value, before: str, behind: str) -> bool:
    return value.is_date and all(word.is_function for word in split_tokens(f"{before} {behind}"))


def _split_words(text: str) -> list[str]:
    return [word.word for word in split_tokens(text)]


def _add_bounds(value: _Value, before: re.Pattern[str]) -> str:
    """Return a value with the words that limit it, such as "at least"."""
    bound, behind = before.search(value.sentence, 0, value.start), _BOUND_AFTER.match(value.sentence, value.end)
    return value.sentence[bound.start() if bound else value.start : behind.end() if behind else value.end].strip()
