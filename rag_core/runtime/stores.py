"""All stores of the application, which are opened and closed together."""

from __future__ import annotations

import threading
from typing import Any

from rag_core.index.dense import DenseIndex, adopt_collection, close_chroma, open_chroma
from rag_core.index.embeddings import EmbeddingStore
from rag_core.index.sparse import SparseIndex, open_sparse_database
from rag_core.index.token_cache import TOKEN_CACHE_BYTES
from rag_core.index.words import WordIndex
from rag_core.settings import Settings
from rag_core.store.conversations import ConversationStore
from rag_core.store.database import Database, create_id
from rag_core.store.document_names import NameStore
from rag_core.store.documents import DocumentStore
from rag_core.store.evaluations import EvaluationStore
from rag_core.store.files import FileStore
from rag_core.store.folder_lock import FolderLock
from rag_core.store.jobs import JobStore
from rag_core.store.model_keys import ModelKeyStore
from rag_core.store.preferences import PreferenceStore
from rag_core.store.snapshots import SnapshotStore, SnapshotView
from rag_core.store.themes import ThemeStore
from rag_core.store.trainings import TrainingStore
from rag_core.store.usage import UsageStore
from rag_core.store.watches import WatchStore
from rag_core.types import AsOf

# Name of the preference that stores the id of the library.
LIBRARY = "library"


class Stores:
    """The database, the uploaded files and the indexes.

    Raises
    ------
    DataFolderInUse, DatabaseInUse, DataFolderUnwritable, StoreUnavailable, SettingsError
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        folder = settings.data_dir
        self._lock = FolderLock(folder)
        try:
            url = settings.database_url
            self.database = Database(url.get_secret_value() if url else folder / "footnote.sqlite", exclusive=True)
            self.documents = DocumentStore(self.database)
            self.names = NameStore(self.database)
            self.snapshots = SnapshotStore(self.database, self.documents)
            self.embeddings = EmbeddingStore(self.database, TOKEN_CACHE_BYTES)
            self.jobs = JobStore(self.database)
            self.conversations = ConversationStore(self.database)
            self.preferences = PreferenceStore(self.database)
            self.model_keys = ModelKeyStore(folder)
            self.watches = WatchStore(self.database)
            self.evaluations = EvaluationStore(self.database)
            self.trainings = TrainingStore(self.database)
            self.usage = UsageStore(self.database)
            self.themes = ThemeStore(self.database)
            self.files = FileStore(settings.files_url or folder / "files")
            self.word_index = WordIndex(folder / "words.sqlite")
            self._sparse_database = open_sparse_database(folder / "sparse.sqlite")
            self._library = self._identify_library()
        except BaseException:
            if database := self.__dict__.get("database"):
                database.close()
            self._lock.release()
            raise
        # Threads hold this lock while they store a file and add a reference to it, and while they check that a file has
        # no references and delete it. Otherwise a file could be deleted just before a reference to it is added.
        self.file_lock = threading.Lock()
        self._chroma: Any = None
        self._dense: dict[int, DenseIndex] = {}
        self._chroma_lock = threading.Lock()

    def view(self, as_of: AsOf | None) -> DocumentStore | SnapshotView:
        """Return the library as of a snapshot, or the present library if ``as_of`` is ``None``."""
        return self.documents if as_of is None else SnapshotView(self.documents, self.snapshots, as_of)

    def dense_index(self, generation_id: int) -> DenseIndex:
        """Return the dense index of a generation. The first call is slow, because it opens Chroma."""
        with self._chroma_lock:
            if self._chroma is None:
                settings = self._settings
                chroma = open_chroma(settings.data_dir / "chroma", settings.chroma_host)
                self._rename_collections(chroma)
                self._chroma = chroma
            if generation_id not in self._dense:
                self._dense[generation_id] = DenseIndex(self._chroma, generation_id, self._library["id"])
            return self._dense[generation_id]

    def sparse_index(self, generation_id: int) -> SparseIndex:
        """Return the learned sparse index of a generation; it is empty if the generation has no sparse encoder."""
        return SparseIndex(self._sparse_database, generation_id)

    def sparse_size(self) -> int:
        """Return the size in bytes of the learned sparse indexes of all generations."""
        with self._sparse_database.read() as connection:
            return self._sparse_database.file_size(connection)

    def _identify_library(self) -> dict[str, Any]:
        """Return the stored ``id`` and ``renamed`` of this library; create and store them if there are none.

        ``id`` is a random id, which is part of the names of the library's collections in Chroma. ``renamed`` is false
        as long as the collections still have the names that earlier versions of Footnote gave them, without an id.
        """
        library: dict[str, Any] | None = self.preferences.get(LIBRARY)
        if library is None:
            has_collections = any(self.documents.generations(state) for state in ("building", "active", "retired"))
            library = {"id": create_id(), "renamed": not has_collections}
            self.preferences.set(LIBRARY, library)
        return library

    def _rename_collections(self, chroma: Any) -> None:
        if self._library["renamed"]:
            return
        for state in ("building", "active", "retired"):
            for generation_id, _ in self.documents.generations(state):
                adopt_collection(chroma, generation_id, self._library["id"])
        self._library = {**self._library, "renamed": True}
        self.preferences.set(LIBRARY, self._library)

    def drop_dense_index(self, generation_id: int) -> None:
        """Delete the dense index of a generation from Chroma."""
        self.dense_index(generation_id).drop()
        with self._chroma_lock:
            self._dense.pop(generation_id, None)

    def close(self) -> None:
        """Close all stores and release the lock on the data folder."""
        try:
            self.word_index.close()
            self._sparse_database.close()
            self.database.close()
            with self._chroma_lock:
                self._dense.clear()
                if self._chroma is not None:
                    close_chroma(self._chroma)
                    self._chroma = None
        finally:
            self._lock.release()
