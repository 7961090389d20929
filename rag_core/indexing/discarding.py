"""How a version ends that will not be published: it failed or was cancelled on its way."""

from __future__ import annotations

import logging
from collections.abc import Callable

from rag_core.errors import RagError
from rag_core.indexing.removal import Removal
from rag_core.indexing.task import Work
from rag_core.runtime.stores import Stores
from rag_core.types import DocumentStatus, JobState

log = logging.getLogger(__name__)


class Discarding:
    """Ends works that come to nothing.

    Parameters
    ----------
    stores : Stores
    removal : Removal
    ended : callable
        Called with each work once it is ended.
    """

    def __init__(self, stores: Stores, removal: Removal, ended: Callable[[Work], None]) -> None:
        self._stores = stores
        self._removal = removal
        self._ended = ended

    def failed(self, work: Work, error: Exception) -> None:
        """End a work with what went wrong; what is no error of ours goes to the log."""
        if not isinstance(error, RagError):
            log.error("the vectors of %s could not be made", work.name, exc_info=error)
            error = RagError("An internal error while its vectors were made; the log has the details. Retry it.")
        work.error, work.status, work.reason = str(error), DocumentStatus.FAILED, str(error)
        self._discard(work, JobState.FAILED)

    def cancelled(self, work: Work) -> None:
        """End a work that is no longer wanted."""
        work.status, work.reason = DocumentStatus.CANCELLED, "Cancelled before it was indexed."
        self._discard(work, JobState.CANCELLED)

    def replaced(self, work: Work) -> None:
        """End a work that read a file once more, since another file has taken that one's place."""
        work.status, work.reason = DocumentStatus.CANCELLED, "Another file took its place while it was read again."
        self._discard(work, JobState.CANCELLED)

    def _discard(self, work: Work, state: JobState) -> None:
        try:
            self._removal.abandon(work.version_id, work.status, work.reason, keep=not work.activate)
            if not work.of_reindex:
                self._stores.jobs.finish(work.job_id, state, work.status, work.reason)
        finally:
            self._ended(work)
