"""Find searchable documents, count documents by collection, and convert scopes to and from entries of a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pages.shared.translation import _
from rag_core.types.conversations import Scope
from rag_core.types.documents import DEFAULT_COLLECTION, DocumentInfo, DocumentStatus

SEARCHABLE = (DocumentStatus.INDEXED, DocumentStatus.PARTIAL)
# This prefix distinguishes collection names from document ids in one list. Document ids contain no colon.
_COLLECTION = "collection:"
_NOT_ADDED = (DocumentStatus.REJECTED, DocumentStatus.FAILED, DocumentStatus.CANCELLED)


def find_searchable(documents: Iterable[DocumentInfo]) -> list[DocumentInfo]:
    """Return the documents that a search can find, ordered by name.

    A document that is being re-indexed is included, because searches use its current chunks until the new ones are
    complete.
    """
    searchable = [one for one in documents if one.status in SEARCHABLE or one.chunks]
    return sorted(searchable, key=lambda one: one.name.lower())


def split_rejected(documents: Iterable[DocumentInfo]) -> tuple[list[DocumentInfo], list[DocumentInfo]]:
    """Split files into documents, and files that were rejected, failed or cancelled before anything was searchable."""
    parts: tuple[list[DocumentInfo], list[DocumentInfo]] = [], []
    for one in documents:
        parts[one.status in _NOT_ADDED and not one.chunks].append(one)
    return parts


def count_by_collection(documents: Iterable[DocumentInfo]) -> dict[str, int]:
    """Return the number of documents in each collection except the default one, ordered by collection name."""
    counts = Counter(one.collection for one in documents if one.collection != DEFAULT_COLLECTION)
    return dict(sorted(counts.items(), key=lambda one: one[0].casefold()))


def format_collection_name(name: str) -> str:
    """Return the display name of a collection."""
    return _("No collection") if name == DEFAULT_COLLECTION else name


def name_scope_entries(documents: Sequence[DocumentInfo]) -> dict[str, str]:
    """Return the display name of each possible entry of a scope: first collections, then documents.

    An entry is the id of a document, or the name of a collection after the prefix `_COLLECTION`.
    """
    collections = count_by_collection(documents).items()
    names = {
        f"{_COLLECTION}{name}": _("Collection {name} ({number})", name=name, number=number)
        for name, number in collections
    }
    return names | {one.document_id: one.all_names for one in documents}


def list_scope_entries(scope: Scope) -> list[str]:
    """Return the entries of a scope, in the form that `name_scope_entries` uses as keys."""
    return [*(f"{_COLLECTION}{name}" for name in scope.collections), *scope.documents]


def build_scope(entries: Sequence[str]) -> Scope:
    """Return the scope that consists of these entries."""
    named = [one.removeprefix(_COLLECTION) for one in entries if one.startswith(_COLLECTION)]
    return Scope(tuple(one for one in entries if not one.startswith(_COLLECTION)), tuple(named))


def remove_missing(scope: Scope, library: Sequence[DocumentInfo]) -> Scope:
    """Return the scope without documents that were deleted and collections that are empty."""
    ids, named = {one.document_id for one in library}, {one.collection for one in library}
    return replace(
        scope,
        documents=tuple(one for one in scope.documents if one in ids),
        collections=tuple(one for one in scope.collections if one in named),
    )
