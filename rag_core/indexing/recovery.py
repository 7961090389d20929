"""Recovery at start: remove or complete the data that a crash left incomplete."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from rag_core.errors import StoreError, StoreUnavailable
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import get_job_state
from rag_core.runtime.stores import Stores
from rag_core.store.schema import versions
from rag_core.store.snapshots import Content
from rag_core.types.documents import DocumentStatus, VersionRow
from rag_core.types.jobs import JobState

log = logging.getLogger(__name__)
# Name of the preference that is true after a clean shutdown, until the next start.
CLEAN_SHUTDOWN = "clean_shutdown"
# Number of ended jobs that stay in the database, more than any page shows.
KEPT_JOBS = 2000
REPLACED = "A file that was added later replaced it first."


def recover(stores: Stores, removal: Removal) -> bool:
    """Finish removals, reset partly indexed versions, and delete entries that no document uses.

    The stores are compared entry by entry only if the last process did not shut down cleanly. Return false if a store
    was unavailable, so that the next start must repeat the recovery. Searches do not find data that is not removed yet.
    """
    was_clean = stores.preferences.get(CLEAN_SHUTDOWN) is True
    stores.preferences.set(CLEAN_SHUTDOWN, None)
    stores.jobs.requeue_interrupted()
    stores.jobs.remove_ended(KEPT_JOBS)
    _end_published(stores)
    steps: list[Callable[[], None]] = [
        removal.finish_interrupted,
        lambda: _reset_unfinished(stores, removal),
        lambda: _remove_former(stores, removal),
        lambda: _clear_ended(stores, removal),
        *([] if was_clean else [lambda: _remove_orphans(stores)]),
    ]
    is_complete = True
    for step in steps:
        try:
            step()
        except (StoreUnavailable, OSError) as error:
            log.warning("the recovery after a crash is not complete yet: %s", error)
            is_complete = False
    return is_complete


def record_clean_shutdown(stores: Stores) -> None:
    """Record a clean shutdown. Without the record, the next start compares all stores."""
    try:
        stores.preferences.set(CLEAN_SHUTDOWN, True)
    except StoreError as error:
        log.warning("the clean shutdown could not be recorded: %s", error)


def finish_removals(stores: Stores, removal: Removal) -> None:
    """Remove deleted documents, replaced versions, and all generations except the active generation.

    If a store fails, the next call removes the rest. Do not call this function while a re-index builds a generation,
    because that generation would be removed.
    """
    try:
        removal.finish_interrupted()
        _remove_generations(stores, removal, "retired", "building")
        if stores.documents.find_inactive_versions().keys() - stores.snapshots.find_snapshot_only_versions():
            _retire_replaced(stores, removal)
    except StoreError as error:
        log.warning("not all deleted or replaced data could be removed yet: %s", error)


def remove_replaced(stores: Stores, removal: Removal) -> None:
    """Retire replaced versions, except those in a generation that a re-index builds; see `Removal.retire_version`.

    If a store fails, the next call of `finish_removals` removes the rest.
    """
    try:
        _retire_replaced(stores, removal)
    except StoreError as error:
        log.warning("not all replaced data could be removed yet: %s", error)


def resume_jobs(stores: Stores, removal: Removal, job_ids: Iterable[str], given_up: Mapping[str, str]) -> None:
    """End or requeue jobs that are marked as running although a failure of a store stopped them.

    - If the version of a job is complete or has ended, the job ends.
    - If a file that was added later has replaced the version, the job is cancelled.
    - If ``given_up`` contains the job, the job fails with the reason in ``given_up``.
    - Otherwise, the job is queued again and reads its file from the beginning.
    """
    for job_id, state in stores.jobs.states(list(job_ids)).items():
        if state is not JobState.RUNNING:
            continue
        version_id = stores.jobs.get(job_id).details["version_id"]
        row = stores.documents.version(version_id)
        if row is not None and row.state in ("ended", "full", "replaced"):
            status = DocumentStatus(row.status)
            stores.jobs.finish(job_id, get_job_state(status), status, row.reason)
            continue
        if row is not None and is_superseded(stores, row):
            removal.end_version(version_id, DocumentStatus.CANCELLED, REPLACED)
            stores.jobs.finish(job_id, JobState.CANCELLED, DocumentStatus.CANCELLED, REPLACED)
            continue
        if reason := given_up.get(job_id):
            if row is not None:
                removal.end_version(version_id, DocumentStatus.FAILED, reason)
            stores.jobs.finish(job_id, JobState.FAILED, DocumentStatus.FAILED, reason)
            continue
        if row is not None and row.state in ("building", "words"):
            with removal.lock:
                removal.clear_version(version_id, row.generation_id)
                stores.documents.restart_version(version_id)
        stores.jobs.requeue(job_id)
    _end_published(stores)


def is_superseded(stores: Stores, row: VersionRow) -> bool:
    """Return whether a later version with other content is active."""
    active = stores.documents.version(row.active_version) if row.active_version else None
    return active is not None and active.sha256 != row.sha256 and active.added_at > row.added_at


def _clear_ended(stores: Stores, removal: Removal) -> None:
    """Delete the chunks of ended versions that are still stored because a store did not answer."""
    for version_id in stores.documents.find_ended_with_chunks():
        row = stores.documents.version(version_id)
        if row is None:
            continue
        try:
            removal.clear_version(version_id, row.generation_id)
        except StoreError as error:  # a later start tries again; searches do not find the data
            log.warning("the data of %s could not be removed yet: %s", row.name, error)


def _end_published(stores: Stores) -> None:
    """End queued jobs whose version was published before the process ended."""
    for job in stores.jobs.queued("index"):
        row = stores.documents.version(job.details["version_id"])
        if row is not None and row.state in ("full", "replaced"):
            stores.jobs.start(job.job_id)
            stores.jobs.finish(job.job_id, JobState.DONE, DocumentStatus(row.status), row.reason)


def _reset_unfinished(stores: Stores, removal: Removal) -> None:
    """Queue partly indexed versions again.

    A version that has no job and is not searchable by its words is removed instead, if

    - it is part of a re-index that builds a generation,
    - another version of its document is active, or
    - it was added only to index the content of a snapshot again.
    """
    waiting = {job.details["version_id"] for job in stores.jobs.all(active=True)}
    building = {generation_id for generation_id, _ in stores.documents.generations("building")}
    for row in stores.documents.find_versions(versions.c.state.in_(("building", "words"))):
        is_active = row.active_version == row.id  # by its words
        if row.id in waiting or is_active:
            removal.clear_version(row.id, row.generation_id)
            stores.documents.restart_version(row.id)
        elif row.generation_id in building or row.active_version or _is_for_snapshot(stores, removal, row):
            removal.remove_version(row)
            continue
        if row.id not in waiting:
            stores.jobs.add("index", row.name, document_id=row.document_id, version_id=row.id)


def _is_for_snapshot(stores: Stores, removal: Removal, row: VersionRow) -> bool:
    """Return whether a version was added only to index the content of a snapshot again."""
    is_in_snapshot = stores.snapshots.contains(Content(row.document_id, row.sha256))
    return is_in_snapshot and bool(removal.find_same_content(row))


def _retire_replaced(stores: Stores, removal: Removal) -> None:
    """Retire complete versions that are not active, except versions in a generation that is being built.

    Errors of stores are raised.
    """
    with removal.lock:  # no version is published while this lock is held
        building = {generation_id for generation_id, _ in stores.documents.generations("building")}
        for row in stores.documents.find_versions(versions.c.state == "full"):
            if row.active_version != row.id and row.generation_id not in building:
                removal.retire_version(row)


def _remove_former(stores: Stores, removal: Removal) -> None:
    """Remove replaced versions and inactive generations, except a generation that a re-index job still builds."""
    _retire_replaced(stores, removal)
    is_reindexing = any(job.kind == "reindex" for job in stores.jobs.all(active=True))
    _remove_generations(stores, removal, "retired", *(() if is_reindexing else ("building",)))


def _remove_generations(stores: Stores, removal: Removal, *states: str) -> None:
    for generation_id, _ in stores.documents.generations(*states):
        removal.remove_generation(generation_id)


def _remove_orphans(stores: Stores) -> None:
    """Delete index entries, embeddings, files and PDFs that nothing in the database refers to, and partial files."""
    chunk_ids = set(stores.documents.all_chunk_ids())
    generation_ids = [generation_id for generation_id, _ in stores.documents.generations("active", "building")]
    for _, index in stores.open_indexes(*generation_ids):
        index.delete(sorted(index.ids() - chunk_ids))
    stores.embeddings.remove_unused()
    digests = {row.sha256 for row in stores.documents.find_versions()}
    for digest in stores.files.digests():
        if digest not in digests:
            stores.files.delete(digest)
    stores.files.remove_partial_files()
    stores.remove_office_pdfs(digests)
