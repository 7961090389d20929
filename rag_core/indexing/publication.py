"""The last stage of indexing: complete versions into the dense index, then into every search.

In a thread of its own: the embedder, which takes nearly all of the time, goes on meanwhile.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

import numpy as np

from rag_core.errors import StoreError
from rag_core.indexing.discarding import Discarding
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import Work
from rag_core.runtime.stores import Stores
from rag_core.store.schema import versions
from rag_core.types import DocumentStatus, JobState

log = logging.getLogger(__name__)


class Publication:
    """Takes `Work` whose vectors are stored, ends it.

    Parameters
    ----------
    stores : Stores
    removal : Removal
    discarding : Discarding
    cancelled : callable
        Whether a job has been cancelled.
    ended : callable
        Called with each work once it is published.
    remake : callable
        Makes the vectors of a work that are missing; false where it was ended or the process is to end.
    """

    def __init__(
        self,
        stores: Stores,
        removal: Removal,
        discarding: Discarding,
        cancelled: Callable[[str], bool],
        ended: Callable[[Work], None],
        remake: Callable[[Work], bool],
    ) -> None:
        self._stores = stores
        self._removal = removal
        self._discarding = discarding
        self._cancelled = cancelled
        self._ended = ended
        self._remake = remake
        self._waiting: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="publication", daemon=True)
        self._stopping = False

    def start(self) -> None:
        self._thread.start()

    def put(self, work: Work) -> None:
        """Hand over a version; they are published in this order."""
        self._waiting.put(work)

    def stop(self) -> None:
        """End after the version at hand; the others go on at the next start."""
        self._stopping = True
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (work := self._waiting.get()) is not None and not self._stopping:
            try:
                self._guarded(work)
                self._read_ahead(work)
            except Exception:  # the store that failures are noted in failed as well
                log.exception("%s could not be published", work.name)

    def _read_ahead(self, work: Work) -> None:
        """Have in memory what questions about a version will compare: what came last is asked about first."""
        if not work.activate:
            return
        try:
            self._stores.vectors.read_ahead(work.chunk_ids)  # of what came to nothing there are none
        except StoreError as error:  # the questions read it themselves
            log.warning("the token vectors of %s could not be read ahead: %s", work.name, error)

    def _guarded(self, work: Work) -> None:
        if self._cancelled(work.job_id):
            self._discarding.cancelled(work)
            return
        try:
            with self._removal.lock:
                self._publish(work)
        except Exception as error:  # noqa: BLE001 - a bug in one document must not end the queue for all
            self._discarding.failed(work, error)

    def _publish(self, work: Work) -> None:
        stores, generation = self._stores, work.generation
        found = stores.vectors.known(generation.space, list(work.hashes))
        row = stores.library.version(work.version_id)
        if row is None or row.state == "removing":  # deleted while its vectors were made
            stores.vectors.remove_unused(list(found.values()))
            work.status, work.reason = DocumentStatus.CANCELLED, "Deleted before it was indexed."
            self._ended(work)
            return
        if found.keys() != set(work.hashes):  # removed meanwhile with another document of the same text
            if not self._remake(work):
                return
            found = stores.vectors.known(generation.space, list(work.hashes))
        stores.vectors.link({chunk: found[digest] for chunk, digest in zip(work.chunk_ids, work.hashes, strict=True)})
        dense = stores.vectors.dense(list(found.values()))
        if work.chunk_ids:
            vectors = np.stack([dense[found[digest]] for digest in work.hashes])
            stores.dense(generation.generation_id).add(work.chunk_ids, vectors, [work.version_id] * len(work.chunk_ids))
        if not stores.library.publish(
            work.version_id, work.status, work.reason, active=work.activate, reread=work.reread
        ):
            self._discarding.replaced(work)
            return
        if work.activate:
            try:
                self._remove_former(work)
            except StoreError as error:  # no search sees it, and the indexer tries again
                log.warning("what %s replaced could not be removed yet: %s", work.name, error)
        if not work.of_reindex:
            stores.jobs.finish(work.job_id, JobState.DONE, work.status, work.reason)
        self._ended(work)

    def _remove_former(self, work: Work) -> None:
        former = self._stores.library.versions_where(
            versions.c.document_id == work.document_id,
            versions.c.id != work.version_id,
            versions.c.state != "building",
        )
        for row in former:
            self._removal.version(row)
