"""From passages to an answer that they support, as a stream of events."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag_core.answering.call_budget import Gathered
from rag_core.answering.search import Searching
from rag_core.answering.strategies import Strategies
from rag_core.answering.summary import WRITING, Summarising
from rag_core.errors import GeneratorError
from rag_core.finance.statement_rows import read_rows
from rag_core.gate.features import SCORE, tells_lines
from rag_core.llm.generator import OpenAIGenerator
from rag_core.llm.reasoning import thought_taken_back
from rag_core.reading.answer_types import wanting
from rag_core.reading.reader import Evidence, read
from rag_core.reading.short_answers import short_answer
from rag_core.retrieval.chunk_tokens import token_vectors
from rag_core.retrieval.queries import AS_SET, Found, Query
from rag_core.runtime.language_models import LanguageModels
from rag_core.types import (
    REFUSAL,
    Answer,
    AnswerState,
    AskEvent,
    Configuration,
    Delta,
    Gate,
    Message,
    Restart,
    Scope,
    SearchResult,
    Stage,
)
from rag_core.types.retrieval import Timer
from rag_core.verification.attribution import NO_WORDS, NOT_CHECKED, draft_answer, states_anything
from rag_core.verification.verifier import REFUSED, Verified, quoted

# The least calibrated probability at which rows of a statement are given rather than sentences.
LIKELY = 0.5
# Below this probability that the passages answer, a language model gets the rules with which it refuses more readily.
ALL_BUT_CERTAIN = 0.97
NOTHING_FOUND = "Nothing in this answer was found in the sources."
CLOSEST_BELOW = "The sentences that come closest are quoted below it."
QUOTES_BELOW = "Quotes from the documents follow what was written."
QUOTED_INSTEAD = "Quoted from the documents instead."


@dataclass(frozen=True, slots=True)
class _Draft:
    """What a language model wrote; ``problem`` says why quotes have to be added, and is empty if they do not."""

    answer: Verified
    problem: str = ""

    @property
    def nothing_found(self) -> bool:
        """Whether none of its statements has anything to do with the sources."""
        statements = self.answer.statements
        return bool(statements) and all(one.mark == "not_found" for one in statements)


class Asking:
    """Answers questions from what a search finds, or by a summary.

    Parameters
    ----------
    searching : Searching
    strategies : Strategies
    summarising : Summarising
    generators : LanguageModels
        If there is a generator, it writes the answers; otherwise they are quoted.
    """

    def __init__(
        self,
        searching: Searching,
        strategies: Strategies,
        summarising: Summarising,
        generators: LanguageModels,
    ) -> None:
        self._searching = searching
        self._strategies = strategies
        self._summarising = summarising
        self._generators = generators

    def ask(
        self,
        text: str,
        scope: Scope,
        top_k: int | None,
        history: Sequence[Message],
        configuration: Configuration = AS_SET,
    ) -> Generator[AskEvent, None, None]:
        """Answer; see `Engine.ask`."""
        started, timer, gathered = time.perf_counter(), Timer(), Gathered()
        query = self._searching.query(text, scope, top_k, configuration)
        if configuration.strategy == "summary":
            summary = yield from self._summarising.summary(query, timer, gathered)
            if summary is not None:
                yield _finished(query, summary.result, summary.verified, summary.generator, timer, started, gathered)
                return
            configuration = replace(configuration, strategy="plain")
        found = yield from self._strategies.search(replace(query, configuration=configuration), timer)
        yield found.result
        yield from self._answered(query, found, history, timer, started, gathered)

    def answer(self, query: Query, found: Found) -> Answer:
        """Answer from what was found already."""
        events = self._answered(query, found, (), Timer(), time.perf_counter(), Gathered())
        return next(event for event in events if isinstance(event, Answer))

    def _answered(
        self,
        query: Query,
        found: Found,
        history: Sequence[Message],
        timer: Timer,
        started: float,
        gathered: Gathered,
    ) -> Generator[AskEvent, None, None]:
        gathered.steps += found.result.steps
        gathered.usage += found.result.usage
        if not found.result.gate.answerable:
            yield Delta(REFUSAL)
            yield _finished(query, found.result, REFUSED, "extractive", timer, started, gathered)
            return
        yield Stage("generate", WRITING)
        draft = _Draft(Verified(""))
        writer = self._generators.active()
        if writer is not None:
            draft = yield from self._generate(writer, query, found, history, timer, started, gathered)
        answer, result = draft.answer, found.result
        if (draft.problem or draft.nothing_found or writer is None) and not (query.strict and writer):
            gate = self._quotes_gate(query, found) if draft.problem else result.gate
            if not answer.text:
                result = replace(result, gate=gate)
            answer = self._with_quotes(draft, found, gate, gathered)
            for piece in re.findall(r"\s*\S+", answer.text[len(draft.answer.text) :]):
                timer.ms.setdefault("generate_first_token", 1000 * (time.perf_counter() - started))
                yield Delta(piece)
        yield Stage("generate", WRITING, done=True)
        generator = writer.name if writer is not None and draft.answer.text else "extractive"
        yield _finished(query, result, answer, generator, timer, started, gathered)

    def _generate(
        self,
        writer: OpenAIGenerator,
        query: Query,
        found: Found,
        history: Sequence[Message],
        timer: Timer,
        started: float,
        gathered: Gathered,
    ) -> Generator[AskEvent, None, _Draft]:
        """Stream the model's answer, and attribute its claims; a strict query raises the endpoint's error."""
        pieces: list[str] = []
        doubtful = max((one.scores.get(SCORE) or 0.0 for one in found.passages), default=0.0) < ALL_BUT_CERTAIN
        stream = writer.generate(found.result.question, found.result.passages, history, doubtful=doubtful)
        problem = ""
        try:
            for piece in stream:
                timer.ms.setdefault("generate_first_token", 1000 * (time.perf_counter() - started))
                pieces.append(piece)
                yield Delta(piece)
        except GeneratorError as error:
            if query.strict:
                raise
            problem = str(error)
        finally:
            stream.close()
            gathered.usage += stream.usage
        gathered.notices += stream.notices
        text = (yield from thought_taken_back(pieces)).strip()
        if not states_anything(text):
            if pieces:
                yield Restart(NO_WORDS)
            return _Draft(REFUSED if query.strict else Verified(""), problem or NO_WORDS)
        passages = found.result.passages
        answer = draft_answer(text, found.result.question, passages, token_vectors(found.ranked.generation))
        if answer.unchecked:
            gathered.notices.append(NOT_CHECKED)
        return _Draft(answer, problem)

    def _quotes_gate(self, query: Query, found: Found) -> Gate:
        """The gate for an answer that is quoted because the model failed."""
        return self._searching.quotes_gate(found.passages, query.configuration.threshold)

    def _with_quotes(self, draft: _Draft, found: Found, gate: Gate, gathered: Gathered) -> Verified:
        """The draft with quotes below it, if the gate allows; quotes alone, or a refusal, if nothing was written."""
        written = draft.answer
        quotes = REFUSED
        if gate.answerable:
            quotes = self._rows(found) or self._quote(found, gathered)
        if draft.problem:
            how = QUOTES_BELOW if written.text else QUOTED_INSTEAD
            gathered.notices.append(draft.problem if quotes.refused else f"{draft.problem} {how}")
        elif draft.nothing_found:
            gathered.notices.append(NOTHING_FOUND if quotes.refused else f"{NOTHING_FOUND} {CLOSEST_BELOW}")
        if not written.text:
            return quotes
        if quotes.refused:
            return written
        start = len(written.text) + 2
        statements = [replace(one, start=one.start + start, end=one.end + start) for one in quotes.statements]
        return replace(
            written,
            text=f"{written.text}\n\n{quotes.text}",
            citations=(*written.citations, *quotes.citations),
            statements=(*written.statements, *statements),
            quotes_start=start,
        )

    def _rows(self, found: Found) -> Verified | None:
        """The rows of the statements asked about, where one of those is likely to answer, however close prose comes."""
        looked_up, passages = found.ranked.financials, found.result.passages
        if looked_up is None or looked_up.wanted.of_a_cause:
            return None
        telling = [one for one in passages if tells_lines(found.ranked, one)]
        best = max(telling, key=lambda one: one.scores.get(SCORE) or 0.0, default=None)
        if best is None or (best.scores.get(SCORE) or 0.0) < LIKELY:
            return None
        own = [one for one in telling if one.version_id == best.version_id]
        text, citations = read_rows(looked_up.wanted.lines, own)
        return Verified(text, citations, quoted(text, citations)) if citations else None

    def _quote(self, found: Found, gathered: Gathered) -> Verified:
        """The sentences that answer; nothing, and a notice, where they cannot."""
        ranked = found.ranked
        passages = [passage for passage in found.result.passages if passage.scores.get("rerank") is not None]
        rows = [ranked.rows[int(passage.chunk_id)] for passage in passages]
        stored = ranked.tokens.vectors([row.id for row in rows])
        evidence = []
        for passage, row, spans in zip(passages, rows, ranked.tokens.spans(rows), strict=True):
            chunk = stored[row.id]
            own = spans[:, 0] >= 0
            vectors = chunk.tokens.astype(np.float32) * chunk.scales[:, None]
            evidence.append(Evidence(passage, vectors[own], spans[own]))
        text, citations = read(ranked.question, ranked.weights, evidence)
        quotes = [citation.quote for citation in citations]
        if wanted := wanting(found.result.question, quotes):
            gathered.notices.append(f"The question asks for {wanted}, and the sentences that come closest tell none.")
            return REFUSED
        short = short_answer(found.result.question, quotes)
        return Verified(text, citations, quoted(text, citations), short) if citations else REFUSED


def _finished(
    query: Query,
    result: SearchResult,
    answer: Verified,
    generator: str,
    timer: Timer,
    started: float,
    gathered: Gathered,
) -> Answer:
    timer.ms["total"] = 1000 * (time.perf_counter() - started)
    gate = result.gate
    if answer.refused:
        gate = replace(gate, answerable=False)
    return Answer(
        question=result.question,
        state=AnswerState.ABSTAINED if answer.refused else AnswerState.ANSWERED,
        text=answer.text,
        citations=answer.citations,
        passages=result.passages,
        gate=gate,
        generator=generator,
        timings_ms={name: round(value, 2) for name, value in timer.ms.items()},
        notices=(*result.notices, *gathered.notices),
        statements=answer.statements,
        short=answer.short,
        quotes_start=answer.quotes_start,
        usage=gathered.usage,
        strategy=query.configuration.strategy,
        steps=tuple(gathered.steps),
    )
