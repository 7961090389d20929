"""Decide which answers are given in short, before the statement that they come from."""

from __future__ import annotations

from rag_core.gate.yes_no_questions import is_yes_no_question
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.reading.answer_types import answers_kind
from rag_core.reading.quote_spans import is_sentence, refers_back
from rag_core.reading.short_answers import (
    ends_before_noun,
    extend_answer,
    extend_definition,
    has_superlative,
    is_denied_elsewhere,
    is_figure_asked_for,
    is_of_other_period,
    is_of_other_year,
    is_whole,
    matches_plural,
    names_measure,
)
from rag_core.reading.statement_reading import ReadStatement, contains_negation
from rag_core.reading.statements import names_label, read_label
from rag_core.reading.value_selection import has_other_period, select_count, select_part, select_respective
from rag_core.text.languages import detect_language
from rag_core.text.names import lacks_name

# Minimum probability, and minimum log-odds of the span, of an answer that is given in short.
SHORT_PROBABILITY, SHORT_SPAN = 0.5, 0.0
# With a lower probability, a statement must answer when read alone, and contain the noun for the figure that is asked
# for and all names of the question that are in the title of its document.
SURE_PROBABILITY = 0.9


def find_statement_answer(question: str, statement: ReadStatement) -> str:
    """Return the answer in a statement, with its article, if it is certain and of the kind asked for; else empty.

    The value after a label is certain if the question contains the words of the label. The reading model knows English
    only, and a yes-no question is answered by the whole statement.
    """
    if statement.has_boxes:
        return _find_certain_answer(statement) and statement.answer
    if not is_yes_no_question(question) and names_label(question, statement.text):
        return "" if statement.passage.lacks_name else read_label(statement.text)[1]
    answer = _find_certain_answer(statement)
    if not answer or detect_language(question):
        return ""
    if is_yes_no_question(question) or not has_superlative(question, statement.text):
        return ""
    text, excerpt = statement.text, statement.found.excerpt
    title = statement.passage.full_heading
    context = f"{title} {excerpt.text}"
    # The cells of a row without their headers do not show which of them is asked for, and a heading states nothing.
    is_heading = not is_sentence(text) and not read_label(text)[0]
    is_of_other = is_of_other_period(question, context) or is_of_other_year(question, text, statement.passage.document)
    if excerpt.row is not None or is_heading or is_of_other:
        return ""
    is_sure = statement.probability >= SURE_PROBABILITY
    if not is_sure and not names_measure(question, context if refers_back(text) else text):
        return ""
    start = text.find(answer)
    if contains_negation(question) and is_denied_elsewhere(text[start + len(answer) :]):
        return ""
    short = select_count(question, extend_answer(text, start, start + len(answer)), text)
    short = select_part(question, short, text)
    if ends_before_noun(question, answer, text) or lacks_name(question, excerpt.text, title):
        return ""
    short = select_respective(question, extend_definition(question, short, text), text)
    if has_other_period(question, short, text):
        return ""
    is_kind = answers_kind(question, short) and matches_plural(question, short) and is_whole(short, text)
    return short if is_kind and is_figure_asked_for(question, short, text) else ""


def is_certain(answer: ReadStatement | FoundAnswer) -> bool:
    """Return whether an answer is probable enough to be given in short."""
    # The value of tick boxes is known, so that only the probability of their label counts.
    has_span = answer.span_score >= SHORT_SPAN or (isinstance(answer, ReadStatement) and answer.has_boxes)
    return has_span and answer.probability >= (SURE_PROBABILITY if answer.needs_title else SHORT_PROBABILITY)


def _find_certain_answer(statement: ReadStatement) -> str:
    """Return the answer in a statement as the model reads it alone or in its excerpt, if it is probable enough.

    A statement such as "Its cost is 20 euros" does not say whose cost it gives, so that it is not read alone. If
    another statement does not answer the question when read alone, the answer in its excerpt counts only from
    `SURE_PROBABILITY` on.
    """
    found, needs_excerpt = statement.found, refers_back(statement.text)
    if is_certain(statement) and not needs_excerpt:
        return statement.answer
    answers_alone = needs_excerpt or statement.probability >= SHORT_PROBABILITY
    is_enough = is_certain(found) and (answers_alone or found.probability >= SURE_PROBABILITY)
    return found.text if is_enough and found.text in statement.text else ""
