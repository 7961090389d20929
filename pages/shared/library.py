"""Which documents can be asked, and what they are put together in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rag_core.types import DEFAULT_COLLECTION, DocumentInfo, DocumentStatus, Scope

SEARCHABLE = (DocumentStatus.INDEXED, DocumentStatus.PARTIAL)


def searchable(documents: Iterable[DocumentInfo]) -> list[DocumentInfo]:
    """The documents whose pages can be found, by name.

    One that is being indexed anew keeps its chunks meanwhile and counts.
    """
    found = [one for one in documents if one.status in SEARCHABLE or one.chunks]
    return sorted(found, key=lambda one: one.name.lower())


def collections(documents: Iterable[DocumentInfo]) -> dict[str, int]:
    """The collections that somebody made, by name, with how many of these documents each holds."""
    held = Counter(one.collection for one in documents if one.collection != DEFAULT_COLLECTION)
    return dict(sorted(held.items(), key=lambda one: one[0].casefold()))


def collection_words(name: str) -> str:
    """A collection as it is called in the pages."""
    return "No collection" if name == DEFAULT_COLLECTION else name


def still_held(scope: Scope, library: Sequence[DocumentInfo]) -> Scope:
    """A scope without the documents that were deleted since, and the collections that hold none any more."""
    ids, named = {one.document_id for one in library}, {one.collection for one in library}
    return Scope(
        tuple(one for one in scope.documents if one in ids), tuple(one for one in scope.collections if one in named)
    )
