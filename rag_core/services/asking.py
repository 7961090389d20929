"""From passages to an answer that they support, as a stream of events."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np

from rag_core.answering.expected import wanting
from rag_core.answering.generator import OpenAIGenerator
from rag_core.answering.languages import differ
from rag_core.answering.prompt import is_refusal
from rag_core.answering.reader import Evidence, read
from rag_core.answering.refusals import begins_open
from rag_core.answering.rows import read_rows
from rag_core.answering.short import short_answer
from rag_core.answering.thinking import thought_taken_back
from rag_core.answering.verification import NOT_CITED, Verified, quoted, verify
from rag_core.errors import GeneratorError
from rag_core.retrieval import Timer
from rag_core.services.chunktokens import token_vectors
from rag_core.services.gating import SCORE, tells_lines
from rag_core.services.generators import Generators
from rag_core.services.queries import AS_SET, Found, Query
from rag_core.services.searching import Searching
from rag_core.services.spending import Gathered
from rag_core.services.strategies import Strategies
from rag_core.services.summarising import WRITING, Summarising
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

# The least calibrated probability at which rows of a statement are given rather than sentences.
LIKELY = 0.5


class Asking:
    """Answers questions from what a search finds, or by a summary.

    Parameters
    ----------
    searching : Searching
    strategies : Strategies
    summarising : Summarising
    generators : Generators
        Where there is a generator, it writes the answers; else they are quoted.
    """

    def __init__(
        self, searching: Searching, strategies: Strategies, summarising: Summarising, generators: Generators
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
            yield _finished(query, found.result, Verified(REFUSAL), "extractive", timer, started, gathered)
            return
        yield Stage("generate", WRITING)
        answer: Verified | None = None
        writer, generator = self._generators.current(), "extractive"
        if writer is not None:
            generator = writer.name
            answer = yield from self._generate(writer, query, found, history, timer, started, gathered)
        if answer is None:
            generator = "extractive"
            answer = self._rows(found) or self._quote(found, gathered)
            for piece in re.findall(r"\S+\s*", answer.text):
                timer.ms.setdefault("generate_first_token", 1000 * (time.perf_counter() - started))
                yield Delta(piece)
        yield Stage("generate", WRITING, done=True)
        yield _finished(query, found.result, answer, generator, timer, started, gathered)

    def _generate(
        self,
        writer: OpenAIGenerator,
        query: Query,
        found: Found,
        history: Sequence[Message],
        timer: Timer,
        started: float,
        gathered: Gathered,
    ) -> Generator[AskEvent, None, Verified | None]:
        """Stream the endpoint's answer, held against its sources; a refusal where they say none of it.

        With ``None`` the caller quotes instead: the endpoint failed, or named no source; the notices
        say which. A strict query raises the endpoint's error.
        """
        pieces: list[str] = []
        stream = writer.generate(found.result.question, found.result.passages, history)
        try:
            for piece in stream:
                timer.ms.setdefault("generate_first_token", 1000 * (time.perf_counter() - started))
                pieces.append(piece)
                yield Delta(piece)
        except GeneratorError as error:
            if query.strict:
                raise
            gathered.notices.append(f"{error} Quoted from the documents instead.")
            yield Restart(str(error))
            return None
        finally:
            stream.close()
            gathered.usage += stream.usage
        gathered.notices += stream.notices
        text = yield from thought_taken_back(pieces)
        if is_refusal(text):
            return Verified(REFUSAL)
        verified = verify(text, found.result.passages, token_vectors(found.ranked.generation))
        if verified.citations:
            return verified
        if begins_open(text):
            yield Restart("The model found no answer in the passages.")
            yield Delta(REFUSAL)
            return Verified(REFUSAL)
        if all(statement.reason == NOT_CITED for statement in verified.statements):
            reason = "The model's answer named no source that supports it."
            gathered.notices.append(f"{reason} Quoted from the documents instead.")
            yield Restart(reason)
            return None
        if differ(text, "\n".join(one.text for one in found.result.passages)):
            reason = "The model's answer is in another language than its sources and could not be checked."
            gathered.notices.append(f"{reason} Quoted from the documents instead.")
            yield Restart(reason)
            return None
        reason = "Nothing that the model wrote was found in the sources that it named, so it was taken back."
        gathered.notices.append(reason)
        yield Restart(reason)
        yield Delta(REFUSAL)
        return Verified(REFUSAL)

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
            return Verified(REFUSAL)
        short = short_answer(found.result.question, quotes)
        return Verified(text, citations, quoted(text, citations), short)


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
    state = AnswerState.ANSWERED if answer.citations else AnswerState.ABSTAINED
    if state is AnswerState.ABSTAINED and gate.answerable:
        answer, gate = Verified(REFUSAL), Gate(gate.score_name, gate.score, gate.threshold, False)
    return Answer(
        question=result.question,
        state=state,
        text=answer.text,
        citations=answer.citations,
        passages=result.passages,
        gate=gate,
        generator=generator,
        timings_ms={name: round(value, 2) for name, value in timer.ms.items()},
        notices=(*result.notices, *gathered.notices),
        statements=answer.statements,
        short=answer.short,
        usage=gathered.usage,
        strategy=query.configuration.strategy,
        steps=tuple(gathered.steps),
    )
