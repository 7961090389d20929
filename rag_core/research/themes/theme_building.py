"""Build themes in the background: find the entities of each document, then communities, and summarize these."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from rag_core.errors import GeneratorError, RagError
from rag_core.indexing.queue import IndexingQueue
from rag_core.llm.generator import LanguageModel
from rag_core.research.themes.communities import build_title, find_communities, spread_statements
from rag_core.research.themes.entities import ENTITY_RULES, extract_entities
from rag_core.research.themes.entity_extraction import find_entity_names
from rag_core.research.themes.entity_graphs import THEMES, EntityGraphs
from rag_core.research.themes.theme_summaries import ThemeSummarizer
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.store.database import now
from rag_core.types.jobs import Job, JobState
from rag_core.types.themes import DocumentEntities, ModelUse, StatementSource, ThemeEntity, ThemesState

log = logging.getLogger(__name__)
CANCELLED = "Cancelled; the themes are as they were."
INTERNAL_ERROR = "The themes were not built because of an internal error; the log has the details."
UNSUPPORTED = "The passages do not support what the model wrote."
KIND = "themes"
# The stages of a job: the first counts documents, the second themes.
READING, SUMMARIZING = "entities", "summaries"
# Seconds between two checks for a queued job or changed documents.
_POLL_S = 2.0


class ThemeBuilder:
    """Builds themes in a thread, one job at a time.

    The entities of a document and the summary of a theme are stored as soon as they are found, so that a job that a
    crash interrupts continues where it was. The former themes are shown until all new themes are complete. If no model
    was used, a new job is queued when documents are added, replaced or removed.

    Parameters
    ----------
    stores : Stores
    graphs : EntityGraphs
    models : LanguageModels
    indexer : IndexingQueue
    writer : ThemeSummarizer
    """

    def __init__(
        self,
        stores: Stores,
        graphs: EntityGraphs,
        models: LanguageModels,
        indexer: IndexingQueue,
        writer: ThemeSummarizer,
    ) -> None:
        self._stores = stores
        self._graphs = graphs
        self._models = models
        self._indexer = indexer
        self._writer = writer
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Continue an interrupted job, and update themes from now on.

        Do nothing if there is no queued job and themes were never built.
        """
        if self._graphs.build_id or self._stores.jobs.queued(KIND):
            self._start_thread()

    def stop(self) -> None:
        """Stop after the current document or theme; the job continues at the next start."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def state(self) -> ThemesState:
        """Return when themes were built, and how many documents have been added or removed since then."""
        return self._graphs.state()

    def build(self, model_use: ModelUse = "none") -> Job:
        """Queue a job that builds or updates themes; return the active job if there is one.

        Parameters
        ----------
        model_use : {"none", "summaries", "entities"}
            ``"summaries"``: the language model writes the summaries, with a request for each theme. ``"entities"``: the
            model also finds the entities, with a request for each chunk.

        Raises
        ------
        SettingsError
            A model is to be used, and none is set.
        """
        self._find_model(model_use)
        with self._starting:
            active = next((one for one in self._stores.jobs.all(active=True) if one.kind == KIND), None)
            job = active or self._stores.jobs.add(KIND, "Themes", details={"model_use": model_use})
        self._start_thread()
        self._wake.set()
        return job

    def _find_model(self, model_use: ModelUse) -> LanguageModel | None:
        if model_use == "none":
            return None
        return self._models.require("This way to build themes", alternative="build them without a model")

    def _start_thread(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="themes", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._run_queued()
            except Exception:  # for example, the database failed; the next attempt may succeed
                log.exception("the themes could not be built")
            self._wake.wait(_POLL_S)
            self._wake.clear()

    def _run_queued(self) -> None:
        """Run the queued job. If there is none, queue one if documents have changed and no job is active."""
        queued = self._stores.jobs.queued(KIND, limit=1)
        if queued and self._stores.jobs.start(queued[0].job_id):
            self._run_job(queued[0])
        elif not queued and not self._stores.jobs.all(active=True, limit=1) and self._needs_update():
            self.build()

    def _needs_update(self) -> bool:
        state = self.state()
        newest = next((one for one in self._stores.jobs.all(limit=20) if one.kind == KIND), None)
        has_ended_well = newest is None or newest.state is JobState.DONE
        return has_ended_well and state.built_at is not None and not state.is_current and state.model_use == "none"

    def _run_job(self, job: Job) -> None:
        jobs = self._stores.jobs
        try:
            notice = self._build(job)
        except RagError as error:
            jobs.finish(job.job_id, JobState.FAILED, None, f"The themes were not built. {error}")
        except Exception:
            log.exception("the themes could not be built")
            jobs.finish(job.job_id, JobState.FAILED, None, INTERNAL_ERROR)
        else:
            if self._stopping.is_set():
                return
            if notice is None:
                jobs.finish(job.job_id, JobState.CANCELLED, None, CANCELLED)
            else:
                jobs.finish(job.job_id, JobState.DONE, None, notice)

    def _build(self, job: Job) -> str | None:
        """Build and store the themes, and return a notice about summaries that the model failed to write.

        The notice is empty if there are no such summaries. Return ``None`` if the job is ending; see `_is_ending`.
        """
        started = time.monotonic()
        model_use: ModelUse = job.details.get("model_use", "none")
        model = self._find_model(model_use)
        visible = [one for one, state in self._stores.documents.visible_versions().items() if state == "full"]
        rules = f"{model.name} 1" if model is not None and model_use == "entities" else ENTITY_RULES
        read = self._stores.themes.find_versions(rules)
        missing = [one for one in visible if one not in read]
        for number, version_id in enumerate(missing):
            self._report(job, READING, number + len(visible) - len(missing), len(visible))
            found = self._read_document(job, version_id, model if model_use == "entities" else None)
            if found is None:
                return None
            self._stores.themes.save_entities(version_id, rules, found)
        self._graphs.clear_cache()
        graph = self._graphs.load()
        communities = find_communities(graph)
        problems: list[str] = []
        for position, community in enumerate(communities):
            self._report(job, SUMMARIZING, position, len(communities))
            if self._is_ending(job):
                return None
            sources = [graph.statements[one].source for one in spread_statements(graph, community)]
            entities = [
                ThemeEntity(version_id, *entity)
                for one in community
                for version_id, entity in graph.mentions[one].items()
            ]
            problem = self._add_theme(job, position, build_title(graph, community), entities, sources, model)
            problems += [problem] if problem else []
        self._report(job, SUMMARIZING, len(communities), len(communities))
        self._finish(job, visible, len(communities), model_use, job.seconds + time.monotonic() - started)
        if not problems:
            return ""
        return (
            f"{len(problems)} of {len(communities)} summaries are extracts instead of the model's text. {problems[0]}"
        )

    def _read_document(self, job: Job, version_id: str, model: LanguageModel | None) -> DocumentEntities | None:
        """Return the entities of a version, found by ``model`` or by rules; ``None`` if the job is ending."""
        library = self._stores.documents
        rows = library.chunk_rows(version_id)
        tables = library.tables({(row.version_id, row.page_index) for row in rows})
        by_page = {page_index: found for (_, page_index), found in tables.items()}
        names: set[str] | None = None if model is None else set()
        for row in rows:
            if self._is_ending(job):
                return None
            if model is not None and names is not None:
                names.update(find_entity_names(lambda messages: model.complete(messages).text, row.text))
        return extract_entities(rows, by_page, names)

    def _add_theme(
        self,
        job: Job,
        position: int,
        title: str,
        entities: Sequence[ThemeEntity],
        sources: Sequence[StatementSource],
        model: LanguageModel | None,
    ) -> str:
        """Summarize and store a theme; return why ``model`` did not write the summary.

        Return an empty text if the model wrote the summary, or if no model is used.
        """
        problem = ""
        try:
            theme = self._writer.write_theme(title, entities, sources, model)
        except GeneratorError as error:
            problem = str(error)
            theme = self._writer.write_theme(title, entities, sources, None)
        if model is not None and not problem and not theme.summary:
            problem = UNSUPPORTED
        self._stores.themes.add_theme(job.job_id, position, theme)
        return problem

    def _finish(self, job: Job, covered: Sequence[str], count: int, model_use: ModelUse, seconds: float) -> None:
        self._stores.preferences.set(
            THEMES,
            {
                "build": job.job_id,
                "built_at": now().isoformat(),
                "seconds": seconds,
                "model_use": model_use,
                "versions": list(covered),
            },
        )
        self._stores.themes.finish_build(job.job_id, count)

    def _report(self, job: Job, stage: str, done: int, total: int) -> None:
        self._stores.jobs.set_progress(job.job_id, stage, done, total)

    def _is_ending(self, job: Job) -> bool:
        """Return whether the builder is to stop or the job was cancelled."""
        return self._stopping.is_set() or self._indexer.is_cancelled(job.job_id)
