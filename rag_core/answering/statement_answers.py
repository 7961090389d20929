"""Decide which answers are given in short, before the statement that they come from."""

from __future__ import annotations

from rag_core.gate.yes_no_questions import is_yes_no_question
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.reading.answer_types import answers_kind
from rag_core.reading.quote_spans import refers_back
from rag_core.reading.short_answers import extend_answer, is_denied_elsewhere, select_count
from rag_core.reading.statement_reading import ReadStatement, contains_negation
from rag_core.text.languages import detect_language

# Minimum probability, and minimum log-odds of the span, of an answer that is given in short.
SHORT_PROBABILITY, SHORT_SPAN = 0.5, 0.0


def find_statement_answer(question: str, statement: ReadStatement) -> str:
    """Return the answer in a statement, with its article, if it is certain and of the kind asked for; else empty.

    The reading model knows English only, and a yes-no question is answered by the whole statement.
    """
    answer = _find_certain_answer(statement)
    if not answer or detect_language(question):
        return ""
    if is_yes_no_question(question) or statement.has_boxes:
        return statement.answer if statement.has_boxes else ""
    start = statement.text.find(answer)
    if contains_negation(question) and is_denied_elsewhere(statement.text[start + len(answer) :]):
        return ""
    short = select_count(question, extend_answer(statement.text, start, start + len(answer)), statement.text)
    return short if answers_kind(question, short) else ""


def is_certain(answer: ReadStatement | FoundAnswer) -> bool:
    """Return whether an answer is probable enough to be given in short."""
    # The value of tick boxes is known, so that only the probability of their label counts.
    has_span = answer.span_score >= SHORT_SPAN or (isinstance(answer, ReadStatement) and answer.has_boxes)
    return has_span and answer.probability >= SHORT_PROBABILITY


def _find_certain_answer(statement: ReadStatement) -> str:
    """Return the answer in a statement as the model reads it alone or in its excerpt, if it is probable enough.

    A statement such as "Its cost is 20 euros" does not say whose cost it gives, so that it is not read alone.
    """
    found = statement.found
    if is_certain(statement) and not refers_back(statement.text):
        return statement.answer
    return found.text if is_certain(found) and found.text in statement.text else ""
