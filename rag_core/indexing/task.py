"""One version on its way through the stages, and what its pages amount to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.runtime.index_generations import Generation
from rag_core.types import ChunkSpan, DocumentStatus, Page, PageState

MAX_LISTED = 8


@dataclass(slots=True, eq=False)
class Work:
    """A version whose chunks are stored and whose vectors are to be made.

    ``activate`` says whether it becomes the searched version when it is complete; a re-index that
    builds a new generation activates all at once instead. ``reread`` says that its content was in the
    library before: it must not take the place of other content.
    """

    job_id: str
    version_id: str
    document_id: str
    name: str
    generation: Generation
    spans: Sequence[ChunkSpan]
    chunk_ids: Sequence[int]
    hashes: Sequence[bytes]
    status: DocumentStatus
    reason: str
    activate: bool
    of_reindex: bool = False
    reread: bool = False
    embedded: int = 0
    computed: int = 0
    error: str = ""


def outcome(pages: Sequence[Page]) -> tuple[DocumentStatus, str]:
    """``indexed``, or ``partial`` with the pages that are missing and why."""
    parts = []
    failed = [page for page in pages if page.state is PageState.FAILED]
    empty = [page for page in pages if page.state is PageState.EMPTY]
    if failed:
        parts.append(f"{_listed(failed)} could not be read: {failed[0].reason}")
    if empty:
        parts.append(f"{_listed(empty)} without text")
    if not parts:
        return DocumentStatus.INDEXED, ""
    return DocumentStatus.PARTIAL, "; ".join(parts)


def _listed(pages: Sequence[Page]) -> str:
    shown = ", ".join(str(page.page_index + 1) for page in pages[:MAX_LISTED])
    more = f" and {len(pages) - MAX_LISTED} more" if len(pages) > MAX_LISTED else ""
    return f"{'page' if len(pages) == 1 else 'pages'} {shown}{more}"
