"""From passages to an answer that they support, as a stream of events."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator, Sequence

import numpy as np

from rag_core.answering.alignment import TokenVectors
from rag_core.answering.generator import OpenAIGenerator
from rag_core.answering.prompt import is_refusal
from rag_core.answering.reader import Evidence, read
from rag_core.answering.verification import NOT_CITED, Verified, quoted, verify
from rag_core.errors import GeneratorError
from rag_core.retrieval import Timer
from rag_core.services.searching import AS_SET, Found, Searching
from rag_core.settings import Settings
from rag_core.types import (
    REFUSAL,
    Answer,
    AnswerState,
    AskEvent,
    Citation,
    Configuration,
    Delta,
    FloatArray,
    Gate,
    IntArray,
    Message,
    Restart,
    Stage,
)

LABELS = {
    "embed": "Reading the question",
    "dense": "Searching by meaning",
    "lexical": "Searching by words",
    "rerank": "Comparing passages",
    "cross_encoder": "Reading the best passages",
    "gate": "Checking whether they answer",
    "generate": "Writing the answer",
}


class Asking:
    """Answers questions from what a search finds.

    Parameters
    ----------
    settings : Settings
        Where they name a model, it writes the answers; else they are quoted.
    searching : Searching
    """

    def __init__(self, settings: Settings, searching: Searching) -> None:
        self._settings = settings
        self._searching = searching
        # One for all questions: it keeps its connection and what it has learnt of the endpoint.
        self._generator: OpenAIGenerator | None = None

    def close(self) -> None:
        """Give the connection to the endpoint back."""
        if self._generator is not None:
            self._generator.close()

    def ask(
        self,
        text: str,
        documents: Sequence[str] | None,
        top_k: int | None,
        history: Sequence[Message],
        configuration: Configuration = AS_SET,
    ) -> Iterator[AskEvent]:
        """Answer; see `Engine.ask`."""
        started, timer = time.perf_counter(), Timer()
        # Retrieval takes a fraction of a second, so its stages are told as soon as it is over.
        stages: list[str] = []
        found = self._searching.search(text, documents, top_k, timer, stages.append, configuration)
        for name in stages:
            yield Stage(name, LABELS[name], done=True)
        result = found.result
        if not result.gate.answerable:
            yield Delta(REFUSAL)
            yield self._finished(found, Verified(REFUSAL), "extractive", timer, started)
            return
        yield Stage("generate", LABELS["generate"])
        generator, notices = "extractive", list[str]()
        answer: Verified | None = None
        if self._settings.openai_model:
            generator = self._settings.generator_name
            answer = yield from self._generate(found, history, timer, started, notices)
        if answer is None:
            generator = "extractive"
            text, citations = self._quote(found)
            answer = Verified(text, citations, quoted(text, citations))
            for piece in re.findall(r"\S+\s*", text):
                timer.ms.setdefault("generate_first_token", 1000 * (time.perf_counter() - started))
                yield Delta(piece)
        yield Stage("generate", LABELS["generate"], done=True)
        yield self._finished(found, answer, generator, timer, started, notices)

    def _generate(
        self, found: Found, history: Sequence[Message], timer: Timer, started: float, notices: list[str]
    ) -> Generator[AskEvent, None, Verified | None]:
        """Stream the endpoint's answer, held against its sources; a refusal where they say none of it.

        With ``None`` the caller quotes instead: the endpoint failed, or named no source; the notices
        say which.
        """
        if self._generator is None:
            self._generator = OpenAIGenerator(self._settings)
        pieces: list[str] = []
        stream = self._generator.generate(found.result.question, found.result.passages, history)
        try:
            for piece in stream:
                timer.ms.setdefault("generate_first_token", 1000 * (time.perf_counter() - started))
                pieces.append(piece)
                yield Delta(piece)
        except GeneratorError as error:
            notices.append(f"{error} Quoted from the documents instead.")
            yield Restart(str(error))
            return None
        finally:
            stream.close()
        notices += stream.notices
        text = "".join(pieces)
        if is_refusal(text):
            return Verified(REFUSAL)
        verified = verify(text, found.result.passages, self._token_vectors_of(found))
        if verified.citations:
            return verified
        if all(statement.reason == NOT_CITED for statement in verified.statements):
            reason = "The model's answer named no source that supports it."
            notices.append(f"{reason} Quoted from the documents instead.")
            yield Restart(reason)
            return None
        reason = "Nothing that the model wrote was found in the sources that it named, so it was taken back."
        notices.append(reason)
        yield Restart(reason)
        yield Delta(REFUSAL)
        return Verified(REFUSAL)

    def _token_vectors_of(self, found: Found) -> TokenVectors:
        def vectors(text: str) -> tuple[FloatArray, IntArray]:
            embedded = found.ranked.generation.embedder.embed_question(text)
            return embedded.tokens, embedded.offsets

        return vectors

    def _quote(self, found: Found) -> tuple[str, tuple[Citation, ...]]:
        """The extractive answer."""
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
        return read(ranked.question, ranked.weights, evidence)

    def _finished(
        self,
        found: Found,
        answer: Verified,
        generator: str,
        timer: Timer,
        started: float,
        notices: Sequence[str] = (),
    ) -> Answer:
        timer.ms["total"] = 1000 * (time.perf_counter() - started)
        result = found.result
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
            notices=(*result.notices, *notices),
            statements=answer.statements,
        )
