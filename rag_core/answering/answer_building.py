"""Build the finished answer from the search result, the verified text and the trace."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_core.answering.trace import AnswerTrace
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.retrieval import SearchResult
from rag_core.types.searches import Query
from rag_core.verification.verified_answer import VerifiedAnswer


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary: its checked text, the result with the passages that it cites, and the name of its model."""

    result: SearchResult
    verified: VerifiedAnswer
    generator: str = "extractive"


def build_answer(
    query: Query, result: SearchResult, answer: VerifiedAnswer, generator: str, trace: AnswerTrace
) -> Answer:
    """Return the finished answer; for a refusal, ``answerable`` of its gate is false."""
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
