"""Collections: named sets of documents that questions can be limited to."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.store.documents import DocumentStore
from rag_core.store.file_names import clean_collection
from rag_core.types import DEFAULT_COLLECTION


class Collections:
    """The collections of the library. One exists as long as a document is in it.

    Parameters
    ----------
    library : DocumentStore
    """

    def __init__(self, library: DocumentStore) -> None:
        self._library = library

    def list(self) -> dict[str, int]:
        """Return the number of documents by collection, sorted by name, without the default collection."""
        counts = self._library.collections()
        names = sorted(counts.keys() - {DEFAULT_COLLECTION}, key=str.casefold)
        return {name: counts[name] for name in names}

    def move_documents(self, document_ids: Sequence[str], collection: str) -> None:
        """Move all documents into a collection, or none.

        Raises
        ------
        CollectionError
            The name is empty, or two documents of one name would be in the collection.
        """
        self._library.move(document_ids, clean_collection(collection))
