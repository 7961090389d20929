"""Re-index all documents into a new generation, or some documents within the active generation."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from rag_core.errors import IndexMismatch, RagError, ServerUnavailable
from rag_core.indexing.recovery import finish_removals
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import CancelledJobs, IndexingTask, TaskResult
from rag_core.runtime.index_generations import IndexGeneration, IndexGenerations
from rag_core.runtime.stores import Stores
from rag_core.store.schema import documents, versions
from rag_core.store.snapshots import Content
from rag_core.types.chunks import Fingerprint
from rag_core.types.documents import DocumentStatus, VersionRow
from rag_core.types.jobs import Job, JobState

log = logging.getLogger(__name__)
UNCHANGED = "Cancelled; the index is as it was."
INTERNAL_ERROR = "An internal error occurred while re-indexing; the log has the details. Other documents are unchanged."


class Reindexer:
    """Produces the tasks of a re-index and ends its job. Only one re-index runs at a time.

    If the settings are unchanged, documents that are complete in every store are not indexed again. If settings have
    changed, all documents are indexed into a new generation while searches use the active generation; then one
    transaction makes the new generation the active one. Files that are added during the re-index are indexed into the
    active generation first, and then into the new generation.

    Parameters
    ----------
    stores : Stores
    generations : IndexGenerations
    removal : Removal
    cancelled : CancelledJobs
    stopping : Event
        Set when the process ends. The re-index then continues when the application starts again.
    results : queue of TaskResult
        Receives the results of the tasks.
    describe_figures : callable
        Queues the description of a version's figures.
    """

    def __init__(
        self,
        stores: Stores,
        generations: IndexGenerations,
        removal: Removal,
        cancelled: CancelledJobs,
        stopping: threading.Event,
        results: queue.SimpleQueue[TaskResult],
        describe_figures: Callable[[VersionRow], object],
    ) -> None:
        self._stores = stores
        self._generations = generations
        self._removal = removal
        self._cancelled = cancelled
        self._stopping = stopping
        self._results = results
        self._describe_figures = describe_figures
        self._ended: list[TaskResult] = []
        self._contents: dict[str, Content] = {}

    def run(self, job: Job) -> Iterator[IndexingTask | None]:
        """Yield the tasks of a queued re-index, one at a time, and end the job after the last task.

        If ``None`` is yielded instead of a task, the caller must wait until all running tasks have ended, and must not
        start another task before it calls ``next`` again. Otherwise, a file could still be indexed into the former
        generation when the generations are swapped, and searches would not find the file.
        """
        self._ended, self._contents = [], {}
        try:
            yield from self._run(job)
        except ServerUnavailable:
            # The queue starts the job again when the server answers.
            if not self._stopping.is_set():
                raise
        except RagError as error:
            if not self._stopping.is_set():
                self._fail(job, str(error))
        except Exception:  # a bug must not stop the queue
            if self._stopping.is_set():  # the job continues when the application starts again
                return
            log.exception("re-indexing failed")
            self._fail(job, INTERNAL_ERROR)

    def _run(self, job: Job) -> Iterator[IndexingTask | None]:
        chosen = job.details.get("document_ids")
        active = self._stores.documents.generations("active")
        if active and (job.details.get("renamed") or job.details.get("snapshots")):
            # The settings need not be those of the index, and their models need not be on this machine.
            target = active[-1][1]
        else:
            target = self._generations.configured(**(job.details.get("changes") or {}))
        if chosen is None and (not active or active[-1][1] != target):
            swapped = yield from self._rebuild(job, target)
            if swapped:
                self._finish(job, [])
            elif not self._stopping.is_set():
                finish_removals(self._stores, self._removal)
                self._finish(job, [], cancel_reason=UNCHANGED)
            return
        for_snapshots = bool(job.details.get("snapshots"))
        todo, kept = yield from self._reindex_within_active(job, target, chosen, for_snapshots=for_snapshots)
        if self._stopping.is_set():
            return
        cancelled = ""
        if job.job_id in self._cancelled and len(self._ended) < todo:
            reindexed = sum(not result.has_failed for result in self._ended)
            cancelled = f"Cancelled after {reindexed} of {todo} documents were re-indexed." if reindexed else UNCHANGED
        self._finish(job, kept, cancel_reason=cancelled)

    def _rebuild(self, job: Job, target: Fingerprint) -> Generator[IndexingTask | None, None, bool]:
        """Build a new generation of all documents and activate it; return false if the job was interrupted before."""
        generation = self._resumed(target) or self._generations.begin(target)
        while not self._is_interrupted(job):
            missing = self._missing(generation)
            if not missing:
                yield from self._wait_for_results(job)
                self._drop_outdated(generation)
                missing = self._missing(generation)
            if not missing or self._is_interrupted(job):
                break
            yield from self._create_task(job, missing[0], generation, builds=True)
            self._collect_results(job)
            self._check_internal_errors()
            self._stores.jobs.progress(job.job_id, "re-indexing", len(self._ended), len(self._ended) + len(missing))
        yield from self._wait_for_results(job)
        if self._is_interrupted(job):
            self._ended = []
            return False
        self._check_internal_errors()
        if self._ended and all(result.has_failed for result in self._ended):
            raise RagError(f"No document could be re-indexed; the index is unchanged. {self._ended[0].reason}")
        self._stores.documents.swap_generation(generation.generation_id)
        finish_removals(self._stores, self._removal)
        for row in self._active_rows():
            self._describe_figures(row)
        return True

    def _check_internal_errors(self) -> None:
        """Raise `RagError` if a task had an internal error: after the swap, searches would not find its document."""
        if any(result.is_internal for result in self._ended):
            raise RagError(INTERNAL_ERROR)

    def _reindex_within_active(
        self, job: Job, target: Fingerprint, chosen: Sequence[str] | None, *, for_snapshots: bool
    ) -> Generator[IndexingTask | None, None, tuple[int, list[VersionRow]]]:
        """Index the chosen documents again, or all incomplete documents if ``chosen`` is ``None``.

        If ``for_snapshots`` is true, index only the content of snapshots that is not indexed. Return the number of
        documents to index, and the rows of the documents that are complete and therefore kept.
        """
        generation = self._generations.active()
        differing = set(generation.fingerprint.differences(target)) - {"extractor"}
        if differing:
            raise IndexMismatch(
                "Single documents cannot be re-indexed with other settings than the other documents "
                f"({', '.join(sorted(differing))} differ). Re-index all documents."
            )
        rows = self._active_rows()
        superseded = self._stores.snapshots.find_superseded_contents()
        if for_snapshots:
            searchable = self._stores.snapshots.find_snapshot_only_versions()
            todo, kept = [row for row in superseded if row.id not in searchable], list[VersionRow]()
        elif chosen is not None:
            todo, kept = self._chosen(rows, chosen), []
        else:
            rows += superseded
            complete = self._complete(rows, generation)
            complete -= {row.id for row in rows if row.extractor not in target.parser_versions}
            todo = [row for row in rows if row.id not in complete]
            kept = [row for row in rows if row.id in complete]
        for number, row in enumerate(todo):
            if self._is_interrupted(job):
                break
            self._stores.jobs.progress(job.job_id, "re-indexing", number, len(todo))
            yield from self._create_task(job, row, generation, again=chosen is not None)
        yield from self._wait_for_results(job)
        if not self._stores.documents.outdated_ids(target.parser_versions):
            self._stores.documents.set_generation_parser(generation.generation_id, target.extractor)
        return len(todo), kept

    def _create_task(
        self, job: Job, row: VersionRow, generation: IndexGeneration, *, builds: bool = False, again: bool = False
    ) -> Iterator[IndexingTask]:
        """Add a new version of a document's content and yield its task, unless the document was deleted meanwhile.

        ``builds`` says whether the generation is being built, and ``again`` whether the file is read again in any case.
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
        is_parsed = not again and is_stored and row.extractor in generation.fingerprint.parser_versions
        is_superseded = not again and row.id != row.active_version
        yield IndexingTask(
            job.job_id,
            version_id,
            row.document_id,
            row.name,
            generation,
            activate=not builds and not is_superseded,
            is_reindex=True,
            is_indexed_again=True,
            is_for_snapshot=is_superseded,
            parsed_version_id=row.id if is_parsed else None,
        )

    def _wait_for_results(self, job: Job) -> Iterator[None]:
        yield None
        self._collect_results(job)

    def _collect_results(self, job: Job) -> None:
        """Collect the results that have arrived, except results of cancelled tasks and of an earlier re-index."""
        while True:
            try:
                result = self._results.get_nowait()
            except queue.Empty:
                return
            if result.task.job_id == job.job_id and result.status is not DocumentStatus.CANCELLED:
                self._ended.append(result)

    def _is_interrupted(self, job: Job) -> bool:
        return self._stopping.is_set() or job.job_id in self._cancelled

    # selection of documents

    def _active_rows(self) -> list[VersionRow]:
        return self._stores.documents.find_versions(documents.c.active_version == versions.c.id)

    def _chosen(self, rows: Sequence[VersionRow], chosen: Sequence[str]) -> list[VersionRow]:
        """Return one version of each chosen document: the version that searches use, or else an ended version."""
        todo = {row.document_id: row for row in rows if row.document_id in set(chosen)}
        ended = self._stores.documents.find_versions(
            versions.c.document_id.in_(set(chosen) - todo.keys()), versions.c.state == "ended"
        )
        return [*todo.values(), *{row.document_id: row for row in ended}.values()]

    def _missing(self, generation: IndexGeneration) -> list[VersionRow]:
        """Return the documents that are not in the new generation yet and have not failed.

        After them come versions with content that only snapshots contain.
        """
        rows = self._stores.documents.find_versions(versions.c.generation_id == generation.generation_id)
        done = {Content(row.document_id, row.sha256) for row in rows}
        done |= {self._contents[result.task.version_id] for result in self._ended}
        wanted = [*self._active_rows(), *self._stores.snapshots.find_superseded_contents()]
        return [row for row in wanted if Content(row.document_id, row.sha256) not in done]

    def _drop_outdated(self, generation: IndexGeneration) -> None:
        """Remove versions of the new generation whose document has other content by now, to build them again."""
        content = {row.document_id: row.sha256 for row in self._active_rows()}
        superseded = {Content(row.document_id, row.sha256) for row in self._stores.snapshots.find_superseded_contents()}
        current = set()
        for row in self._stores.documents.find_versions(versions.c.generation_id == generation.generation_id):
            is_outdated = content.get(row.document_id, row.sha256) != row.sha256
            if is_outdated and Content(row.document_id, row.sha256) not in superseded:
                self._removal.remove_version(row)
            else:
                current.add(row.id)
        # Drop results whose version no longer exists. When a document is replaced, its former versions are removed.
        self._ended = [result for result in self._ended if result.task.version_id in current]

    def _complete(self, rows: Sequence[VersionRow], generation: IndexGeneration) -> set[str]:
        """Return the ids of the versions whose chunks are all in every store."""
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

    def _resumed(self, target: Fingerprint) -> IndexGeneration | None:
        """Return the generation that an interrupted re-index began for this target; remove those for other targets."""
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
        rows = [
            *(
                _document_row(
                    result.task.document_id, result.task.name, result.status.value, result.chunks, result.reason
                )
                for result in self._ended
            ),
            *(_document_row(row.document_id, row.name, row.status, row.chunks, row.reason) for row in kept),
        ]
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


def _document_row(document_id: str, document: str, status: str, chunks: int, reason: str) -> dict[str, Any]:
    return {"document_id": document_id, "document": document, "status": status, "chunks": chunks, "reason": reason}
