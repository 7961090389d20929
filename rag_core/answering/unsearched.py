"""Say which documents a search does not find, or does not find completely."""

from __future__ import annotations

from rag_core.parsing.formats.accepted import ACCEPTED
from rag_core.runtime.stores import Stores
from rag_core.types import format_count
from rag_core.types.searches import Query

NO_DOCUMENTS = f"There are no documents to search. Add {ACCEPTED.plurals}, then ask again."
EMPTY_SNAPSHOT = "The snapshot contains no document that can be searched."
_ONLY_WORDS = "still being indexed and can only be found by words"
_NOT_READ = "still being read and cannot be found yet"
_NOT_INDEXED = "in the snapshot, but not in the index, and cannot be found until re-indexed"


def list_unsearched(query: Query, stores: Stores) -> list[str]:
    """Return a sentence about each kind of documents that searches do not find, or find only by words."""
    if query.as_of is not None:
        counts = {_NOT_INDEXED: stores.snapshots.count_unsearchable(query.as_of, query.documents)}
    else:
        counts = dict(zip((_ONLY_WORDS, _NOT_READ), stores.documents.count_unfinished(query.documents), strict=True))
    return [
        f"{format_count(number, 'document is', 'documents are')} {state}." for state, number in counts.items() if number
    ]


def describe_empty_scope(query: Query, stores: Stores) -> str:
    """Return a sentence if the library, or the snapshot that is searched, is empty; otherwise an empty text."""
    if stores.view(query.as_of).documents():
        return ""
    return NO_DOCUMENTS if query.as_of is None else EMPTY_SNAPSHOT
