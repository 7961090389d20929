"""Choose what a quote contains besides the statement that answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_core.reading.statements import read_label, split_statements
from rag_core.text.grammar import split_tokens
from rag_core.text.sentences import LIST_MARKER

# Most words of a quote that is not certain to contain the answer, of a preceding sentence, and of a list.
CONTEXT_WORDS, MAX_ANTECEDENT_WORDS, MAX_LIST_WORDS = 45, 25, 100
# Least number of words, and least share of function words, of a sentence without its end.
UNFINISHED_WORDS, FUNCTION_SHARE = 8, 0.2
_REFERENCE = re.compile(r"(?:He|She|It|They|This|These|His|Her|Its|Their|That|Those|Such|The (?:former|latter))\b")
_SENTENCE_END = re.compile(r"[.!?。！？][\"”’»)\]]*$")


@dataclass(frozen=True, slots=True)
class QuoteSpan:
    """A span of a text; ``is_cut`` is true if its list goes on after it."""

    start: int
    end: int
    is_cut: bool = False


def select_quote(text: str, start: int, end: int, *, is_certain: bool, agrees: Callable[[str], bool]) -> QuoteSpan:
    """Return the span of a quote that contains a statement and the statements that it needs.

    A statement that begins with a pronoun needs the one before it. A statement that ends with a colon, is a question or
    precedes a list needs those after it. If it is not certain that the statement contains the answer, the sentence
    before it and further statements after it are quoted too, except if it is a line with a label.

    Parameters
    ----------
    text : str
        Text of a passage.
    start, end : int
        Span of the statement.
    is_certain : bool
    agrees : callable
        Returns whether a further statement may follow.
    """
    spans = split_statements(text)
    at = next((number for number, (first, last) in enumerate(spans) if first <= start < last), None)
    if at is None:
        return QuoteSpan(start, end)
    first = at - 1 if at and _needs_antecedent(text, spans, at) else at
    last, is_cut = _find_list_end(text, spans, at)
    whole = is_sentence(_get(text, spans[at]))
    is_certain = is_certain or bool(read_label(_get(text, spans[at]))[0])
    if not is_certain and at and first == at and whole and is_sentence(_get(text, spans[at - 1])):
        is_short = len(text[spans[at - 1][0] : spans[last][1]].split()) <= CONTEXT_WORDS
        first -= is_short and agrees(_get(text, spans[at - 1]))
    while not is_certain and last + 1 < len(spans):
        following = _get(text, spans[last + 1])
        goes_on = agrees(following) and (not whole or is_sentence(following))
        if not goes_on or len(text[spans[first][0] : spans[last + 1][1]].split()) > CONTEXT_WORDS:
            break
        last, is_cut = last + 1, False
    return QuoteSpan(start if first == at else spans[first][0], end if last == at else spans[last][1], is_cut)


def is_sentence(statement: str) -> bool:
    """Return whether a statement ends like a sentence, unlike a heading or a row of a table."""
    return bool(_SENTENCE_END.search(statement))


def is_statement(statement: str) -> bool:
    """Return whether a statement is a sentence, or an unfinished one, unlike a heading or a running header.

    >>> is_statement("So bit 13 stands for the code 83, and bit"), is_statement("Report of the mill 2024")
    (True, False)
    """
    words = split_tokens(statement)
    closed = sum(word.is_function for word in words)
    is_long = len(words) >= UNFINISHED_WORDS and closed >= FUNCTION_SHARE * len(words)
    return is_long or is_sentence(statement)


def refers_back(statement: str) -> bool:
    """Return whether a statement begins with a pronoun or determiner that refers to an earlier one."""
    return bool(_REFERENCE.match(statement))


def needs_continuation(statement: str) -> bool:
    """Return whether a statement is incomplete without the text after it: an introduction or a question."""
    return statement.endswith((":", "?", "？", "："))


def _needs_antecedent(text: str, spans: Sequence[tuple[int, int]], at: int) -> bool:
    before = _get(text, spans[at - 1])
    return bool(
        refers_back(_get(text, spans[at]))
        and _SENTENCE_END.search(before)
        and len(before.split()) <= MAX_ANTECEDENT_WORDS
    )


def _find_list_end(text: str, spans: Sequence[tuple[int, int]], at: int) -> tuple[int, bool]:
    """Return the last statement of the text that a statement announces, and whether the list goes on after it."""
    statement = _get(text, spans[at])
    is_open = needs_continuation(statement)
    if at + 1 == len(spans):
        return at, is_open
    if not is_open and (LIST_MARKER.match(statement) or not LIST_MARKER.match(_get(text, spans[at + 1]))):
        return at, False
    last = at + 1
    words = len(_get(text, spans[last]).split())
    while last + 1 < len(spans) and _is_item(text, spans, last + 1):
        words += len(_get(text, spans[last + 1]).split())
        if words > MAX_LIST_WORDS:
            return last, True
        last += 1
    return last, False


def _is_item(text: str, spans: Sequence[tuple[int, int]], number: int) -> bool:
    """Return whether a statement continues the list of the one before it."""
    one, before = _get(text, spans[number]), _get(text, spans[number - 1])
    marked = bool(LIST_MARKER.match(before))
    return (
        bool(LIST_MARKER.match(one)) if marked else not _SENTENCE_END.search(one) and not _SENTENCE_END.search(before)
    )


def _get(text: str, span: tuple[int, int]) -> str:
    return text[span[0] : span[1]]
