"""Let a language model describe the figures of documents, after the documents are searchable."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from rag_core.embedding.embedder import Embedder
from rag_core.errors import (
    GeneratorAuthError,
    GeneratorError,
    GeneratorTimeout,
    RagError,
    ServerUnavailable,
    SettingsError,
)
from rag_core.indexing.figures import draw_figure
from rag_core.indexing.outages import OutageRetry
from rag_core.indexing.queue import IndexingQueue
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import build_chunk_batch
from rag_core.llm.figure_prompt import LABEL, build_figure_messages, format_description
from rag_core.llm.generator import ImagesRejected, LanguageModel
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.store.serialization import hash_text
from rag_core.text.sections import find_captions
from rag_core.types.answers import Delta
from rag_core.types.chunks import ChunkRow, ChunkSpan, build_embedded_text
from rag_core.types.documents import PageImage, VersionRow
from rag_core.types.jobs import Job, JobState

log = logging.getLogger(__name__)
KIND, STAGE = "figures", "figures"
# Most figures of a document that are sent: with about 1,000 tokens each, they cost as much as four questions with
# whole pages.
MAX_FIGURES = 50
# A figure that is less wide or high than this, with its caption and the gap between them, is a logo or a rule.
LEAST_POINTS = 100
# Pixels per point: letters of axes can be read.
SCALE = 2.0
# Seconds after which a reply is given up, and characters after which it is cut.
LONGEST_S, MAX_CHARS = 120.0, 1500
# Figures one after another that the endpoint fails to describe, after which the job ends.
MAX_FAILURES = 3
CANCELLED = "Cancelled; the descriptions of figures that were written are kept."
INTERNAL_ERROR = "The figures were not described because of an internal error; the log has the details."
_POLL_S = 1.0
_LINE = "\n"


class FigureDescriber:
    """Describes figures in a thread, one document at a time.

    Each description is stored as soon as it is written, and becomes searchable with a chunk at the caption, so that a
    job that is interrupted asks for none again. A document can be used whatever happens to its job.

    Parameters
    ----------
    stores : Stores
    generations : IndexGenerations
    removal : Removal
    models : LanguageModels
    preferences : Preferences
    """

    def __init__(
        self,
        stores: Stores,
        generations: IndexGenerations,
        removal: Removal,
        models: LanguageModels,
        preferences: Preferences,
    ) -> None:
        self._stores = stores
        self._generations = generations
        self._removal = removal
        self._models = models
        self._preferences = preferences
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, indexer: IndexingQueue) -> None:
        """Start the thread, which continues interrupted jobs."""
        outages = OutageRetry(self._stores.jobs, indexer.cancelled, self._stopping)
        self._thread = threading.Thread(target=self._run, args=(indexer, outages), name="figures", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current figure; the job continues at the next start."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    @property
    def is_on(self) -> bool:
        """Whether figures are described: it is wanted, and a test found that the model sees pictures."""
        return self._preferences.describes_figures and not self._preferences.figures_problem

    def request(self, document_id: str) -> Job | None:
        """Queue the description of the figures of a document that have none.

        Return ``None`` if there is nothing to do: no figure has a caption, or figures are not described and no
        description has to be found again in a new version.
        """
        version = self._stores.documents.version(self._stores.documents.document(document_id).version_id)
        return version and self.request_for(version)

    def request_for(self, version: VersionRow) -> Job | None:
        """Queue the description of the figures of a version that searches use from now on; see `request`."""
        if not self._stores.figures.has_any(version.document_id):
            texts = self._stores.documents.texts_of_version(version.id).values() if self.is_on else ()
            if not any(kind == "figure" for text in texts for kind, _ in find_captions(text)):
                return None
        waiting = (one for one in self._stores.jobs.queued(KIND) if one.document_id == version.document_id)
        job = next(waiting, None) or self._stores.jobs.add(KIND, version.name, document_id=version.document_id)
        self._wake.set()
        return job

    def _run(self, indexer: IndexingQueue, outages: OutageRetry) -> None:
        while not self._stopping.is_set():
            try:
                queued = self._stores.jobs.queued(KIND, limit=1)
                # The lock is held while a version is published, whose job is queued before.
                with self._removal.lock:
                    has_started = bool(queued) and self._stores.jobs.start(queued[0].job_id)
                if has_started:
                    self._run_job(queued[0], indexer, outages)
                    continue
            except Exception:  # for example, the database failed; the next attempt may succeed
                log.exception("figures could not be described")
            self._wake.wait(_POLL_S)
            self._wake.clear()

    def _run_job(self, job: Job, indexer: IndexingQueue, outages: OutageRetry) -> None:
        def is_ending() -> bool:
            return self._stopping.is_set() or indexer.is_cancelled(job.job_id)

        state, reason = JobState.DONE, ""
        try:
            problems = outages.run([job.job_id], lambda: self._describe(job, is_ending))
            if problems:
                state, reason = JobState.FAILED, f"{len(problems)} of the figures were not described. {problems[-1]}"
        except RagError as error:
            state, reason = JobState.FAILED, f"The figures were not described. {error}"
        except Exception:
            log.exception("the figures of %s could not be described", job.name)
            state, reason = JobState.FAILED, INTERNAL_ERROR
        if self._stopping.is_set():
            return
        if indexer.is_cancelled(job.job_id):
            state, reason = JobState.CANCELLED, CANCELLED
        self._stores.jobs.finish(job.job_id, state, None, reason)

    def _describe(self, job: Job, is_ending: Callable[[], bool]) -> list[str]:
        """Describe the figures of the version that searches use; return why some were not described."""
        store = self._stores.figures
        document = self._stores.documents.document(job.document_id or "")
        version = self._stores.documents.version(document.version_id)
        if version is None or version.active_version != version.id:
            return []
        rows = store.find_rows(version.id)
        done = {(row.page_index, row.start) for row in rows}
        found = [one for one in self._list_captions(version.id) if (one[0], one[1][0]) not in done]
        problems: list[str] = []
        asked, failures = len({row.digest for row in rows}), 0
        for number, (page_index, span, caption) in enumerate(found):
            self._stores.jobs.progress(job.job_id, STAGE, number, len(found))
            if is_ending():
                return problems
            try:
                image = draw_figure(self._stores, version, page_index, span, SCALE)
                if image is None or min(image.width, image.height) < LEAST_POINTS * SCALE:
                    continue
                digest = hashlib.sha256(image.png).hexdigest()
                known = store.find_known(version.document_id, digest)
                if known is not None:
                    copied = {name: getattr(known, name) for name in ("digest", "text", "model", "created_at")}
                    store.add(version.id, page_index, span, copied)
                elif self._preferences.describes_figures and asked < MAX_FIGURES and failures < MAX_FAILURES:
                    if problem := self._preferences.figures_problem:
                        raise SettingsError(problem)
                    asked += 1
                    model = self._models.require("The description of figures")
                    text = _ask(model, image, caption, is_ending)
                    if text is None:
                        return problems
                    store.add(version.id, page_index, span, {"digest": digest, "text": text, "model": model.name})
                    failures = 0
            except ServerUnavailable:
                raise
            except (RagError, ImagesRejected) as error:
                problems.append(f"Page {page_index + 1}: {error}")
                is_final = isinstance(error, GeneratorAuthError | ImagesRejected | SettingsError)
                failures += MAX_FAILURES if is_final else 1
        store.remove_unplaced(version.id)
        self._index(version)
        return problems

    def _list_captions(self, version_id: str) -> Iterator[tuple[int, tuple[int, int], str]]:
        for page_index, text in sorted(self._stores.documents.texts_of_version(version_id).items()):
            yield from (
                (page_index, span, text[slice(*span)]) for kind, span in find_captions(text) if kind == "figure"
            )

    def _index(self, version: VersionRow) -> None:
        """Add a chunk for each description that has none to all indexes."""
        stores, generation = self._stores, self._generations.active()
        unlinked = stores.figures.find_unlinked_chunks(version.id)
        rows = [one for one in stores.figures.find_rows(version.id) if one.chunk_id in (None, *unlinked)]
        chunks = stores.documents.chunk_rows(version.id) if rows else []
        texts_of_pages = stores.documents.texts_of_version(version.id)
        spans = {
            row.id: _build_span(row, number, chunks, texts_of_pages[row.page_index], generation.embedder)
            for number, row in enumerate(rows)
            if chunks
        }
        if not spans:
            return
        built = list(spans.values())
        texts = [build_embedded_text(one.prefix, one.text) for one in built]
        hashes = [hash_text(one.prefix, one.text) for one in built]
        vectors = generation.embedder.embed(texts)
        encodings = {name: load().encode(texts) for name, load in generation.encoders.items()}
        with self._removal.lock:
            current = stores.documents.version(version.id)
            if current is None or current.active_version != version.id:
                return
            opened = stores.open_indexes(*filter(None, [version.generation_id]))
            for _, index in opened:
                index.delete(unlinked)
            stores.documents.remove_chunks(unlinked)
            ids = stores.figures.save_chunks(version.id, spans)
            stores.embeddings.save(generation.space, dict(zip(hashes, vectors, strict=True)))
            batch = build_chunk_batch(ids, built, version.id)
            for retriever, index in opened:
                if retriever.reads == "embedding":
                    index.add(replace(batch, vectors=np.stack([one.dense for one in vectors])))
                elif retriever.reads == "text":
                    index.add(batch)
                elif found := encodings.get(retriever.score.name):
                    index.add(replace(batch, encodings=found))
            embedded = stores.embeddings.find_ids(generation.space, hashes)
            # The link is last: chunks without one are added again after an interruption.
            stores.embeddings.link_chunks({one: embedded[digest] for one, digest in zip(ids, hashes, strict=True)})


def _ask(model: LanguageModel, image: PageImage, caption: str, is_ending: Callable[[], bool]) -> str | None:
    """Return the description of a figure; ``None`` if the job is ending."""
    stream, started, text = model.stream_reply(build_figure_messages(caption, image.png)), time.monotonic(), ""
    with closing(stream.events("")) as events:
        for event in events:
            if is_ending():
                return None
            if time.monotonic() - started > LONGEST_S:
                raise GeneratorTimeout(f"{model.name} took longer than {LONGEST_S:g} s to describe a figure.")
            text += event.text if isinstance(event, Delta) else ""
            if len(text) > MAX_CHARS:
                break
    stream.close()
    cleaned = format_description(text, MAX_CHARS)
    if not cleaned:
        raise GeneratorError(f"{model.name} described nothing.")
    return cleaned


def _build_span(row: Any, number: int, chunks: Sequence[ChunkRow], text: str, embedder: Embedder) -> ChunkSpan:
    """Return a chunk at a caption, whose prefix has as much of the description as the embedder reads.

    A prefix is searched and never quoted; the text of the chunk is that of the page.
    """
    chunk = next((one for one in reversed(chunks) if (one.page_index, one.start) <= (row.page_index, row.start)), None)
    chunk = chunk or chunks[0]
    room = embedder.window - embedder.special_tokens
    caption = _cut(text[row.start : row.end], room // 3, embedder)
    [in_caption] = embedder.offsets([caption])
    description = f"{chunk.prefix.partition(_LINE)[0]}{_LINE}{LABEL.format(model=row.model)} {row.text}"
    # The tokenizer may split text that is joined in another way.
    prefix = _cut(description, room - len(in_caption) - 2, embedder)
    [offsets] = embedder.offsets([build_embedded_text(prefix, caption)])
    first = int(np.searchsorted(offsets[:, 0], len(prefix) + 1))
    return ChunkSpan(
        *(chunks[-1].ordinal + 1 + number, row.page_index, row.start, row.page_index, row.start + len(caption)),
        *(caption, prefix, chunk.heading, len(offsets) + embedder.special_tokens, (first,)),
    )


def _cut(text: str, tokens: int, embedder: Embedder) -> str:
    """Return the beginning of a text with at most a number of tokens."""
    [offsets] = embedder.offsets([text])
    return text if len(offsets) <= tokens else text[: int(offsets[tokens - 1, 1])]
