"""Write answers that consist of quotes from the passages; they replace or follow a language model's text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from rag_core.answering.page_reading import PageReader
from rag_core.gate.calibration import weigh_reading
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.reading.answer_types import find_missing_value
from rag_core.reading.disagreements import Value, find_disagreement
from rag_core.reading.labelled_values import find_labelled_value
from rag_core.reading.reader import quote_sentences
from rag_core.reading.sentence_scoring import Evidence, SentenceScorer
from rag_core.reading.short_answers import extend_answer
from rag_core.text.identifiers import contains_identifier, find_identifiers, is_about_similar
from rag_core.text.words import ALPHANUMERIC
from rag_core.types import Citation, Claim, Gate, Passage
from rag_core.types.searches import SearchOutcome
from rag_core.verification.verifier import REFUSED, VerifiedAnswer, create_claims_from_quotes

# Minimum probability, and minimum log-odds of the span, of an answer that is given in short.
SHORT_PROBABILITY, SHORT_SPAN = 0.5, 0.0
# Returns the date of the document of a passage, as written in the document; empty if it is unknown.
FindDate = Callable[[Passage], str]


@dataclass(frozen=True, slots=True)
class Quotes:
    """An answer that consists of quotes.

    Attributes
    ----------
    answer : VerifiedAnswer
    passages : tuple of Passage
        All passages that the answer may cite.
    gate : Gate
        The decision whether to answer, after the passages were read.
    """

    answer: VerifiedAnswer
    passages: tuple[Passage, ...]
    gate: Gate


def quote_answer(
    outcome: SearchOutcome, gate: Gate, reader: PageReader, notices: list[str], find_date: FindDate
) -> Quotes:
    """Return quotes of the table rows or sentences that answer a question.

    If there are no such quotes, or if the gate refuses the question after the passages were read, return a refusal. If
    sentences give different values for what the question asks for, all of them are quoted. If the closest sentences
    lack the value that the question asks for, add a notice to ``notices``.
    """
    question, passages = outcome.result.question, select_passages(outcome)
    if gate.answerable and (found := _quote_labelled_value(question, passages)) is not None:
        return Quotes(found, outcome.result.passages, gate)
    number = len(outcome.result.passages)
    answers = reader.find_answers(question, passages)
    best = max(answers, key=lambda one: one.probability, default=None)
    if best is not None:
        gate = weigh_reading(gate, best.probability, can_raise=not best.passage.lacks_name)
    if not gate.answerable:
        return Quotes(REFUSED, outcome.result.passages, gate)
    if answers:
        outcome = reader.add_passages(outcome, answers[0])
        passages = [*passages, *outcome.result.passages[number:]]
        if (row := _quote_row(answers[0], passages)) is not None:
            return Quotes(row, outcome.result.passages, gate)
    scoring = _score_sentences(outcome, passages)
    lead = _select_lead(scoring, answers)
    answer = _quote_disagreement(scoring, find_date) or _quote_sentences(question, scoring, lead, notices)
    return Quotes(answer, outcome.result.passages, gate)


def describe_disagreement(outcome: SearchOutcome, find_date: FindDate) -> str:
    """Return a sentence with the different values that the passages give for the question; empty if there are none."""
    return _describe(find_disagreement(_score_sentences(outcome, select_passages(outcome))), find_date)


def _describe(values: Sequence[Value], find_date: FindDate) -> str:
    if not values:
        return ""
    parts = []
    for value in values:
        passage = value.sentence.passage
        date = find_date(passage)
        parts.append(f"{value.text} in {passage.document}, page {passage.page_label}{date and f' ({date})'}")
    return f"The sources differ: {'; '.join(parts)}."


def _quote_disagreement(scoring: SentenceScorer, find_date: FindDate) -> VerifiedAnswer | None:
    values = find_disagreement(scoring)
    if not values:
        return None
    sentences = [value.sentence for value in values]
    citations = tuple(Citation.of(one.passage, one.start, one.end) for one in sentences)
    quotes = [f"{' '.join(one.quote.split())} [{one.marker}]" for one in citations]
    text = " ".join([_describe(values, find_date), *quotes])
    return VerifiedAnswer(text, citations, create_claims_from_quotes(text, citations))


def _quote_labelled_value(question: str, passages: Sequence[Passage]) -> VerifiedAnswer | None:
    """Return the line of a form with the value that the question asks for; ``None`` if there is none."""
    found = find_labelled_value(question, passages)
    if found is None:
        return None
    citation = Citation.of(found.passage, found.start, found.end)
    quote = " ".join(citation.quote.split())
    lead = "" if quote.endswith(found.value) else f"{found.value[:1].upper()}{found.value[1:]}: "
    text = f"{lead}{quote} [{citation.marker}]"
    return VerifiedAnswer(text, (citation,), create_claims_from_quotes(text, (citation,)), found.value)


def _quote_row(answer: FoundAnswer, passages: Sequence[Passage]) -> VerifiedAnswer | None:
    """Return the value in a table row with its labels; ``None`` if the answer is in no row or not probable enough."""
    excerpt, cell = answer.excerpt, answer.place.cell
    if excerpt.row is None or excerpt.table is None or cell is None or answer.probability < SHORT_PROBABILITY:
        return None
    for passage in passages:
        start, end = excerpt.start - passage.start, excerpt.end - passage.start
        if passage.page_key == answer.passage.page_key and start >= 0 and end <= len(passage.first_page_text):
            citation = Citation.of(passage, start, end)
            labels = [excerpt.table.row_label(excerpt.row), excerpt.table.column_header(cell.column)]
            named = ", ".join(label for label in labels if label and label != cell.text)
            unit = f" {excerpt.table.unit}" if excerpt.table.unit else ""
            statement = f"{named}: {cell.text}{unit}" if named else f"{cell.text}{unit}"
            text = f"{statement} [{citation.marker}]"
            return VerifiedAnswer(text, (citation,), (Claim(0, len(statement), True),), cell.text)
    return None


def _select_lead(scoring: SentenceScorer, answers: Sequence[FoundAnswer]) -> FoundAnswer | None:
    """Make the sentence with the best answer the lead of the quotes; return this answer, or ``None``."""
    for answer in answers:
        for sentence in scoring.sentences:
            start, end = sentence.place
            if sentence.passage.page_key == answer.passage.page_key and start <= answer.place.start < end:
                scoring.best = sentence
                return answer
    return None


def _quote_sentences(
    question: str, scoring: SentenceScorer, lead: FoundAnswer | None, notices: list[str]
) -> VerifiedAnswer:
    text, citations = quote_sentences(scoring)
    quotes = [citation.quote for citation in citations]
    if missing := find_missing_value(question, quotes):
        notices.append(f"The question asks for {missing}, but the closest sentences contain none.")
        return REFUSED
    short = _find_short_answer(lead, quotes)
    return VerifiedAnswer(text, citations, create_claims_from_quotes(text, citations), short) if citations else REFUSED


def _find_short_answer(lead: FoundAnswer | None, quotes: Sequence[str]) -> str:
    """Return the answer that the model found, with its article, if it is probable and quoted; else an empty string."""
    if lead is None or lead.probability < SHORT_PROBABILITY or lead.span_score < SHORT_SPAN:
        return ""
    quote = next((one for one in (" ".join(quote.split()) for quote in quotes) if lead.text in one), "")
    start = quote.find(lead.text)
    return extend_answer(quote, start, start + len(lead.text)) if quote else ""


def _score_sentences(outcome: SearchOutcome, passages: Sequence[Passage]) -> SentenceScorer:
    """Return the scored sentences of those passages that were reranked."""
    evidence = []
    for passage in passages:
        tokens = outcome.tokens.get(int(passage.chunk_id))
        if tokens is not None and passage.scores.get("rerank") is not None:
            in_text = tokens.offsets[:, 0] >= 0
            evidence.append(Evidence(passage, tokens.vectors.to_float()[in_text], tokens.offsets[in_text]))
    return SentenceScorer(outcome.ranked.question, outcome.ranked.token_weights, evidence)


def select_passages(outcome: SearchOutcome) -> list[Passage]:
    """Return the passages without those about a code or a document that only resembles the one in the question.

    If no passage contains the code of the question and the first one is about a similar code, there is no answer.
    """
    question = outcome.result.question
    identifiers = find_identifiers(question)
    passages = _without_other_namesakes(outcome.result.passages, question)
    if any(contains_identifier(one.text, identifiers) for one in passages):
        return [one for one in passages if not is_about_similar(one.text, identifiers)]
    codes = [one for one in identifiers if not one.isdecimal()]
    return [] if passages and is_about_similar(passages[0].text, codes) else passages


def _without_other_namesakes(passages: Sequence[Passage], question: str) -> list[Passage]:
    """Return the passages without those of documents whose namesake fits the question better.

    Of ``2021/statement.pdf`` and ``2022/statement.pdf``, a question with "2022" is about the second, although both
    documents may contain that number.
    """
    asked = set(ALPHANUMERIC.findall(question.casefold()))
    named = {one.document: len(asked & _folder_words(one.document)) for one in passages}
    most: dict[str, int] = {}
    for document, number in named.items():
        name = PurePosixPath(document).name
        most[name] = max(number, most.get(name, 0))
    return [one for one in passages if named[one.document] == most[PurePosixPath(one.document).name]]


def _folder_words(document: str) -> set[str]:
    return set(ALPHANUMERIC.findall(str(PurePosixPath(document).parent).casefold()))
