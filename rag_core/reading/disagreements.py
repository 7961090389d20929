"""Find passages that give different values for the fact that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

from rag_core.reading.answer_types import Kind, find_answer_kind, find_new_numbers, is_date_part
from rag_core.reading.short_answers import has_limit
from rag_core.reading.statement_reading import ReadStatement
from rag_core.text.dates import WHOLE_YEAR
from rag_core.text.grammar import ARTICLES, PREPOSITIONS, Token, find_content_lemmas, split_tokens
from rag_core.text.numbers import Number, numbers_equal
from rag_core.text.words import find_lemma

# Smallest share of the question's words in the first sentence that the other sentence must contain as well.
MIN_COVERAGE = 0.75
# Longest sequence of added words that counts as a qualifier, such as "additional" and "for children".
MAX_QUALIFIER_WORDS = 2
_VALUE = "#"
# Words that change what a value means. Sentences that differ in one of them do not state the same fact.
_DECISIVE = frozenset(
    "not no never only last next this previous current each every first second by per from until since may might could "
    "would should will used formerly previously originally expect expects expected plan plans planned target forecast "
    "estimate estimates estimated aim aims propose proposes proposed".split()
)
_PAST, _PRESENT = frozenset("was were had did".split()), frozenset("is are has does".split())
_YEAR = re.compile(WHOLE_YEAR)
_NOT_QUANTITY = re.compile(r"one|\d+(?:st|nd|rd|th)", re.IGNORECASE)
# Kinds of answer that are no value, so that two sentences of such an answer can be true at the same time.
_NOT_VALUES = frozenset({Kind.NAME, Kind.REASON})


@dataclass(frozen=True, slots=True)
class Value:
    """A number or date in a statement; ``text`` is the value as written, with its unit."""

    statement: ReadStatement
    text: str
    numbers: tuple[Number, ...]
    unit: str
    start: int
    end: int

    @property
    def document_id(self) -> str:
        return self.statement.passage.document_id

    def differs(self, other: Value) -> bool:
        """Return whether two values with the same unit differ.

        Both have numbers of the same kinds, and at least one number of this value equals no number of the other, not
        even in rounded form.
        """
        kinds = [number.kind for number in self.numbers]
        if self.unit != other.unit or sorted(kinds) != sorted(number.kind for number in other.numbers):
            return False
        return not all(any(_are_equal(one, two) for two in other.numbers) for one in self.numbers)


def _are_equal(one: Number, other: Number) -> bool:
    """Return whether two numbers are equal, or one may be the rounded form of the other."""
    pairs = ((one, other), (other, one))
    return any(numbers_equal(replace(said, hedged=not said.unscaled), source) for said, source in pairs)


def find_disagreement(question: str, statements: Sequence[ReadStatement]) -> list[Value]:
    """Return the value of the statement that answers best, and each different value of the same fact elsewhere.

    Two statements give the same fact if they contain the same words of the question, name no different years, and
    differ in no qualifier: "12 euros for adults" and "6 euros for children" do not disagree. Only statements of
    different documents with exactly one value are compared, because values in one document are those of different
    items.

    Parameters
    ----------
    question : str
    statements : sequence of ReadStatement
        Best first.

    Returns
    -------
    list of Value
        The value of the best statement first; empty if no statement disagrees with it.
    """
    value = _find_value(question, statements[0]) if statements else None
    if value is None:
        return []
    found = [value]
    for statement in statements[1:]:
        other = _find_value(question, statement)
        if (
            other is not None
            and all(one.differs(other) and one.document_id != other.document_id for one in found)
            and _covers(question, value, other)
            and not _has_other_years(question, value, other)
            and not _has_other_item(question, value, other)
        ):
            found.append(other)
    return found if len(found) > 1 else []


def _find_value(question: str, statement: ReadStatement) -> Value | None:
    """Return the only value in a statement of the kind that the question asks for; ``None`` if there are several."""
    kind, text = find_answer_kind(question), statement.text
    if kind in _NOT_VALUES:
        return None
    numbers = find_new_numbers(text, question)
    dates = [number for number in numbers if is_date_part(number, text)]
    if kind is Kind.DATE:
        is_one_date = 1 <= len(dates) <= 3 and dates[-1].end - dates[0].start <= len("31st of September, 2000")
        return _create_value(statement, dates) if is_one_date else None
    others = [number for number in numbers if number not in dates and _is_quantity(number, text)]
    return _create_value(statement, others) if len(others) == 1 else None


def _is_quantity(number: Number, text: str) -> bool:
    """Return whether a number is no ordinal, no "one", and no section label at the start of the statement."""
    return number.start > len(text) - len(text.lstrip()) and not _NOT_QUANTITY.fullmatch(number.text)


def _create_value(statement: ReadStatement, numbers: Sequence[Number]) -> Value | None:
    """Return the value of these numbers; ``None`` if a word such as "about" or "at least" limits it."""
    start, end = min(one.start for one in numbers), max(one.end for one in numbers)
    if any(number.hedged for number in numbers) or has_limit(statement.text, start, end):
        return None
    unit, shown_end = numbers[0].currency, end
    after = next((token for token in split_tokens(statement.text) if token.start >= end), None)
    if len(numbers) == 1 and not unit and after is not None and not statement.text[end : after.start].strip():
        unit = find_lemma(after.word)
        shown_end = end if after.is_function else after.end
    return Value(statement, " ".join(statement.text[start:shown_end].split()), tuple(numbers), unit, start, end)


def _covers(question: str, value: Value, other: Value) -> bool:
    """Return whether the other sentence contains most words of the question that the first one contains."""
    said = find_content_lemmas(split_tokens(question)) & set(_words(value))
    return bool(said) and len(said & set(_words(other))) >= MIN_COVERAGE * len(said)


def _has_other_years(question: str, value: Value, other: Value) -> bool:
    """Return whether the two sentences are about different years, or the other source is not about the asked year."""
    years, other_years = _find_years(value), _find_years(other)
    if years and other_years and not years & other_years:
        return True
    asked = set(_YEAR.findall(question))
    passage = other.statement.passage
    covered = other_years | set(_YEAR.findall(f"{passage.document} {passage.heading} {passage.text}"))
    return bool(asked and covered and not asked & covered)


def _find_years(value: Value) -> set[str]:
    text = value.statement.text
    return set(_YEAR.findall(f"{text[: value.start]} {text[value.end :]}"))


def _has_other_item(question: str, value: Value, other: Value) -> bool:
    """Return whether one sentence has a qualifier that the other lacks or replaces by another one."""
    functions, other_functions = _function_words(value), _function_words(other)
    if (functions ^ other_functions) & _DECISIVE or _has_other_tense(functions, other_functions):
        return True
    asked = find_content_lemmas(split_tokens(question))
    words, other_words = _words(value), _words(other)
    for change, first, last, other_first, other_last in SequenceMatcher(
        None, words, other_words, autojunk=False
    ).get_opcodes():
        removed, added = words[first:last], other_words[other_first:other_last]
        if change == "replace" and _VALUE not in removed + added:
            return True
        if change == "delete" and _is_qualifier(value, removed) and not asked & set(removed):
            return True
        if change == "insert" and _is_qualifier(other, added):
            return True
    return False


def _has_other_tense(words: Collection[str], others: Collection[str]) -> bool:
    """Return whether one sentence is only in the past and the other only in the present."""
    tenses = [(bool(_PAST & set(one)), bool(_PRESENT & set(one))) for one in (words, others)]
    return set(tenses) == {(True, False), (False, True)}


def _is_qualifier(value: Value, words: Sequence[str]) -> bool:
    """Return whether some words follow a preposition, as in "for children", or directly precede another content word.

    An example of the latter is "additional" in "each additional child".
    """
    if _VALUE in words or len(words) > MAX_QUALIFIER_WORDS:
        return False
    tokens = [token for token in _tokens(value) if token.word not in ARTICLES]
    for before, token in pairwise(tokens):
        if before.word in PREPOSITIONS and find_lemma(token.word) == words[0]:
            return True
        is_before_value = value.start <= token.start < value.end
        if find_lemma(before.word) == words[-1] and not token.is_function and not is_before_value:
            return True
    return False


def _function_words(value: Value) -> frozenset[str]:
    return frozenset(token.word for token in _tokens(value) if token.is_function or token.word in _DECISIVE)


def _tokens(value: Value) -> list[Token]:
    """Return the words of the line or paragraph with the value; a heading above it is not part of the fact."""
    text = value.statement.text
    first = text.rfind("\n\n", 0, value.start) + 1
    last = text.find("\n\n", value.end)
    return [one for one in split_tokens(text) if one.start >= first and (last < 0 or one.start < last)]


def _words(value: Value) -> list[str]:
    """Return the content words of a sentence as lemmas, with `_VALUE` in place of the value."""
    words: list[str] = []
    for token in _tokens(value):
        if value.start <= token.start < value.end:
            if _VALUE not in words:
                words.append(_VALUE)
        elif not token.is_function:
            words.append(find_lemma(token.word))
    return words
