"""Collections: named sets of documents that questions can be limited to."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.store.documents import DocumentStore
from rag_core.store.file_names import clean_collection
from rag_core.types.documents import DEFAULT_COLLECTION


class Collections:
    """The collections of the library. A collection exists as long as it contains a document.

    Parameters
    ----------
    library : DocumentStore
    """

    def __init__(self, library: DocumentStore) -> None:
        self._library = library

    def list(self) -> dict[str, int]:
        """Return the number of documents in each collection, sorted by name; leave out the default collection."""
        counts = self._library.collections()
        names = sorted(counts.keys() - {DEFAULT_COLLECTION}, key=str.casefold)
        return {name: counts[name] for name in names}

    def move_documents(self, document_ids: Sequence[str], collection: str) -> None:
        """Move documents into a collection, either all or none.

        Raises
        ------
        CollectionError
            The name is empty, or the collection would contain two documents with the same name.
        """
        self._library.move(document_ids, clean_collection(collection))
