"""Re-index all documents into a new generation, or some documents within the active generation."""

from __future__ import annotations

import logging
import queue
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from rag_core.errors import IndexMismatch, RagError, ServerUnavailable
from rag_core.indexing.pipeline import Pipeline
from rag_core.indexing.recovery import finish_removals
from rag_core.indexing.task import IndexingTask, TaskResult
from rag_core.runtime.index_generations import IndexGeneration
from rag_core.store.schema import documents, versions
from rag_core.store.snapshots import Content
from rag_core.types.chunks import Fingerprint
from rag_core.types.documents import DocumentStatus, VersionRow
from rag_core.types.jobs import Job, JobState

log = logging.getLogger(__name__)
UNCHANGED = "Cancelled; the index is as it was."
INTERNAL_ERROR = "An internal error occurred while re-indexing; the log has the details. Other documents are unchanged."


class Reindexer:
    """Produces the tasks of a re-index, and ends the job of the re-index. Only one re-index runs at a time.

    - If the settings are unchanged, documents that are complete in every store are not indexed again.
    - If settings have changed, all documents are indexed into a new generation of the index, while searches use the
      active generation. One transaction then makes the new generation the active one. Files that are added during the
      re-index are indexed into the active generation first, and then into the new one.

    Parameters
    ----------
    pipeline : Pipeline
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._stores = pipeline.stores
        self._generations = pipeline.generations
        self._removal = pipeline.removal
        # Results of the tasks that have ended, and the content of the version of each task by version id.
        self._ended: list[TaskResult] = []
        self._contents: dict[str, Content] = {}

    def run(self, job: Job) -> Iterator[IndexingTask | None]:
        """Yield the tasks of a queued re-index, one at a time, and end the job after the last task.

        ``None`` asks the caller to wait until all running tasks have ended, and to start no other task before it calls
        ``next`` again. Otherwise, a file could still be indexed into the former generation when the generations are
        swapped, and searches would not find the file.
        """
        self._ended, self._contents = [], {}
        try:
            yield from self._run(job)
        except ServerUnavailable:
            # The queue starts the job again when the server answers.
            if not self._pipeline.stopping.is_set():
                raise
        except RagError as error:
            if not self._pipeline.stopping.is_set():
                self._fail(job, str(error))
        except Exception:  # a bug must not stop the queue
            if self._pipeline.stopping.is_set():  # the job continues when the application starts again
                return
            log.exception("re-indexing failed")
            self._fail(job, INTERNAL_ERROR)

    def _run(self, job: Job) -> Iterator[IndexingTask | None]:
        chosen = job.details.get("document_ids")
        active = self._stores.documents.generations("active")
        if active and (job.details.get("renamed") or job.details.get("snapshots")):
            # Keep the settings of the index: the present settings may name models that are not on this machine.
            target = active[-1][1]
        else:
            target = self._generations.configured(**(job.details.get("changes") or {}))
        if chosen is None and (not active or active[-1][1] != target):
            swapped = yield from self._rebuild(job, target)
            if swapped:
                self._finish(job, [])
            elif not self._pipeline.stopping.is_set():
                finish_removals(self._stores, self._removal)
                self._finish(job, [], cancel_reason=UNCHANGED)
            return
        for_snapshots = bool(job.details.get("snapshots"))
        todo, kept = yield from self._reindex_within_active(job, target, chosen, for_snapshots=for_snapshots)
        if self._pipeline.stopping.is_set():
            return
        cancelled = ""
        if job.job_id in self._pipeline.cancelled and len(self._ended) < todo:
            reindexed = sum(not result.has_failed for result in self._ended)
            cancelled = f"Cancelled after {reindexed} of {todo} documents were re-indexed." if reindexed else UNCHANGED
        self._finish(job, kept, cancel_reason=cancelled)

    def _rebuild(self, job: Job, target: Fingerprint) -> Generator[IndexingTask | None, None, bool]:
        """Build a new generation of all documents and activate it; return false if the job was interrupted."""
        generation = self._resume(target) or self._generations.begin(target)
        while not self._is_interrupted(job):
            missing = self._find_missing(generation)
            if not missing:
                yield from self._wait_for_results(job)
                self._drop_outdated(generation)
                missing = self._find_missing(generation)
            if not missing or self._is_interrupted(job):
                break
            yield from self._create_task(job, missing[0], generation, is_new=True)
            self._collect_results(job)
            self._check_internal_errors()
            self._stores.jobs.set_progress(job.job_id, "re-indexing", len(self._ended), len(self._ended) + len(missing))
        yield from self._wait_for_results(job)
        if self._is_interrupted(job):
            self._ended = []
            return False
        self._check_internal_errors()
        if self._ended and all(result.has_failed for result in self._ended):
            raise RagError(f"No document could be re-indexed; the index is unchanged. {self._ended[0].reason}")
        self._stores.documents.swap_generation(generation.generation_id)
        finish_removals(self._stores, self._removal)
        for row in self._find_active_rows():
            self._pipeline.describe_figures(row)
        return True

    def _check_internal_errors(self) -> None:
        """Raise `RagError` if a task had an internal error, because the new generation would lack its document."""
        if any(result.is_internal for result in self._ended):
            raise RagError(INTERNAL_ERROR)

    def _reindex_within_active(
        self, job: Job, target: Fingerprint, chosen: Sequence[str] | None, *, for_snapshots: bool
    ) -> Generator[IndexingTask | None, None, tuple[int, list[VersionRow]]]:
        """Index the chosen documents again, or all incomplete documents if ``chosen`` is ``None``.

        If ``for_snapshots`` is true, index only content that snapshots contain and the index does not. Return the
        number of documents to index, and the rows of complete documents, which are not indexed again.
        """
        generation = self._generations.active()
        differing = set(generation.fingerprint.differences(target)) - {"extractor"}
        if differing:
            raise IndexMismatch(
                "Single documents cannot be re-indexed with other settings than the other documents "
                f"({', '.join(sorted(differing))} differ). Re-index all documents."
            )
        rows = self._find_active_rows()
        superseded = self._stores.snapshots.find_superseded_contents()
        if for_snapshots:
            searchable = self._stores.snapshots.find_snapshot_only_versions()
            todo, kept = [row for row in superseded if row.id not in searchable], list[VersionRow]()
        elif chosen is not None:
            todo, kept = self._choose_versions(rows, chosen), []
        else:
            rows += superseded
            complete = self._find_complete(rows, generation)
            complete -= {row.id for row in rows if row.extractor not in target.parser_versions}
            todo = [row for row in rows if row.id not in complete]
            kept = [row for row in rows if row.id in complete]
        for number, row in enumerate(todo):
            if self._is_interrupted(job):
                break
            self._stores.jobs.set_progress(job.job_id, "re-indexing", number, len(todo))
            yield from self._create_task(job, row, generation, reread=chosen is not None)
        yield from self._wait_for_results(job)
        if not self._stores.documents.outdated_ids(target.parser_versions):
            self._stores.documents.set_generation_parser(generation.generation_id, target.extractor)
        return len(todo), kept

    def _create_task(
        self, job: Job, row: VersionRow, generation: IndexGeneration, *, is_new: bool = False, reread: bool = False
    ) -> Iterator[IndexingTask]:
        """Add a new version of a document's content and yield its task, unless the document was deleted meanwhile.

        ``is_new`` says whether the generation is being built, so that its versions are activated together. ``reread``
        says whether to parse the file again even if its pages are stored.
        """
        library = self._stores.documents
        with self._removal.lock:
            if library.version(row.id) is None:
                return
            _, version_id = library.add_version(
                row.name,
                row.collection,
                row.sha256,
                row.size,
                document_id=row.document_id,
                generation_id=generation.generation_id,
                base=row,
            )
        self._contents[version_id] = Content(row.document_id, row.sha256)
        # Only the file of a replaced version is stored.
        is_stored = row.state in ("full", "words")
        is_parsed = not reread and is_stored and row.extractor in generation.fingerprint.parser_versions
        is_superseded = not reread and row.id != row.active_version
        yield IndexingTask(
            job.job_id,
            version_id,
            row.document_id,
            row.name,
            generation,
            activate=not is_new and not is_superseded,
            is_reindex=True,
            is_indexed_again=True,
            is_for_snapshot=is_superseded,
            parsed_version_id=row.id if is_parsed else None,
        )

    def _wait_for_results(self, job: Job) -> Iterator[None]:
        """Ask the caller of `run` to wait for all running tasks, and collect their results."""
        yield None
        self._collect_results(job)

    def _collect_results(self, job: Job) -> None:
        """Collect the results that have arrived; drop results of cancelled tasks and of an earlier re-index."""
        while True:
            try:
                result = self._pipeline.reindexed.get_nowait()
            except queue.Empty:
                return
            if result.task.job_id == job.job_id and result.status is not DocumentStatus.CANCELLED:
                self._ended.append(result)

    def _is_interrupted(self, job: Job) -> bool:
        return self._pipeline.stopping.is_set() or job.job_id in self._pipeline.cancelled

    # selection of documents

    def _find_active_rows(self) -> list[VersionRow]:
        return self._stores.documents.find_versions(documents.c.active_version == versions.c.id)

    def _choose_versions(self, rows: Sequence[VersionRow], chosen: Sequence[str]) -> list[VersionRow]:
        """Return the active version of each chosen document, or its latest ended version if none is active.

        Documents without such a version are left out.
        """
        todo = {row.document_id: row for row in rows if row.document_id in set(chosen)}
        ended = self._stores.documents.find_versions(
            versions.c.document_id.in_(set(chosen) - todo.keys()), versions.c.state == "ended"
        )
        return [*todo.values(), *{row.document_id: row for row in ended}.values()]

    def _find_missing(self, generation: IndexGeneration) -> list[VersionRow]:
        """Return the versions whose content is not in the new generation, except content that could not be indexed.

        Active versions come first, then versions with content that is only in snapshots.
        """
        rows = self._stores.documents.find_versions(versions.c.generation_id == generation.generation_id)
        done = {Content(row.document_id, row.sha256) for row in rows}
        done |= {self._contents[result.task.version_id] for result in self._ended}
        wanted = [*self._find_active_rows(), *self._stores.snapshots.find_superseded_contents()]
        return [row for row in wanted if Content(row.document_id, row.sha256) not in done]

    def _drop_outdated(self, generation: IndexGeneration) -> None:
        """Remove versions from the new generation if their document was replaced by a new file meanwhile."""
        content = {row.document_id: row.sha256 for row in self._find_active_rows()}
        superseded = {Content(row.document_id, row.sha256) for row in self._stores.snapshots.find_superseded_contents()}
        current = set()
        for row in self._stores.documents.find_versions(versions.c.generation_id == generation.generation_id):
            is_outdated = content.get(row.document_id, row.sha256) != row.sha256
            if is_outdated and Content(row.document_id, row.sha256) not in superseded:
                self._removal.remove_version(row)
            else:
                current.add(row.id)
        # Drop results whose version no longer exists, because a new file replaced it.
        self._ended = [result for result in self._ended if result.task.version_id in current]

    def _find_complete(self, rows: Sequence[VersionRow], generation: IndexGeneration) -> set[str]:
        """Return the ids of the versions that have chunks, all of which are in every store."""
        stores = self._stores
        opened = stores.open_indexes(generation.generation_id)
        stored = set.intersection(
            *(index.ids() for retriever, index in opened if retriever.is_used_in(generation.fingerprint))
        )
        complete = set()
        for row in rows:
            chunk_ids = set(stores.documents.chunk_ids([row.id]))
            if chunk_ids and chunk_ids <= stored and stores.embeddings.is_fully_linked(row.id):
                complete.add(row.id)
        return complete

    def _resume(self, target: Fingerprint) -> IndexGeneration | None:
        """Return the unfinished generation with these settings, if any; remove other unfinished generations."""
        for generation_id, fingerprint in self._stores.documents.generations("building"):
            if fingerprint == target:
                return self._generations.building()
            self._removal.remove_generation(generation_id)
        return None

    # the end of the job

    def _fail(self, job: Job, reason: str) -> None:
        finish_removals(self._stores, self._removal)
        self._stores.jobs.finish(job.job_id, JobState.FAILED, None, reason)

    def _finish(self, job: Job, kept: Sequence[Any], *, cancel_reason: str = "") -> None:
        """End the job with the result of each document; ``cancel_reason`` is empty if the job was not cancelled."""
        names = ("document_id", "document", "status", "chunks", "reason")
        ended = [(one.task.document_id, one.task.name, one.status.value, one.chunks, one.reason) for one in self._ended]
        complete = [(row.document_id, row.name, row.status, row.chunks, row.reason) for row in kept]
        rows: list[dict[str, Any]] = [dict(zip(names, values, strict=True)) for values in ended + complete]
        computed = sum(result.computed for result in self._ended)
        total = sum(int(row["chunks"]) for row in rows)
        details = {
            "documents": rows,
            "kept": len(kept),
            "chunks": total,
            "embeddings_computed": computed,
            "embeddings_reused": total - computed,
        }
        failed = [result.reason for result in self._ended if result.has_failed]
        reason = f"{len(failed)} of {len(rows)} documents could not be re-indexed: {failed[0]}" if failed else ""
        state = JobState.CANCELLED if cancel_reason else JobState.FAILED if failed else JobState.DONE
        self._stores.jobs.finish(job.job_id, state, None, cancel_reason or reason, **details)
