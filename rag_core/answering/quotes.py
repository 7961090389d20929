"""Write answers that consist of quotes from the passages; they replace or follow a language model's text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.answer_text import cite_span, name_source, open_with_value, refuse_with_closest, write_quotes
from rag_core.answering.named_rows import quote_named_row
from rag_core.answering.page_reading import PageReader
from rag_core.answering.passage_selection import select_passages
from rag_core.answering.row_quotes import is_row_named, quote_row
from rag_core.answering.statement_answers import find_statement_answer, is_certain
from rag_core.answering.table_answers import answer_over_rows
from rag_core.gate.calibration import weigh_reading
from rag_core.gate.features import ON_TOPIC
from rag_core.reading.amendments import find_amendment
from rag_core.reading.answer_types import find_missing_value
from rag_core.reading.disagreements import Value, find_disagreement
from rag_core.reading.quote_spans import is_statement, select_quote
from rag_core.reading.statement_reading import ReadStatement, contains_negation
from rag_core.reading.statements import names_label
from rag_core.reading.table_questions import parse_table_question
from rag_core.text.identifiers import contains_only_similar_identifier, find_identifiers
from rag_core.text.words import find_content_stems
from rag_core.types import Citation, Gate, Passage
from rag_core.types.searches import SearchOutcome
from rag_core.verification.verifier import REFUSED, VerifiedAnswer

# A statement is close to the question if its passage is on the topic with at least this probability.
MIN_ON_TOPIC = 0.3
# Number of statements that are tried, since a statement may lie outside of all chunks.
MAX_TRIED = 3
# Most quotes of an answer and most words of more than one, and how much lower the score of a further statement may be.
MAX_QUOTES, MAX_WORDS, MARGIN = 3, 100, 4.0
# A statement that shares this part of the words of another one, but not its polarity, says the opposite.
MIN_SHARED = 0.3
AMENDED = "The document changes this statement elsewhere:"
# Returns the date of the document of a passage, as written in the document; empty if it is unknown.
FindDate = Callable[[Passage], str]


@dataclass(frozen=True, slots=True)
class Quotes:
    """An answer that consists of quotes.

    Attributes
    ----------
    answer : VerifiedAnswer
    passages : tuple of Passage
        The passages that were found, and others that the answer cites.
    gate : Gate
        The decision whether to answer, after the passages were read.
    """

    answer: VerifiedAnswer
    passages: tuple[Passage, ...]
    gate: Gate


def quote_answer(
    outcome: SearchOutcome, gate: Gate, reader: PageReader, notices: list[str], find_date: FindDate
) -> Quotes:
    """Return quotes of the table row or statement that answers a question.

    If there is none, or if the gate refuses the question after the passages were read, return a refusal with the
    closest statement. If documents give different values for what the question asks for, all of them are quoted. If the
    closest statement lacks the value that the question asks for, add a notice to ``notices``.
    """
    quotes = _quote(outcome, gate, reader, notices, find_date)
    cited = {citation.passage_rank for citation in quotes.answer.citations}
    found = len(outcome.result.passages)
    return replace(quotes, passages=tuple(one for one in quotes.passages if one.rank <= found or one.rank in cited))


def _quote(outcome: SearchOutcome, gate: Gate, reader: PageReader, notices: list[str], find_date: FindDate) -> Quotes:
    question, passages = outcome.result.question, select_passages(outcome)
    over_rows = parse_table_question(question)
    if over_rows is not None and (answered := answer_over_rows(over_rows, outcome, reader)) is not None:
        return Quotes(answered[0], answered[1].result.passages, gate.overrule())
    answers = reader.find_answers(question, passages)
    if over_rows is not None and over_rows.compares_rows:
        # "The greatest mass in class M" may be a value in the row of class M.
        keeps_named = over_rows.is_superlative
        answers = [one for one in answers if one.excerpt.row is None or (keeps_named and is_row_named(question, one))]
    readings = [(one.probability, one.passage) for one in answers]
    weighed = _weigh(gate, readings)
    if (named := quote_named_row(question, answers, outcome, reader)) is not None:
        return Quotes(named[0], named[1].result.passages, weighed.overrule())
    if answers and weighed.answerable:
        found = reader.add_passages(outcome, answers[0].passage, answers[0].place.start).result.passages
        if (row := quote_row(question, answers[0], found, reader)) is not None:
            return Quotes(row, found, weighed)
    statements = reader.read_statements(outcome, answers)
    # The model reads tick boxes only in single statements, in which they are words, and lines of forms best alone.
    alone = (one for one in statements if one.has_boxes or names_label(question, one.text))
    gate = _weigh(gate, [*readings, *((one.probability, one.passage) for one in alone)])
    if not gate.answerable:
        return Quotes(_refuse(statements), outcome.result.passages, gate)
    answer, cited = _quote_statements(outcome, reader, statements, notices, find_date)
    return Quotes(answer, cited, gate)


def describe_disagreement(outcome: SearchOutcome, reader: PageReader, find_date: FindDate) -> str:
    """Return a sentence with the different values that documents give for the question; empty if there are none."""
    question = outcome.result.question
    answers = reader.find_answers(question, select_passages(outcome))
    return _describe(find_disagreement(question, reader.read_statements(outcome, answers)), find_date)


def _describe(values: Sequence[Value], find_date: FindDate) -> str:
    if not values:
        return ""
    parts = []
    for value in values:
        passage = value.statement.passage
        date = find_date(passage)
        parts.append(f"{value.text} in {passage.document}, page {passage.page_label}{date and f' ({date})'}")
    return f"The sources differ: {'; '.join(parts)}."


def _weigh(gate: Gate, readings: Sequence[tuple[float, Passage]]) -> Gate:
    """Return the decision of the gate with the highest probability of an answer, given with their passages."""
    if not readings:
        return gate
    probability, passage = max(readings, key=lambda one: one[0])
    return weigh_reading(gate, probability, can_raise=not passage.lacks_name)


def _quote_statements(
    outcome: SearchOutcome,
    reader: PageReader,
    statements: Sequence[ReadStatement],
    notices: list[str],
    find_date: FindDate,
) -> tuple[VerifiedAnswer, tuple[Passage, ...]]:
    """Return the quote of the statement that answers best, or of all that differ, and the passages."""
    question = outcome.result.question
    differing = find_disagreement(question, statements)
    if differing:
        return _quote_disagreement(outcome, reader, differing, find_date)
    for statement in statements[:MAX_TRIED]:
        outcome = reader.add_passages(outcome, statement.passage, statement.start)
        passages = outcome.result.passages
        citation = cite_span(statement.passage.page_key, statement.start, statement.end, passages)
        if citation is not None:
            break
    else:
        return REFUSED, outcome.result.passages
    amendment = find_amendment(statement, statements)
    if amendment is not None:
        outcome = reader.add_passages(outcome, amendment.passage, amendment.start)
        changed = cite_span(amendment.passage.page_key, amendment.start, amendment.end, outcome.result.passages)
        if changed is not None:
            return write_quotes([(citation, False), (changed, False)], AMENDED), outcome.result.passages
    quotes = _quote_with_context(question, statement, citation, statements, passages)
    if missing := find_missing_value(question, [quote.quote for quote, _ in quotes]):
        notices.append(f"The question asks for {missing}, but the closest sentences contain none.")
        return _refuse(statements), passages
    short = find_statement_answer(question, statement)
    source = name_source(outcome, citation)
    lead = open_with_value(short, [source]) if short else source and f"{source}:"
    return write_quotes(quotes, lead, short), passages


def _quote_disagreement(
    outcome: SearchOutcome, reader: PageReader, differing: Sequence[Value], find_date: FindDate
) -> tuple[VerifiedAnswer, tuple[Passage, ...]]:
    statements = [value.statement for value in differing]
    for one in statements:
        outcome = reader.add_passages(outcome, one.passage, one.start)
    passages = outcome.result.passages
    citations = [cite_span(one.passage.page_key, one.start, one.end, passages) for one in statements]
    quotes = [(citation, False) for citation in citations if citation is not None]
    return write_quotes(quotes, _describe(differing, find_date)), passages


def _quote_with_context(
    question: str,
    best: ReadStatement,
    citation: Citation,
    statements: Sequence[ReadStatement],
    passages: Sequence[Passage],
) -> list[tuple[Citation, bool]]:
    """Return the quote of the best statement and, if it is uncertain, of others of its page, each with `is_cut`."""
    passage = next(one for one in passages if one.rank == citation.passage_rank)
    denies, identifiers = contains_negation(question), find_identifiers(question)

    def agrees(text: str) -> bool:
        if contains_only_similar_identifier(text, identifiers):
            return False
        return contains_negation(text) == denies or not (denies or _is_alike(best.text, text))

    start, end = citation.start - passage.start, citation.end - passage.start
    certain = is_certain(best)
    span = select_quote(passage.first_page_text, start, end, is_certain=certain, agrees=agrees)
    quotes = [(Citation.of(passage, span.start, span.end), span.is_cut)]
    for other in () if certain else statements:
        if len(quotes) == MAX_QUOTES or other.score < best.score - MARGIN:
            break
        is_quoted = any(one.start < other.end and other.start < one.end for one, _ in quotes)
        is_whole = is_statement(other.text) or other.found.excerpt.row is not None
        if other.passage.page_key != passage.page_key or is_quoted or not is_whole or not agrees(other.text):
            continue
        found = cite_span(other.passage.page_key, other.start, other.end, passages)
        words = sum(len(quote.quote.split()) for quote, _ in quotes)
        if found is not None and words + len(found.quote.split()) <= MAX_WORDS:
            quotes.append((found, False))
    return quotes


def _is_alike(text: str, other: str) -> bool:
    """Return whether a text has many of the content words of another one."""
    words, others = map(find_content_stems, (text, other))
    return len(words & others) >= MIN_SHARED * len(others)


def _refuse(statements: Sequence[ReadStatement]) -> VerifiedAnswer:
    close = (one for one in statements if (one.passage.scores.get(ON_TOPIC) or 0.0) >= MIN_ON_TOPIC)
    return refuse_with_closest(next(close, None))
