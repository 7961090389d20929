"""The second stage of indexing: vectors for stored chunks.

It runs in a thread of its own, so that the next document is read while this one's vectors are made.
Whatever waits is embedded together, shortest texts first: a batch of equally long texts has no
padding to compute.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from rag_core.indexing.discarding import Discarding
from rag_core.indexing.publication import Publication
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import Work
from rag_core.runtime.stores import Stores
from rag_core.types import Embedding, embedded_text

log = logging.getLogger(__name__)
TOGETHER = 512
# Texts given to the embedder at once. It has two such lots at a time, and so need not wait while vectors are
# stored; work is cancelled and stopped between them (2 s at most).
AT_ONCE = 64
LOTS = 2
REPORT_EVERY_S = 0.25


class EmbeddingStage:
    """Takes `Work`, and hands it on to its publication.

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
        self._cancelled = cancelled
        self._discarding = Discarding(stores, removal, ended)
        self._publication = Publication(stores, removal, self._discarding, cancelled, ended, self._remake)
        # Bounded: documents must not be read much faster than their vectors are made.
        self._waiting: queue.Queue[Work | None] = queue.Queue(maxsize=64)
        self._calls = ThreadPoolExecutor(LOTS, thread_name_prefix="embedding")
        self._saving = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self._stopping = False

    def start(self) -> None:
        self._publication.start()
        self._thread.start()

    def put(self, work: Work) -> None:
        """Hand over a version; waits while too many are waiting."""
        self._waiting.put(work)

    def stop(self) -> None:
        """End after the current lots; what is unfinished goes on at the next start."""
        self._stopping = True
        self._waiting.put(None)
        self._thread.join()
        self._publication.stop()
        self._calls.shutdown()

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
            self._discarding.failed(group[0], error)
            return
        for work in group:
            if self._stopping:
                return
            self._publication.put(work)

    def _remake(self, work: Work) -> bool:
        """Make what vectors of a work have gone since; false where it was cancelled or it is time to stop."""
        work.embedded, again = 0, [work]
        self._embed(again)
        return bool(again) and not self._stopping

    def _embed(self, group: list[Work]) -> None:
        """Make and store the vectors that are missing; works that are cancelled leave the group."""
        embedder, space = group[0].generation.embedder, group[0].generation.space
        texts, owners = self._missing(group, space)
        order = sorted(texts, key=lambda digest: texts[digest][1])
        running: deque[tuple[list[bytes], Future[list[Embedding]]]] = deque()
        reported = 0.0
        for first in range(0, len(order), AT_ONCE):
            self._drop_cancelled(group)
            if self._stopping or not group:
                break
            lot = [one for one in order[first : first + AT_ONCE] if any(work in group for work in owners[one])]
            running.append((lot, self._calls.submit(embedder.embed, [texts[one][0] for one in lot])))
            if len(running) == LOTS:
                self._keep(space, group, owners, _made(*running.popleft()))
            if time.monotonic() - reported > REPORT_EVERY_S:
                reported = time.monotonic()
                self._report(group)
        while running:
            self._keep(space, group, owners, _made(*running.popleft()))
        self._drop_cancelled(group)

    def _missing(
        self, group: Sequence[Work], space: str
    ) -> tuple[dict[bytes, tuple[str, int]], dict[bytes, list[Work]]]:
        """Texts without vectors, each with its length in tokens, and the works that want them."""
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
        return texts, owners

    def _keep(
        self,
        space: str,
        group: Sequence[Work],
        owners: dict[bytes, list[Work]],
        made: dict[bytes, Embedding],
    ) -> None:
        """Store vectors, but for what only cancelled works asked for: nobody would own it."""
        wanted = {
            digest: embedding for digest, embedding in made.items() if any(work in group for work in owners[digest])
        }
        with self._saving:  # what one thread finds missing, the other must not store before it
            self._stores.vectors.save(space, wanted)
        for digest in wanted:
            owners[digest][0].computed += 1
            for work in owners[digest]:
                work.embedded += 1

    def _report(self, group: Sequence[Work]) -> None:
        for work in group:
            if not work.of_reindex:
                self._stores.jobs.progress(work.job_id, "embedding", work.embedded, len(work.spans))

    def _drop_cancelled(self, group: list[Work]) -> None:
        for work in [work for work in group if self._cancelled(work.job_id)]:
            group.remove(work)
            self._discarding.cancelled(work)


def _made(lot: list[bytes], running: Future[list[Embedding]]) -> dict[bytes, Embedding]:
    return dict(zip(lot, running.result(), strict=True))
