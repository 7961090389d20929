"""The second stage of indexing: vectors for stored chunks, then publication.

It runs in a thread of its own, so that the next document is read while this one's vectors are made.
Whatever waits is embedded together, shortest texts first: a batch of equally long texts has no
padding to compute.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from rag_core.errors import RagError
from rag_core.services.removal import Removal
from rag_core.services.stores import Stores
from rag_core.services.work import Work
from rag_core.store.schema import versions
from rag_core.types import DocumentStatus, Embedding, JobState, embedded_text

log = logging.getLogger(__name__)
TOGETHER = 512
# Texts given to the embedder at once: it waits for the last of them before it takes more (with 32, an
# eighth of its time beside reading), and work is cancelled and stopped between them (2 s at most).
AT_ONCE = 128
SAVE_EVERY = 64
REPORT_EVERY_S = 0.25


class EmbeddingStage:
    """Takes `Work`, ends it.

    Parameters
    ----------
    stores : Stores
    removal : Removal
    cancelled : callable
        Whether a job has been cancelled.
    ended : callable
        Called with each work once it is published, failed or cancelled.
    """

    def __init__(
        self,
        stores: Stores,
        removal: Removal,
        cancelled: Callable[[str], bool],
        ended: Callable[[Work], None],
    ) -> None:
        self._stores = stores
        self._removal = removal
        self._cancelled = cancelled
        self._ended = ended
        # Bounded: documents must not be read much faster than their vectors are made.
        self._waiting: queue.Queue[Work | None] = queue.Queue(maxsize=64)
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self._stopping = False

    def start(self) -> None:
        self._thread.start()

    def put(self, work: Work) -> None:
        """Hand over a version; waits while too many are waiting."""
        self._waiting.put(work)

    def stop(self) -> None:
        """End after the current batch; what is unfinished goes on at the next start."""
        self._stopping = True
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            together = self._take()
            if not together or self._stopping:
                return
            groups: dict[str, list[Work]] = {}
            for work in together:
                groups.setdefault(work.generation.space, []).append(work)
            for group in groups.values():
                try:
                    self._guarded(group)
                except Exception:  # the store that failures are noted in failed as well
                    log.exception("the vectors of %d documents could not be made", len(group))

    def _take(self) -> list[Work]:
        """What is waiting, up to a number of chunks; empty when it is time to stop."""
        first = self._waiting.get()
        taken = [first] if first else []
        while taken and sum(len(work.spans) for work in taken) < TOGETHER:
            try:
                following = self._waiting.get_nowait()
            except queue.Empty:
                break
            if following is None:
                return []
            taken.append(following)
        return taken

    def _guarded(self, group: list[Work]) -> None:
        try:
            self._embed(group)
        except Exception as error:  # noqa: BLE001 - a bug in one document must not end the queue for all
            if len(group) > 1:
                for work in group:
                    work.embedded = work.computed = 0
                    self._guarded([work])
                return
            self._fail(group[0], error)
            return
        for work in group:
            if self._stopping:
                return
            try:
                with self._removal.lock:
                    self._publish(work)
            except Exception as error:  # noqa: BLE001 - as above
                self._fail(work, error)

    def _embed(self, group: list[Work]) -> None:
        """Make and store the vectors that are missing; works that are cancelled leave the group."""
        space = group[0].generation.space
        known = self._stores.vectors.known(space, [one for work in group for one in work.hashes])
        texts: dict[bytes, tuple[str, int]] = {}
        owners: dict[bytes, list[Work]] = {}
        for work in group:
            for span, digest in zip(work.spans, work.hashes, strict=True):
                if digest in known:
                    work.embedded += 1
                    continue
                texts[digest] = (embedded_text(span.prefix, span.text), span.tokens)
                owners.setdefault(digest, []).append(work)
        order = sorted(texts, key=lambda digest: texts[digest][1])
        embedder, made, reported = group[0].generation.embedder, dict[bytes, Embedding](), 0.0
        for first in range(0, len(order), AT_ONCE):
            self._drop_cancelled(group)
            wanted = [one for one in order[first : first + AT_ONCE] if any(w in group for w in owners[one])]
            if self._stopping or not group:
                break
            made |= zip(wanted, embedder.embed([texts[one][0] for one in wanted]), strict=True)
            for digest in wanted:
                owners[digest][0].computed += 1
                for work in owners[digest]:
                    work.embedded += 1
            if len(made) >= SAVE_EVERY:
                self._stores.vectors.save(space, made)
                made = {}
            if time.monotonic() - reported > REPORT_EVERY_S:
                reported = time.monotonic()
                self._report(group)
        # What only cancelled works asked for would be owned by nobody.
        wanted = [one for one in made if any(work in group for work in owners[one])]
        self._stores.vectors.save(space, {one: made[one] for one in wanted})
        self._drop_cancelled(group)

    def _report(self, group: Sequence[Work]) -> None:
        for work in group:
            if not work.of_reindex:
                self._stores.jobs.progress(work.job_id, "embedding", work.embedded, len(work.spans))

    def _publish(self, work: Work) -> None:
        stores, generation = self._stores, work.generation
        found = stores.vectors.known(generation.space, list(work.hashes))
        if stores.library.version(work.version_id) is None:  # deleted while its vectors were made
            stores.vectors.remove_unused(list(found.values()))
            work.status, work.reason = DocumentStatus.CANCELLED, "Deleted before it was indexed."
            self._ended(work)
            return
        if found.keys() != set(work.hashes):  # removed meanwhile with another document of the same text
            work.embedded, again = 0, [work]
            self._embed(again)
            if self._stopping or not again:
                return
            found = stores.vectors.known(generation.space, list(work.hashes))
        stores.vectors.link({chunk: found[digest] for chunk, digest in zip(work.chunk_ids, work.hashes, strict=True)})
        dense = stores.vectors.dense(list(found.values()))
        if work.chunk_ids:
            vectors = np.stack([dense[found[digest]] for digest in work.hashes])
            stores.dense(generation.generation_id).add(work.chunk_ids, vectors, [work.version_id] * len(work.chunk_ids))
        stores.library.publish(work.version_id, work.status, work.reason, active=work.activate)
        if work.activate:
            self._remove_former(work)
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

    def _fail(self, work: Work, error: Exception) -> None:
        if not isinstance(error, RagError):
            log.error("the vectors of %s could not be made", work.name, exc_info=error)
            error = RagError("An internal error while its vectors were made; the log has the details. Retry it.")
        work.error, work.status, work.reason = str(error), DocumentStatus.FAILED, str(error)
        self._discard(work, JobState.FAILED)

    def _drop_cancelled(self, group: list[Work]) -> None:
        for work in [work for work in group if self._cancelled(work.job_id)]:
            group.remove(work)
            work.status, work.reason = DocumentStatus.CANCELLED, "Cancelled before it was indexed."
            self._discard(work, JobState.CANCELLED)

    def _discard(self, work: Work, state: JobState) -> None:
        try:
            self._removal.abandon(work.version_id, work.status, work.reason, keep=not work.activate)
            if not work.of_reindex:
                self._stores.jobs.finish(work.job_id, state, work.status, work.reason)
        finally:
            self._ended(work)
