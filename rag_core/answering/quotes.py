"""Write answers that consist of quotes from the passages; they replace or follow a language model's text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from rag_core.gate.features import ANSWERABLE_SCORE, contains_lookup
from rag_core.reading.answer_types import find_missing_value
from rag_core.reading.disagreements import Value, find_disagreement
from rag_core.reading.labelled_values import find_labelled_value
from rag_core.reading.reader import quote_sentences
from rag_core.reading.sentence_scoring import Evidence, SentenceScorer
from rag_core.reading.short_answers import extract_short_answer
from rag_core.text.identifiers import contains_identifier, find_identifiers, is_about_similar
from rag_core.text.words import ALPHANUMERIC
from rag_core.types import Citation, Passage
from rag_core.types.searches import SearchOutcome
from rag_core.verification.verifier import REFUSED, VerifiedAnswer, create_claims_from_quotes

# Minimum calibrated probability at which looked-up table rows are quoted instead of sentences.
LEAST_PROBABILITY = 0.5
# Returns the date of the document of a passage, as written in the document; empty if it is unknown.
FindDate = Callable[[Passage], str]


def quote_answer(outcome: SearchOutcome, notices: list[str], find_date: FindDate) -> VerifiedAnswer:
    """Return quotes of the table rows or sentences that answer a question; if there are none, return a refusal.

    If sentences give different values for what the question asks for, all of them are quoted. If the closest sentences
    lack the value that the question asks for, add a notice to ``notices``.
    """
    question, passages = outcome.result.question, _select_passages(outcome)
    if (found := _quote_lookup(outcome) or _quote_labelled_value(question, passages)) is not None:
        return found
    scoring = _score_sentences(outcome, passages)
    return _quote_disagreement(scoring, find_date) or _quote_sentences(question, scoring, notices)


def describe_disagreement(outcome: SearchOutcome, find_date: FindDate) -> str:
    """Return a sentence with the different values that the passages give for the question; empty if there are none."""
    return _describe(find_disagreement(_score_sentences(outcome, _select_passages(outcome))), find_date)


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


def _quote_lookup(outcome: SearchOutcome) -> VerifiedAnswer | None:
    """Return quotes of the looked-up table rows; ``None`` if no passage with such rows is likely to answer."""
    lookup = outcome.ranked.lookup
    if lookup is None:
        return None
    passages = [one for one in outcome.result.passages if contains_lookup(outcome.ranked, one)]
    best = max(passages, key=lambda one: one.scores.get(ANSWERABLE_SCORE) or 0.0, default=None)
    if best is None or (best.scores.get(ANSWERABLE_SCORE) or 0.0) < LEAST_PROBABILITY:
        return None
    text, citations = lookup.plan.quote([one for one in passages if one.version_id == best.version_id])
    return VerifiedAnswer(text, citations, create_claims_from_quotes(text, citations)) if citations else None


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


def _quote_sentences(question: str, scoring: SentenceScorer, notices: list[str]) -> VerifiedAnswer:
    text, citations = quote_sentences(scoring)
    quotes = [citation.quote for citation in citations]
    if missing := find_missing_value(question, quotes):
        notices.append(f"The question asks for {missing}, but the closest sentences contain none.")
        return REFUSED
    short = extract_short_answer(question, quotes)
    return VerifiedAnswer(text, citations, create_claims_from_quotes(text, citations), short) if citations else REFUSED


def _score_sentences(outcome: SearchOutcome, passages: Sequence[Passage]) -> SentenceScorer:
    """Return the scored sentences of those passages that were reranked."""
    evidence = []
    for passage in passages:
        tokens = outcome.tokens.get(int(passage.chunk_id))
        if tokens is not None and passage.scores.get("rerank") is not None:
            in_text = tokens.offsets[:, 0] >= 0
            evidence.append(Evidence(passage, tokens.vectors.to_float()[in_text], tokens.offsets[in_text]))
    return SentenceScorer(outcome.ranked.question, outcome.ranked.token_weights, evidence)


def _select_passages(outcome: SearchOutcome) -> list[Passage]:
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
