"""Select the passages that a language model reads for a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_core.llm.context_budget import count_prompt_tokens, pack_batches, spread_evenly
from rag_core.retrieval.passages import build_passage
from rag_core.store.documents import DocumentStore
from rag_core.store.snapshots import SnapshotView
from rag_core.types import Passage

# Chunks may be only half as long as the setting allows, so the selection starts with twice as many chunks as would fit
# at full length. Chunks that do not fit are then dropped.
_SHORTER = 2.0
# Tokens that a passage takes in the prompt in addition to its text.
_PER_PASSAGE = 40


def select_passages(
    library: DocumentStore,
    view: DocumentStore | SnapshotView,
    documents_in_scope: Sequence[str] | None,
    chunk_tokens: int,
    capacity: int,
    calls: int,
) -> tuple[list[Passage], int]:
    """Return the passages that fit into ``calls`` calls, in reading order, and the number of all passages.

    ``view`` determines which versions of the documents of ``library`` are read.
    """
    scope = None if documents_in_scope is None else list(documents_in_scope)
    visible = view.visible_versions(scope)
    documents = [one for one in view.documents(scope) if one.version_id in visible]
    documents.sort(key=lambda one: (one.name.casefold(), one.document_id))
    counts = [one.chunks for one in documents]
    wanted = int(calls * capacity / (chunk_tokens / _SHORTER + _PER_PASSAGE))
    rows = []
    for document, places in zip(documents, spread_evenly(counts, wanted), strict=True):
        ids = [row.id for row in library.chunk_rows(document.version_id)] if places else []
        visible_rows = view.visible_chunks([ids[place] for place in places if place < len(ids)])
        rows += [visible_rows[one] for one in ids if one in visible_rows]
    passages = [build_passage(rank, row, {}) for rank, row in enumerate(rows, 1)]
    return spread_passages(passages, capacity, calls), sum(counts)


def spread_passages(passages: Sequence[Passage], capacity: int, calls: int) -> list[Passage]:
    """Return the passages that fit into ``calls`` calls, spread evenly."""
    kept = list(passages)
    while (parts := len(pack_batches([count_prompt_tokens(one) for one in kept], capacity))) > calls:
        [fewer] = spread_evenly([len(kept)], len(kept) * calls // parts - 1)
        kept = [replace(kept[place], rank=rank) for rank, place in enumerate(fewer, 1)]
    return kept
