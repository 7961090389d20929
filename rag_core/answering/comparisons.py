"""Answer comparisons without a language model: look each part up separately, and give one row for each document."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rag_core.answering.answer_text import AnswerBuilder
from rag_core.answering.named_documents import NamedDocuments, contains_document_name
from rag_core.answering.search import Searcher
from rag_core.answering.trace import AnswerTrace
from rag_core.reading.comparable_values import find_extreme, parse_value
from rag_core.reading.comparison_questions import Comparison, is_explicit_comparison, parse_comparison
from rag_core.reading.document_words import is_generic_document_word, is_kind_of_document
from rag_core.runtime.stores import Stores
from rag_core.text.normalize import normalize
from rag_core.text.words import tokenize
from rag_core.types import Answer, AnswerState, Citation, DocumentInfo, Gate, SearchResult, Stage
from rag_core.types.retrieval import Passage, Timer
from rag_core.types.searches import Query, SearchOutcome
from rag_core.verification.verifier import REFUSED, VerifiedAnswer

# Most documents that are looked at for a question about each document.
MAX_DOCUMENTS = 12
NOT_STATED = "Not stated"
_HOW = re.compile(r"^How \w+ ")
_HEADER = ("Document", "Answer", "Source")


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """An answer from several documents, and the result with the passages that it cites."""

    answer: VerifiedAnswer
    result: SearchResult


# Yields stages, and returns an answer, or ``None`` if the question asks for another kind of answer.
ExtractiveSteps: TypeAlias = Generator[Stage, None, ExtractiveAnswer | None]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a comparison: its name and period, and the documents to search; ``None`` for those of the question."""

    name: str
    documents: tuple[DocumentInfo, ...] | None
    period: str = ""


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """The answer for a part; ``None`` if its documents do not state it."""

    part: Part
    answer: Answer | None

    @property
    def label(self) -> str:
        """The document, after the name of the part if the document's name does not show it."""
        named = {one.name: None for one in self.part.documents or ()}
        names = list(dict.fromkeys(one.document for one in self.answer.citations) if self.answer else named)
        document = names[0] if len(names) == 1 else ""
        if document and contains_document_name(document, self.part.name):
            return document
        return f"{self.part.name} ({document})" if document and self.part.name else document or self.part.name

    @property
    def value(self) -> str:
        """The short answer, or the first quote if there is none."""
        if self.answer is None:
            return NOT_STATED
        return self.answer.short or " ".join(self.answer.citations[0].quote.split())


class Comparer:
    """Answers comparisons by one search for each document or thing that a question compares.

    Parameters
    ----------
    stores : Stores
    searcher : Searcher
    answer : callable
        Returns the answer to a query without a language model, given the outcome of its search.
    """

    def __init__(self, stores: Stores, searcher: Searcher, answer: Callable[[Query, SearchOutcome], Answer]) -> None:
        self._stores = stores
        self._searcher = searcher
        self._answer = answer

    def compare(self, query: Query, outcome: SearchOutcome, trace: AnswerTrace) -> ExtractiveSteps:
        """Yield the searches as stages; return the answer, or ``None`` if nothing is compared.

        If no part has an answer, the question is refused if it is explicitly a comparison.
        """
        question = query.text
        comparison = parse_comparison(question)
        if comparison is None and not is_explicit_comparison(question):
            return None
        ranked = _rank_documents(outcome)
        if len(ranked) < 2 and not is_explicit_comparison(question):
            return None
        documents = NamedDocuments(self._stores, query.documents, ranked, as_of=query.as_of)
        comparison = comparison or parse_comparison(question, documents.find_mentions(question))
        if comparison is None:
            return None
        parts = self._select_parts(comparison, documents, question, ranked, trace)
        rows = []
        for number, part in enumerate(parts, 1):
            label = f"Looking at {part.name or (part.documents or ())[0].name} ({number} of {len(parts)})"
            yield Stage(f"part_{number}", label)
            rows.append(self._look_up(comparison, part, query, trace))
            yield Stage(f"part_{number}", label, done=True)
        answered = [row.answer for row in rows if row.answer is not None]
        if len(answered) < 2 and not any(part.documents for part in parts):
            # Without documents of their own, the names may be no more than words of an ordinary question.
            return None
        if not answered:
            refusal = replace(outcome.result, gate=replace(outcome.result.gate, answerable=False))
            return ExtractiveAnswer(REFUSED, refusal) if parts and comparison.is_explicit else None
        gate = max((one.gate for one in answered), key=lambda gate: gate.score)
        return _write(comparison, rows, outcome.result, gate)

    def _select_parts(
        self,
        comparison: Comparison,
        documents: NamedDocuments,
        question: str,
        ranked: Sequence[str],
        trace: AnswerTrace,
    ) -> list[Part]:
        """Return the parts to look up; none if the question does not compare documents or things in them."""
        if not comparison.names:
            found = documents.find_kind(comparison.noun, by_cover=is_kind_of_document(comparison.noun))
            found = documents.documents if is_generic_document_word(comparison.noun) else found
            if len(found) > MAX_DOCUMENTS:
                trace.notices.append(
                    f"{MAX_DOCUMENTS} of {len(found)} documents were compared. Choose documents to compare others."
                )
            return [Part("", (one,)) for one in _select_documents(found, ranked)] if len(found) > 1 else []
        periods = dict(zip(comparison.names, comparison.periods, strict=False))
        matches = {
            name: documents.find(name, periods.get(name, question), by_cover=comparison.is_explicit)
            for name in comparison.names
        }
        counts: dict[str, int] = {}
        for one in (one for found in matches.values() for one in found):
            counts[one.document_id] = counts.get(one.document_id, 0) + 1
        # A lease may name the street of another lease, so a document that only one name matches comes first.
        own = {name: [one for one in found if counts[one.document_id] == 1] or found for name, found in matches.items()}
        apart = len({tuple(one.document_id for one in found) for found in own.values()}) == len(own)
        if apart and all(own.values()):
            return [Part(name, tuple(found), periods.get(name, "")) for name, found in own.items()]
        return [Part(name, None, periods.get(name, "")) for name in comparison.names] if comparison.is_explicit else []

    def _look_up(self, comparison: Comparison, part: Part, query: Query, trace: AnswerTrace) -> ComparisonRow:
        # Among several documents, such as reports of several years, the name shows which passages are meant.
        within = part.documents is not None and len(part.documents) == 1
        period = part.period
        text = comparison.question_within(period) if within else comparison.question_about(part.name, period)
        scope = query.documents if part.documents is None else tuple(one.document_id for one in part.documents)
        where = f" in {part.documents[0].name}" if part.documents and within else ""
        trace.steps.append(f"Searched{where} for “{text}”")
        sub_query = replace(query, text=text, documents=scope, asked="")
        answer = self._answer(sub_query, self._searcher.search(sub_query, Timer()))
        found = answer.state is AnswerState.ANSWERED and (bool(answer.short) or _shares_words(text, answer))
        if part.documents is None and not any(_cites_name(answer, one, part.name) for one in answer.citations):
            found = False
        return ComparisonRow(part, answer if found else None)


def _shares_words(question: str, answer: Answer) -> bool:
    """Return whether the first quote has most of the content words of a question, without its adjective and numbers."""
    words = tokenize(_HOW.sub("", question))
    asked = {word.stem for word in words if word.content and not word.text[0].isdigit()}
    said = {word.stem for one in answer.citations[:1] for word in tokenize(one.quote)}
    return bool(said) and 2 * len(asked & said) > len(asked)


def _rank_documents(outcome: SearchOutcome) -> list[str]:
    """Return the ids of the documents that a search found, best first."""
    rows, order = outcome.ranked.rows, outcome.ranked.ranking.order
    return list(dict.fromkeys(rows[chunk_id].document_id for chunk_id in order if chunk_id in rows))


def _select_documents(documents: Sequence[DocumentInfo], ranked: Sequence[str]) -> list[DocumentInfo]:
    """Return the documents in their order; if there are too many, only the best ranked ones."""
    if len(documents) <= MAX_DOCUMENTS:
        return list(documents)
    rank = {document_id: position for position, document_id in enumerate(ranked)}
    best = sorted(documents, key=lambda one: rank.get(one.document_id, len(rank)))[:MAX_DOCUMENTS]
    return [one for one in documents if one in best]


def _cites_name(answer: Answer, citation: Citation, name: str) -> bool:
    """Return whether the cited passage or the name of its document contains a name."""
    passages = [one for one in answer.passages if one.rank == citation.passage_rank]
    return any(normalize(name) in normalize(f"{one.document} {one.heading} {one.text}") for one in passages)


def _write(comparison: Comparison, rows: Sequence[ComparisonRow], result: SearchResult, gate: Gate) -> ExtractiveAnswer:
    """Return the answer as a table in Markdown, below the row that the question asks for."""
    passages: list[Passage] = []
    cited = [_cite(row, passages) for row in rows]
    # The citations have the order of the rows, even if the text before the table names another row first.
    answer, short = AnswerBuilder(citations=dict.fromkeys(filter(None, cited))), ""
    values = [parse_value(row.answer.short, row.answer.text) if row.answer else None for row in rows]
    best = find_extreme(values, comparison.direction) if comparison.direction else None
    if best is not None and (citation := cited[best]):
        short = rows[best].part.name or rows[best].label
        answer.add_statement(f"{short}: {rows[best].value}", citation)
        answer.text += "\n\n"
    answer.text += f"| {' | '.join(_HEADER)} |\n| --- | --- | --- |"
    for row, citation in zip(rows, cited, strict=True):
        answer.text += f"\n| {_escape(row.label)} | "
        if citation:
            answer.add_statement(_escape(row.value), citation, after=f" | page {citation.page_label}")
        answer.text += " |" if citation else f"{_escape(row.value)} | |"
    return ExtractiveAnswer(answer.build(short), replace(result, passages=tuple(passages), gate=gate.overrule()))


def _cite(row: ComparisonRow, passages: list[Passage]) -> Citation | None:
    """Add the passage of a row's value to ``passages``, and return the citation of the value."""
    if row.answer is None:
        return None
    short = row.answer.short
    quotes = row.answer.citations
    best = next((one for one in quotes if short and short in " ".join(one.quote.split())), quotes[0])
    passage = next(one for one in row.answer.passages if one.rank == best.passage_rank)
    known = next((one for one in passages if one.chunk_id == passage.chunk_id), None)
    rank = known.rank if known else len(passages) + 1
    if known is None:
        passages.append(replace(passage, rank=rank))
    return replace(best, marker=rank, passage_rank=rank)


def _escape(text: str) -> str:
    return text.replace("|", "\\|")
