"""The tasks and results that the stages of indexing exchange, and the queue in front of the embedding stage."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag_core.errors import RagError
from rag_core.runtime.index_generations import IndexGeneration
from rag_core.store.database import group_values
from rag_core.types.chunks import ChunkSpan, SparseVector
from rag_core.types.documents import DocumentStatus, Page, PageState
from rag_core.types.jobs import JobState

log = logging.getLogger(__name__)
# Maximum number of page numbers that a message lists.
MAX_LISTED = 8
# Maximum number of documents that wait for the embedder, so that parsing does not run far ahead.
MAX_WAITING = 64
CANCELLED = "Cancelled before it was indexed."
# The reason of a cancelled job that indexes no file, such as a re-index.
NOT_STARTED = "Cancelled before it started."
DELETED = "Deleted before it was indexed."
EMBEDDING_ERROR = "An internal error occurred while it was embedded; the log has the details. Retry it."
_JOB_STATES = {DocumentStatus.CANCELLED: JobState.CANCELLED, DocumentStatus.FAILED: JobState.FAILED}


@dataclass(frozen=True, slots=True, eq=False)
class IndexingTask:
    """A version to parse, chunk, embed and publish.

    Parameters
    ----------
    job_id, version_id, document_id, name : str
    generation : IndexGeneration, optional
        The index generation of the version. Default: the generation that is active when parsing starts.
    activate : bool
        Whether searches find the version as soon as it is complete. A re-index that builds a new generation activates
        all versions together instead.
    is_reindex : bool
        Whether the task is part of a re-index. The job of a re-index ends when all its tasks have ended.
    is_indexed_again : bool
        Whether stored content is indexed again. If a new file has replaced that content meanwhile, this version must
        not replace the new file.
    is_for_snapshot : bool
        Whether the content is only in snapshots, so that searches of the present documents must not find it.
    parsed_version_id : str, optional
        A version of the same file whose stored pages are used instead of parsing the file again.
    password : str, optional
        Password of an encrypted file.
    ocr : str, optional
        How text in pictures is recognized. Default: `Settings.ocr`.
    is_separate : bool
        Whether attached files are separate; see `Documents.submit`.
    started_ns : int
        When the task started, as `time.time_ns` counts it.
    """

    job_id: str
    version_id: str
    document_id: str
    name: str
    generation: IndexGeneration | None = None
    activate: bool = True
    is_reindex: bool = False
    is_indexed_again: bool = False
    is_for_snapshot: bool = False
    parsed_version_id: str | None = None
    password: str | None = field(default=None, repr=False)
    ocr: str | None = None
    is_separate: bool = True
    started_ns: int = field(default_factory=time.time_ns)


@dataclass(frozen=True, slots=True, eq=False)
class ChunkedDocument:
    """The pages and chunks of a version before they are stored. ``note`` is a message about attached files."""

    task: IndexingTask
    generation: IndexGeneration
    parser_version: str
    pages: Sequence[Page]
    spans: Sequence[ChunkSpan]
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingTask:
    """A version whose chunks are stored and whose embeddings must be computed.

    The task does not contain the pages, because their word boxes would use much memory while many tasks wait.

    Attributes
    ----------
    task : IndexingTask
    generation : IndexGeneration
    spans : sequence of ChunkSpan
    chunk_ids : sequence of int
    hashes : sequence of bytes
        The hash of the embedded text of each chunk.
    status : DocumentStatus
    reason : str
        Status and reason are stored when the version is published.
    computed : int
        Number of embeddings that were computed for the task so far.
    is_repeated : bool
        Whether the publication stage returned the task, because embeddings were missing.
    """

    task: IndexingTask
    generation: IndexGeneration
    spans: Sequence[ChunkSpan]
    chunk_ids: Sequence[int]
    hashes: Sequence[bytes]
    status: DocumentStatus
    reason: str
    computed: int = 0
    is_repeated: bool = False

    def build_result(self, status: DocumentStatus, reason: str, computed: int) -> TaskResult:
        """Return the result that ends this task."""
        return TaskResult(self.task, status, reason, len(self.spans), computed)

    def build_failure(self, error: BaseException, computed: int) -> TaskResult:
        """Return the result of this task after an error. An unexpected error is logged but not shown to users."""
        if isinstance(error, RagError):
            return self.build_result(DocumentStatus.FAILED, str(error), computed)
        log.error("embedding %s failed", self.task.name, exc_info=error)
        return replace(self.build_result(DocumentStatus.FAILED, EMBEDDING_ERROR, computed), is_internal=True)


@dataclass(frozen=True, slots=True, eq=False)
class PublicationTask:
    """A version whose embeddings are stored.

    ``computed`` is the number of embeddings that were not reused. ``encodings`` maps the name of each retriever with
    an encoder to the vectors of the chunks.
    """

    embedded: EmbeddingTask
    computed: int
    encodings: Mapping[str, Sequence[SparseVector]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class TaskResult:
    """The result of a task: published, rejected, failed or cancelled.

    ``computed`` is the number of embeddings that were not reused. ``is_internal`` is true if the task failed because of
    an error in this program, not because of the document.
    """

    task: IndexingTask
    status: DocumentStatus
    reason: str
    chunks: int = 0
    computed: int = 0
    needs_password: bool = False
    is_internal: bool = False

    @property
    def is_published(self) -> bool:
        return self.status in (DocumentStatus.INDEXED, DocumentStatus.PARTIAL)

    @property
    def has_failed(self) -> bool:
        """Whether the document could not be indexed; false if it was cancelled."""
        return self.status in (DocumentStatus.REJECTED, DocumentStatus.FAILED)


class EmbeddingQueue:
    """The bounded queue between parsing and embedding, which returns the shortest document first.

    The tasks of one document keep their order, because its latest version must be published last.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._tasks: list[EmbeddingTask] = []
        self._is_closed = False

    def put(self, task: EmbeddingTask) -> None:
        """Add a task; block while the queue is full."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._tasks) < MAX_WAITING)
            self._tasks.append(task)
            self._changed.notify_all()

    def put_back(self, task: EmbeddingTask) -> None:
        """Add a task that lacks embeddings, even if the queue is full, because the publication stage must not wait."""
        with self._changed:
            self._tasks.append(task)
            self._changed.notify_all()

    def close(self) -> None:
        """Close the queue: after the last task, `get` returns ``None``."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def get(
        self, *, wait: bool = True, max_chunks: float = math.inf, excluded: Collection[str] = ()
    ) -> EmbeddingTask | None:
        """Remove the task with the fewest chunks from the queue, and return the task.

        Of each document, only the task that was added first is considered. Return ``None`` if no task is allowed and
        the queue is closed.

        Parameters
        ----------
        wait : bool
            Whether to wait for a task; if false, return ``None`` if no task is allowed now.
        max_chunks : float
            Maximum number of chunks of the task.
        excluded : collection of str
            Ids of documents whose tasks stay in the queue.
        """
        with self._changed:
            while (task := self._find_shortest(max_chunks, excluded)) is None:
                if not wait or self._is_closed:
                    return None
                self._changed.wait()
            self._tasks.remove(task)
            self._changed.notify_all()
            return task

    def _find_shortest(self, max_chunks: float, excluded: Collection[str]) -> EmbeddingTask | None:
        first_tasks: dict[str, EmbeddingTask] = {}
        for task in self._tasks:
            first_tasks.setdefault(task.task.document_id, task)
        allowed = [
            task
            for document_id, task in first_tasks.items()
            if document_id not in excluded and len(task.spans) <= max_chunks
        ]
        return min(allowed, key=lambda task: len(task.spans), default=None)


def get_job_state(status: DocumentStatus) -> JobState:
    """Return the final state of a job whose document has this status."""
    return _JOB_STATES.get(status, JobState.DONE)


def summarize_pages(pages: Sequence[Page]) -> tuple[DocumentStatus, str]:
    """Return the status of a document with these pages, and a text that lists the pages with problems or remarks.

    The status is ``partial`` if pages failed or have no text, otherwise ``indexed``. The text may be empty.
    """
    parts = []
    failed = [page for page in pages if page.state is PageState.FAILED]
    empty = [page for page in pages if page.state is PageState.EMPTY]
    if failed:
        parts.append(f"{_list_numbers(failed)} could not be read: {failed[0].reason}")
    if empty:
        parts.append(f"{_list_numbers(empty)} without text")
    status = DocumentStatus.PARTIAL if parts else DocumentStatus.INDEXED
    noted = [page for page in pages if page.reason and page.state not in (PageState.FAILED, PageState.EMPTY)]
    by_reason = group_values((page.reason, page) for page in noted)
    parts += [f"{_list_numbers(same)}: {reason}" for reason, same in by_reason.items()]
    return status, "; ".join(parts)


def _list_numbers(pages: Sequence[Page]) -> str:
    shown = ", ".join(str(page.page_index + 1) for page in pages[:MAX_LISTED])
    more = f" and {len(pages) - MAX_LISTED} more" if len(pages) > MAX_LISTED else ""
    return f"{'page' if len(pages) == 1 else 'pages'} {shown}{more}"
