"""Let a language model describe the figures of documents, after the documents are searchable."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import NamedTuple

from rag_core.errors import (
    GeneratorAuthError,
    GeneratorError,
    GeneratorTimeout,
    RagError,
    ServerUnavailable,
    SettingsError,
)
from rag_core.indexing.figure_chunks import index_descriptions
from rag_core.indexing.figures import draw_figure
from rag_core.indexing.pipeline import Pipeline
from rag_core.indexing.removal import Removal
from rag_core.llm.figure_prompt import build_figure_messages, format_description
from rag_core.llm.generator import ImagesRejected, LanguageModel
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.store.files import compute_sha256
from rag_core.text.sections import find_captions
from rag_core.types.answers import Delta
from rag_core.types.documents import PageImage, VersionRow
from rag_core.types.jobs import Job, JobState

log = logging.getLogger(__name__)
KIND, STAGE = "figures", "figures"
# Maximum number of figures of a document that are sent to the model. With about 1,000 tokens for each figure, they cost
# as much as four questions with whole pages.
MAX_FIGURES = 50
# Minimum width and height, in points, of a figure together with its caption. A smaller picture is a logo or a line.
MIN_SIDE_POINTS = 100
# Pixels per point, so that the letters of axes can be read.
SCALE = 2.0
# Maximum time in seconds and maximum number of characters of a reply. A longer text is cut.
MAX_REPLY_S, MAX_REPLY_CHARS = 120.0, 1500
# Number of failures in succession after which no more figures are sent.
MAX_FAILURES = 3
CANCELLED = "Cancelled; the descriptions of figures that were written are kept."
INTERNAL_ERROR = "The figures were not described because of an internal error; the log has the details."
_POLL_S = 1.0


class FigureDescriber:
    """Describes figures in a thread, one document at a time.

    Each description is stored as soon as it is written, so that an interrupted job sends no figure twice. A chunk at
    the caption makes the description searchable. The document can be used while its job runs, and if its job fails.

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
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, pipeline: Pipeline) -> None:
        """Start the thread, which continues interrupted jobs."""
        self._thread = threading.Thread(target=self._run, args=(pipeline,), name="figures", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Wait for the thread, which ends when `Pipeline.stopping` is set; its job continues at the next start."""
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    @property
    def is_on(self) -> bool:
        """Whether figures are described: users want this, and a test found that the model sees pictures."""
        return self._preferences.describes_figures and not self._preferences.figures_problem

    def request(self, version: VersionRow) -> Job | None:
        """Queue the description of figures in a version that is active or being published, and return the job.

        A job of the document that waits already is returned instead of a second one. If a version of the document has
        descriptions, a job is always needed, which copies or removes them. Otherwise, return ``None`` if `is_on` is
        false or no figure has a caption.
        """
        stores = self._stores
        if not stores.figures.has_any(version.document_id) and not (
            self.is_on and _list_captions(stores.documents.texts_of_version(version.id))
        ):
            return None
        waiting = (one for one in stores.jobs.queued(KIND) if one.document_id == version.document_id)
        job = next(waiting, None) or stores.jobs.add(KIND, version.name, document_id=version.document_id)
        self._wake.set()
        return job

    def _run(self, pipeline: Pipeline) -> None:
        while not pipeline.stopping.is_set():
            try:
                queued = self._stores.jobs.queued(KIND, limit=1)
                # The publication of a version holds this lock while it queues the job, which must start afterwards.
                with self._removal.lock:
                    has_started = bool(queued) and self._stores.jobs.start(queued[0].job_id)
                if has_started:
                    self._run_job(queued[0], pipeline)
                    continue
            except Exception:  # for example, the database failed; the next attempt may succeed
                log.exception("figures could not be described")
            self._wake.wait(_POLL_S)
            self._wake.clear()

    def _run_job(self, job: Job, pipeline: Pipeline) -> None:
        def is_ending() -> bool:
            return pipeline.stopping.is_set() or job.job_id in pipeline.cancelled

        state, reason = JobState.DONE, ""
        try:
            problems = pipeline.outages.run([job.job_id], lambda: self._describe(job, is_ending))
            if problems:
                state, reason = JobState.FAILED, f"{len(problems)} of the figures were not described. {problems[-1]}"
        except RagError as error:
            state, reason = JobState.FAILED, f"The figures were not described. {error}"
        except Exception:
            log.exception("the figures of %s could not be described", job.name)
            state, reason = JobState.FAILED, INTERNAL_ERROR
        if pipeline.stopping.is_set():
            return
        if job.job_id in pipeline.cancelled:
            state, reason = JobState.CANCELLED, CANCELLED
        self._stores.jobs.finish(job.job_id, state, None, reason)

    def _describe(self, job: Job, is_ending: Callable[[], bool]) -> list[str]:
        """Describe the figures of a document's active version; return the reasons why figures were not described."""
        document = self._stores.documents.document(job.document_id or "")
        version = self._stores.documents.version(document.version_id)
        if version is None or version.active_version != version.id:
            return []
        texts = self._stores.documents.texts_of_version(version.id)
        rows = self._stores.figures.list_placed(version.id)
        described = {(row.page_index, row.start) for row in rows}
        captions = [one for one in _list_captions(texts) if (one.page_index, one.start) not in described]
        attempts = _Attempts(len({row.digest for row in rows}))
        for number, caption in enumerate(captions):
            self._stores.jobs.set_progress(job.job_id, STAGE, number, len(captions))
            if is_ending():
                break
            try:
                self._describe_figure(version, caption, attempts, is_ending)
            except ServerUnavailable:
                raise
            except (RagError, ImagesRejected) as error:
                attempts.problems.append(f"Page {caption.page_index + 1}: {error}")
                is_final = isinstance(error, GeneratorAuthError | ImagesRejected | SettingsError)
                attempts.failures += MAX_FAILURES if is_final else 1
        if not is_ending():
            self._stores.figures.remove_unplaced(version.id)
            index_descriptions(self._stores, self._removal, self._generations.active(), version, texts)
        return attempts.problems

    def _describe_figure(
        self, version: VersionRow, caption: _Caption, attempts: _Attempts, is_ending: Callable[[], bool]
    ) -> None:
        """Store the description of a figure: a copy if the same picture has a description, or else a new one."""
        page_index, start, end, text = caption
        image = draw_figure(self._stores, version, page_index, (start, end), SCALE)
        if image is None or min(image.width, image.height) < MIN_SIDE_POINTS * SCALE:
            return
        store, digest = self._stores.figures, compute_sha256(image.png)
        if known := store.find_by_picture(version.document_id, digest):
            copied = {name: getattr(known, name) for name in ("digest", "text", "model", "created_at")}
            store.add(version.id, page_index, (start, end), copied)
        elif self._preferences.describes_figures and attempts.sent < MAX_FIGURES and attempts.failures < MAX_FAILURES:
            if problem := self._preferences.figures_problem:
                raise SettingsError(problem)
            attempts.sent += 1
            model = self._models.require("The description of figures")
            if description := _ask_for_description(model, image, text, is_ending):
                values = {"digest": digest, "text": description, "model": model.name}
                store.add(version.id, page_index, (start, end), values)
                attempts.failures = 0


class _Caption(NamedTuple):
    page_index: int
    start: int
    end: int
    text: str


@dataclass(slots=True)
class _Attempts:
    """The attempts to describe the figures of a document.

    ``sent`` is the number of pictures sent to the model, also by earlier jobs. ``failures`` is the number of failures
    since the last description; a failure that would be repeated counts as `MAX_FAILURES`. ``problems`` are the reasons
    of all failures.
    """

    sent: int
    failures: int = 0
    problems: list[str] = field(default_factory=list)


def _list_captions(page_texts: Mapping[int, str]) -> list[_Caption]:
    """Return the captions of figures in the texts of pages, in order."""
    return [
        _Caption(page_index, start, end, text[start:end])
        for page_index, text in sorted(page_texts.items())
        for kind, (start, end) in find_captions(text)
        if kind == "figure"
    ]


def _ask_for_description(
    model: LanguageModel, image: PageImage, caption: str, is_ending: Callable[[], bool]
) -> str | None:
    """Return the model's description of a figure; ``None`` if the job is ending.

    Raises
    ------
    GeneratorError, ImagesRejected
        The model fails, takes too long, describes nothing, or accepts no images.
    """
    stream, started, text = model.stream_reply(build_figure_messages(caption, image.png)), time.monotonic(), ""
    with closing(stream.events("")) as events:
        for event in events:
            if is_ending():
                return None
            if time.monotonic() - started > MAX_REPLY_S:
                raise GeneratorTimeout(f"{model.name} took longer than {MAX_REPLY_S:g} s to describe a figure.")
            text += event.text if isinstance(event, Delta) else ""
            if len(text) > MAX_REPLY_CHARS:
                break
    stream.close()
    cleaned = format_description(text, MAX_REPLY_CHARS)
    if not cleaned:
        raise GeneratorError(f"{model.name} described nothing.")
    return cleaned
