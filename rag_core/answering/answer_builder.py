"""Build the text of an answer from statements with citations, and the `Answer` from the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rag_core.answering.trace import AnswerTrace
from rag_core.types.answers import Answer, AnswerState, Citation, Claim
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Passage, SearchResult
from rag_core.types.searches import Query
from rag_core.verification.verified_answer import VerifiedAnswer


@dataclass(slots=True)
class AnswerBuilder:
    """Builds the text of an answer from statements and citation markers; callers may add other text to ``text``."""

    text: str = ""
    citations: dict[Citation, None] = field(default_factory=dict)
    statements: list[Claim] = field(default_factory=list)

    def add_statement(self, statement: str, *citations: Citation) -> None:
        """Add a supported statement and the markers of its citations."""
        self.statements.append(Claim(len(self.text), len(self.text) + len(statement), True))
        self.text += statement
        if citations:
            self.cite(*citations)

    def cite(self, *citations: Citation) -> None:
        """Add a space and the markers of citations to the text; a marker that several citations share is added once."""
        self.text += " " + "".join(dict.fromkeys(f"[{one.marker}]" for one in citations))
        self.citations.update(dict.fromkeys(citations))

    def build(self) -> VerifiedAnswer:
        """Return the text with its citations and statements."""
        return VerifiedAnswer(self.text, tuple(self.citations), tuple(self.statements))


def cite_span(page: PageKey, start: int, end: int, passages: Sequence[Passage]) -> Citation | None:
    """Return the citation of a span of a page; ``None`` if the start of the span is in no passage.

    A passage that contains the whole span is preferred to a passage that contains only the start of the span. In the
    latter case, the citation ends with the passage.
    """
    on_page = [one for one in passages if one.page_key == page]
    whole = (one for one in on_page if one.start <= start and end <= one.start + len(one.first_page_text))
    with_start = (one for one in on_page if one.start <= start < one.start + len(one.first_page_text))
    passage = next(whole, None) or next(with_start, None)
    if passage is None:
        return None
    return Citation.of(passage, start - passage.start, min(end - passage.start, len(passage.first_page_text)))


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary of documents, or an explanation why there is none.

    Attributes
    ----------
    result : SearchResult
        Contains the passages that the summary cites.
    verified : VerifiedAnswer
        The checked summary, or a refusal.
    generator : str
        The name of the model that wrote it; ``extractive`` for sentences of the documents.
    """

    result: SearchResult
    verified: VerifiedAnswer
    generator: str = "extractive"


def build_answer(
    query: Query, result: SearchResult, answer: VerifiedAnswer, generator: str, trace: AnswerTrace
) -> Answer:
    """Return the answer to a query, given its text, the search result and the trace of how it was written.

    For a refusal, the gate of the answer says that the question is not answerable.
    """
    trace.timer.ms["total"] = trace.elapsed_ms
    gate = replace(result.gate, answerable=False) if answer.refused else result.gate
    return Answer(
        question=result.question,
        state=AnswerState.ABSTAINED if answer.refused else AnswerState.ANSWERED,
        text=answer.text,
        citations=answer.citations,
        passages=result.passages,
        gate=gate,
        generator=generator,
        timings_ms={name: round(value, 2) for name, value in trace.timer.ms.items()},
        notices=(*result.notices, *trace.notices),
        statements=answer.statements,
        short=answer.short,
        quotes_start=answer.quotes_start,
        usage=trace.usage,
        strategy=query.configuration.strategy,
        steps=tuple(trace.steps),
        as_of=query.as_of_label,
        more=answer.more,
    )
