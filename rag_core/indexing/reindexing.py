"""Re-indexing: a new generation beside the active one, or single documents within it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rag_core.errors import EncryptedPdf, IndexMismatch, RagError, RejectedDocument
from rag_core.indexing.recovery import finish_removals
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import Work
from rag_core.runtime.index_generations import Generation, Generations
from rag_core.runtime.stores import Stores
from rag_core.store.schema import documents, versions
from rag_core.types import DocumentStatus, Fingerprint, Job, JobState

if TYPE_CHECKING:
    from rag_core.indexing.queue import Indexer

log = logging.getLogger(__name__)
UNCHANGED = "Cancelled; the index is as it was."


class Reindexing:
    """Runs one re-index at a time, in the indexer's reading thread.

    With settings unchanged, documents that are complete in every store are kept as they are. With
    settings changed, all are built anew in a generation of their own while the active one answers,
    and one transaction swaps the two; files that arrive meanwhile are indexed for the active
    generation first and then built again like the others.
    """

    def __init__(self, stores: Stores, generations: Generations, removal: Removal, indexer: Indexer) -> None:
        self._stores = stores
        self._generations = generations
        self._removal = removal
        self._indexer = indexer
        self._ended: list[Work] = []

    def run(self, job: Job) -> None:
        """Do a queued re-index to its end."""
        try:
            self._run(job)
        except RagError as error:
            if self._indexer.stopping:
                return
            finish_removals(self._stores, self._removal)
            self._stores.jobs.finish(job.job_id, JobState.FAILED, None, str(error))
        except Exception:  # a bug must not end the queue
            if self._indexer.stopping:  # nothing is wrong: it goes on at the next start
                return
            log.exception("re-indexing failed")
            reason = (
                "An internal error while re-indexing; the log has the details. What was not re-indexed is as it was."
            )
            finish_removals(self._stores, self._removal)
            self._stores.jobs.finish(job.job_id, JobState.FAILED, None, reason)

    def work_ended(self, work: Work) -> None:
        """The second stage is done with a version that a re-index handed over."""
        if work.of_reindex and work.status is not DocumentStatus.CANCELLED:
            self._ended.append(work)

    def _run(self, job: Job) -> None:
        self._ended = []
        changes = job.details.get("changes") or {}
        target = self._generations.configured(**changes)
        chosen = job.details.get("document_ids")
        active = self._stores.library.generations("active")
        if chosen is None and (not active or active[-1][1] != target):
            if self._rebuild(job, target):
                self._finish(job, [])
            elif not self._indexer.stopping:
                finish_removals(self._stores, self._removal)
                self._finish(job, [], cancelled=UNCHANGED)
            return
        todo, kept = self._within_active(job, target, chosen)
        if self._indexer.stopping:
            return
        cancelled = ""
        if self._indexer.is_cancelled(job.job_id) and len(self._ended) < todo:
            again = sum(not work.error for work in self._ended)
            cancelled = f"Cancelled after {again} of {todo} documents were re-indexed." if again else UNCHANGED
        self._finish(job, kept, cancelled=cancelled)

    def _rebuild(self, job: Job, target: Fingerprint) -> bool:
        """Build a new generation of all documents and swap it in; false where it was interrupted before the swap."""
        generation = self._resumed(target) or self._generations.begin(target)
        while not self._interrupted(job):
            self._indexer.index_queued()
            missing = self._missing(generation)
            if not missing:
                self._indexer.drain()
                self._drop_outdated(generation)
                missing = self._missing(generation)
            if not missing or self._interrupted(job):
                break
            self._build(job, missing[0], generation, activate=False)
            self._stores.jobs.progress(job.job_id, "re-indexing", len(self._ended), len(self._ended) + len(missing))
        self._indexer.drain()
        if self._interrupted(job):
            self._ended = []
            return False
        if self._ended and all(work.error for work in self._ended):
            raise RagError(f"No document could be re-indexed; the index is as it was. {self._ended[0].error}")
        self._stores.library.swap_generation(generation.generation_id)
        finish_removals(self._stores, self._removal)
        return True

    def _within_active(self, job: Job, target: Fingerprint, chosen: Sequence[str] | None) -> tuple[int, list[Any]]:
        """Index chosen documents again, or those of all that are not complete.

        Returns how many those are, and the rows of the others.
        """
        generation = self._generations.active()
        differing = set(generation.fingerprint.differences(target)) - {"extractor"}
        if differing:
            raise IndexMismatch(
                "Single documents cannot be re-indexed with other settings than the rest "
                f"({', '.join(sorted(differing))} differ). Re-index all documents."
            )
        rows = self._active_rows()
        if chosen is not None:
            todo, kept = self._chosen(rows, chosen), []
        else:
            complete = self._complete(rows, generation)
            todo = [row for row in rows if row.id not in complete]
            kept = [row for row in rows if row.id in complete]
        for number, row in enumerate(todo):
            if self._interrupted(job):
                break
            self._stores.jobs.progress(job.job_id, "re-indexing", number, len(todo))
            self._build(job, row, generation, activate=True, again=chosen is not None)
        self._indexer.drain()
        return len(todo), kept

    def _chosen(self, rows: Sequence[Any], chosen: Sequence[str]) -> list[Any]:
        """What is searched of these documents, or the file that came to nothing where nothing is."""
        todo = {row.document_id: row for row in rows if row.document_id in set(chosen)}
        ended = self._stores.library.versions_where(
            versions.c.document_id.in_(set(chosen) - todo.keys()), versions.c.state == "ended"
        )
        return [*todo.values(), *{row.document_id: row for row in ended}.values()]

    def _build(self, job: Job, row: Any, generation: Generation, *, activate: bool, again: bool = False) -> None:
        """Begin a new version of a document's content and hand it over; a failure is noted and passed over."""
        library = self._stores.library
        with self._removal.lock:
            if library.version(row.id) is None:  # deleted meanwhile
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
        fresh = again or row.extractor != generation.fingerprint.extractor
        pages = None if fresh else library.pages(row.id, with_boxes=True)
        try:
            work = self._indexer.build(
                job.job_id, library.version(version_id), generation, activate=activate, pages=pages
            )
        except RagError as error:
            if self._interrupted(job) or library.version(version_id) is None:
                return
            status = DocumentStatus.REJECTED if isinstance(error, RejectedDocument) else DocumentStatus.FAILED
            library.update_version(version_id, needs_password=isinstance(error, EncryptedPdf))
            self._removal.abandon(version_id, status, str(error), keep=not activate)
            failed = Work(job.job_id, version_id, row.document_id, row.name, generation, (), (), (),
                          status, str(error), activate, of_reindex=True, error=str(error))  # fmt: skip
            self._ended.append(failed)
            return
        work.of_reindex = work.reread = True
        self._indexer.embed(work)

    def _interrupted(self, job: Job) -> bool:
        return self._indexer.stopping or self._indexer.is_cancelled(job.job_id)

    def _active_rows(self) -> list[Any]:
        return self._stores.library.versions_where(documents.c.active_version == versions.c.id)

    def _missing(self, generation: Generation) -> list[Any]:
        """Documents that the new generation does not hold yet and has not failed on."""
        held = self._stores.library.versions_where(versions.c.generation_id == generation.generation_id)
        done = {row.document_id for row in held} | {work.document_id for work in self._ended}
        return [row for row in self._active_rows() if row.document_id not in done]

    def _drop_outdated(self, generation: Generation) -> None:
        """Versions whose document was replaced since they were built; they are built again."""
        content = {row.document_id: row.sha256 for row in self._active_rows()}
        held = set()
        for row in self._stores.library.versions_where(versions.c.generation_id == generation.generation_id):
            if content.get(row.document_id, row.sha256) != row.sha256:
                self._removal.version(row)
            else:
                held.add(row.id)
        # Some are gone by now: what replaces a document takes its former versions away.
        self._ended = [work for work in self._ended if work.version_id in held]

    def _complete(self, rows: Sequence[Any], generation: Generation) -> set[str]:
        """Versions whose every chunk is in every store, built with the present extractor."""
        stores = self._stores
        words, dense = stores.words.held(), stores.dense(generation.generation_id).held()
        complete = set()
        for row in rows:
            chunk_ids = set(stores.library.chunk_ids([row.id]))
            whole = chunk_ids and chunk_ids <= words and chunk_ids <= dense
            if whole and stores.vectors.all_linked(row.id):
                complete.add(row.id)
        return complete

    def _resumed(self, target: Fingerprint) -> Generation | None:
        """The generation that an interrupted re-index left, if it was for the same target."""
        for generation_id, fingerprint in self._stores.library.generations("building"):
            if fingerprint == target:
                return self._generations.building()
            self._removal.generation(generation_id)
        return None

    def _finish(self, job: Job, kept: Sequence[Any], *, cancelled: str = "") -> None:
        """End the job with what became of each document; ``cancelled`` is the reason where not all were done."""
        done = [
            {
                "document_id": work.document_id,
                "document": work.name,
                "status": work.status.value,
                "chunks": len(work.spans),
                "reason": work.reason,
            }
            for work in self._ended
        ]
        done += [
            {
                "document_id": row.document_id,
                "document": row.name,
                "status": row.status,
                "chunks": row.chunks,
                "reason": row.reason,
            }
            for row in kept
        ]
        computed = sum(work.computed for work in self._ended)
        total = sum(int(row["chunks"]) for row in done)
        details = {
            "documents": done,
            "chunks": total,
            "embeddings_computed": computed,
            "embeddings_reused": total - computed,
        }
        failed = [work.error for work in self._ended if work.error]
        reason = f"{len(failed)} of {len(done)} documents could not be re-indexed: {failed[0]}" if failed else ""
        state = JobState.CANCELLED if cancelled else JobState.FAILED if failed else JobState.DONE
        self._stores.jobs.finish(job.job_id, state, None, cancelled or reason, **details)
