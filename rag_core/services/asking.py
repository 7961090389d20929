"""From a question to passages, and from passages to an answer, as a stream of events."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from rag_core.answering.alignment import TokenVectors
from rag_core.answering.generator import OpenAIGenerator
from rag_core.answering.injection import reads_like_instructions
from rag_core.answering.prompt import is_refusal
from rag_core.answering.reader import Evidence, read
from rag_core.answering.verification import NOT_CITED, Verified, quoted, verify
from rag_core.errors import GeneratorError, QuestionError, StoreUnavailable
from rag_core.index import STOPWORDS
from rag_core.retrieval import (
    GATED,
    CrossEncoderReranker,
    LateInteractionReranker,
    Pipeline,
    Ranking,
    Timer,
    calibration,
    decide,
    fold,
    fresher_first,
    token_weights,
)
from rag_core.services.gating import judged
from rag_core.services.generations import Generation, Generations
from rag_core.services.models import Models
from rag_core.services.stores import Stores
from rag_core.settings import Settings
from rag_core.store.codec import unpack_sentences
from rag_core.types import (
    REFUSAL,
    Answer,
    AnswerState,
    AskEvent,
    ChunkVectors,
    Citation,
    Configuration,
    Delta,
    FloatArray,
    Gate,
    IntArray,
    Message,
    Passage,
    Question,
    RankBy,
    Restart,
    SearchResult,
    Stage,
    embedded_text,
)

# A document that was just added is found by its words; so many of its chunks are embedded while the
# reader waits, best first, so that they can be ranked and gated like the others (about 40 ms each).
EMBED_WHILE_ASKED = 8
# How often a question is asked of an index that changes under it.
TRIES = 3
# What settings and Admin say.
AS_SET = Configuration()
LABELS = {
    "embed": "Reading the question",
    "dense": "Searching by meaning",
    "lexical": "Searching by words",
    "rerank": "Comparing passages",
    "cross_encoder": "Reading the best passages",
    "gate": "Checking whether they answer",
    "generate": "Writing the answer",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A search's result with what an answer, or an explanation, needs beyond it.

    ``weights`` says how much each token of the question counts; ``ranking`` holds every chunk that a
    stage found, ``rows`` those of them that may be seen.
    """

    result: SearchResult
    question: Question
    weights: FloatArray
    ranking: Ranking
    rows: Mapping[int, Any]
    generation: Generation


class Asking:
    """Answers questions over what is indexed.

    Parameters
    ----------
    threshold, top_k : callable
        The present values; they can be changed while the app runs.
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        models: Models,
        generations: Generations,
        threshold: Callable[[], float],
        top_k: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models
        self._generations = generations
        self._threshold = threshold
        self._top_k = top_k
        # One for all questions: it keeps its connection and what it has learnt of the endpoint.
        self._generator: OpenAIGenerator | None = None

    def close(self) -> None:
        """Give the connection to the endpoint back."""
        if self._generator is not None:
            self._generator.close()

    def search(
        self,
        text: str,
        documents: Sequence[str] | None,
        top_k: int | None,
        timer: Timer,
        on_stage: Callable[[str], None] = lambda name: None,
        configuration: Configuration = AS_SET,
    ) -> Found:
        """Retrieve, rerank and gate; see `Engine.search`."""
        started = time.perf_counter()
        question_text = self.checked(text)
        scope = self._stores.library.resolve(documents) if documents else None
        top_k = top_k or configuration.top_k
        for _ in range(TRIES - 1):
            found = self._ranked(question_text, scope, top_k, timer, on_stage, configuration)
            if found is not None:
                break
            on_stage = _unheard
        else:
            found = self._ranked(question_text, scope, top_k, timer, on_stage, configuration, last=True)
        assert found is not None
        generation, question, weights, ranking, rows = found
        on_stage("gate")
        wanted = top_k or self._top_k()
        folded = fold([rows[chunk_id] for chunk_id in ranking.order if chunk_id in rows], max(wanted, GATED))
        passages = tuple(
            passage_of(rank, rows[chunk_id], ranking.scores, [rows[one] for one in repeats])
            for rank, (chunk_id, repeats) in enumerate(folded.items(), 1)
        )
        vectors = self.token_vectors(list(folded)[:GATED], generation)
        passages = judged(question, weights, passages, rows, vectors, generation)
        threshold = self._threshold() if configuration.threshold is None else configuration.threshold
        gate = decide(passages[:GATED], threshold, self._settings.gate)
        passages = passages[:wanted]
        timer.ms["total"] = 1000 * (time.perf_counter() - started)
        result = SearchResult(question_text, passages, gate, dict(timer.ms), self._notices(scope, generation))
        return Found(result, question, weights, ranking, rows, generation)

    def _ranked(
        self,
        question_text: str,
        scope: Sequence[str] | None,
        top_k: int | None,
        timer: Timer,
        on_stage: Callable[[str], None],
        configuration: Configuration,
        *,
        last: bool = False,
    ) -> tuple[Generation, Question, FloatArray, Ranking, Mapping[int, Any]] | None:
        """Chunks in their order, with the rows of those that may be seen.

        ``None``, unless this is the ``last`` try, where documents or the whole index were replaced
        or removed meanwhile: what was found is no longer there, and what is there was not searched.
        """
        on_stage("embed")
        generation = self._generations.active()
        with timer.measure("embed"):
            question = generation.embedder.embed_question(question_text)
        weights = token_weights(question, self._stores.words.idf, STOPWORDS)
        reranker = LateInteractionReranker(
            lambda chunk_ids: self.token_vectors(chunk_ids, generation), lambda _: weights
        )
        rank_by = configuration.rank_by or self._settings.rank_by
        pipeline = Pipeline(
            self._stores.dense(generation.generation_id),
            self._stores.words,
            reranker,
            candidates=max(configuration.candidates or self._settings.candidates, top_k or 0),
            rrf_k=configuration.rrf_k or self._settings.rrf_k,
            rank_by=rank_by,
            cross_encoder=(
                CrossEncoderReranker(self._models.cross_encoder(), self._texts) if rank_by == "cross_encoder" else None
            ),
            cross_encoder_top=self._settings.rerank_top,
        )
        try:
            ranking = pipeline.run(question, self._versions(scope), timer, on_stage)
        except StoreUnavailable:
            if last or self._generations.active().generation_id == generation.generation_id:
                raise
            return None
        rows = self._stores.library.visible_chunks(ranking.order)
        if len(rows) < len(ranking.order) and not last:
            return None
        ranking = self._fresher_first(ranking, rank_by, rows)
        return generation, question, weights, ranking, rows

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
        found = self.search(text, documents, top_k, timer, stages.append, configuration)
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
            embedded = found.generation.embedder.embed_question(text)
            return embedded.tokens, embedded.offsets

        return vectors

    def _quote(self, found: Found) -> tuple[str, tuple[Citation, ...]]:
        """The extractive answer."""
        passages = [passage for passage in found.result.passages if passage.scores.get("rerank") is not None]
        stored = self.token_vectors([int(passage.chunk_id) for passage in passages], found.generation)
        # A document may have been deleted since it was found.
        passages = [passage for passage in passages if int(passage.chunk_id) in stored]
        embedder = found.generation.embedder
        prefixes = [embedded_text(found.rows[int(passage.chunk_id)].prefix, "") for passage in passages]
        offsets = embedder.offsets([prefix + passage.text for prefix, passage in zip(prefixes, passages, strict=True)])
        evidence = []
        for passage, prefix, spans in zip(passages, prefixes, offsets, strict=True):
            chunk = stored[int(passage.chunk_id)]
            own = spans[:, 0] >= len(prefix)
            vectors = chunk.tokens.astype(np.float32) * chunk.scales[:, None]
            evidence.append(Evidence(passage, vectors[own], spans[own] - len(prefix)))
        return read(found.question, found.weights, evidence)

    def token_vectors(self, chunk_ids: Sequence[int], generation: Generation) -> Mapping[int, ChunkVectors]:
        """Token vectors by chunk: those that are stored, and of the first few others, made now."""
        stored = self._stores.vectors.tokens(chunk_ids)
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in stored][:EMBED_WHILE_ASKED]
        if missing:
            rows = self._stores.library.visible_chunks(missing)
            present = [chunk_id for chunk_id in missing if chunk_id in rows]
            texts = [embedded_text(rows[one].prefix, rows[one].text) for one in present]
            for chunk_id, made in zip(present, generation.embedder.embed(texts), strict=True):
                sentences = unpack_sentences(rows[chunk_id].sentences)
                stored[chunk_id] = ChunkVectors(made.tokens, made.scales, sentences)
        return stored

    def _fresher_first(self, ranking: Ranking, rank_by: RankBy, rows: Mapping[int, Any]) -> Ranking:
        """The ranking with newer documents preferred, where the settings say so.

        Only the rerankers' scores are of one size: what is much beside one stage's is nothing beside
        another's.
        """
        if not self._settings.freshness or rank_by not in ("rerank", "cross_encoder"):
            return ranking
        added = {
            one.document_id: one.added_at
            for one in self._stores.library.documents(sorted({row.document_id for row in rows.values()}))
        }
        now = datetime.now(UTC)
        ages = {
            chunk_id: (now - added[row.document_id]).total_seconds() / 86_400
            for chunk_id, row in rows.items()
            if row.document_id in added
        }
        return fresher_first(ranking, rank_by, ages, self._settings.freshness, self._settings.freshness_half_life_days)

    def _texts(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        rows = self._stores.library.visible_chunks(chunk_ids)
        return {one: embedded_text(row.prefix, row.text) for one, row in rows.items()}

    def _versions(self, scope: Sequence[str] | None) -> list[str] | None:
        """Versions to search: ``None`` where all that the stores hold may be seen."""
        if scope is None and not self._stores.library.hidden_versions():
            return None
        return list(self._stores.library.visible_versions(scope))

    def _notices(self, scope: Sequence[str] | None, generation: Generation) -> tuple[str, ...]:
        notices = []
        if partly := self._stores.library.found_by_words_only(scope):
            subject = "1 document is" if partly == 1 else f"{partly} documents are"
            notices.append(f"{subject} still being indexed and found by words only so far.")
        identity = generation.embedder.identity
        if self._settings.gate == "answerable" and not calibration().fits(identity.weights, identity.projection):
            notices.append(
                f"Whether to answer was not calibrated for the embedding model {identity.name}, so it may be decided "
                "wrongly. Set RAG_GATE to rerank and RAG_THRESHOLD to what suits your documents."
            )
        return tuple(notices)

    def checked(self, text: str) -> str:
        """The question as it is asked, white space folded; raises `QuestionError`."""
        # Half surrogate pairs come out of broken JSON and terminals; no tokenizer and no store takes them.
        question = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))
        question = " ".join(question.split())
        limit = self._settings.max_question_chars
        if not question:
            raise QuestionError("The question is empty. Type what you want to know.")
        if len(question) > limit:
            raise QuestionError(
                f"The question has {len(question)} characters; the limit is {limit}. Shorten it, or raise "
                "RAG_MAX_QUESTION_CHARS."
            )
        return question

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


def _unheard(_name: str) -> None:
    """For stages that were told before."""


def passage_of(
    rank: int, row: Any, scores: Mapping[str, Mapping[int, float]], duplicates: Sequence[Any] = ()
) -> Passage:
    """A chunk's row as a passage; ``scores`` maps each score's name to the chunks' values.

    ``duplicates`` are the rows of those that nearly repeat it.
    """
    return Passage(
        rank=rank,
        chunk_id=str(row.id),
        document_id=row.document_id,
        version_id=row.version_id,
        document=row.document,
        page_index=row.page_index,
        page_label=row.page_label,
        page_index_end=row.page_index_end,
        start=row.start,
        end=row.end,
        text=row.text,
        heading=row.heading,
        scores={name: by_chunk.get(row.id) for name, by_chunk in scores.items()},
        instructions=reads_like_instructions(row.text),
        duplicates=tuple((one.document, one.page_label) for one in duplicates),
    )
