"""All stores, opened and closed together."""

from __future__ import annotations

import threading
from typing import Any

from rag_core.index.dense import DenseIndex, open_chroma
from rag_core.index.embeddings import EmbeddingStore
from rag_core.index.words import WordIndex
from rag_core.settings import Settings
from rag_core.store.conversations import ConversationStore
from rag_core.store.database import Database
from rag_core.store.documents import DocumentStore
from rag_core.store.evaluations import EvaluationStore
from rag_core.store.files import FileStore
from rag_core.store.folder_lock import FolderLock
from rag_core.store.jobs import JobStore
from rag_core.store.preferences import PreferenceStore
from rag_core.store.usage import UsageStore
from rag_core.store.watches import WatchStore


class Stores:
    """The database, the uploaded files and the indexes.

    Raises
    ------
    DataFolderInUse, DataFolderUnwritable, StoreUnavailable, SettingsError
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        folder = settings.data_dir
        self._lock = FolderLock(folder)
        try:
            url = settings.database_url
            self.database = Database(url.get_secret_value() if url else folder / "footnote.sqlite")
            self.documents = DocumentStore(self.database)
            self.embeddings = EmbeddingStore(self.database, settings.token_cache_mb << 20)
            self.jobs = JobStore(self.database)
            self.conversations = ConversationStore(self.database)
            self.preferences = PreferenceStore(self.database)
            self.watches = WatchStore(self.database)
            self.evaluations = EvaluationStore(self.database)
            self.usage = UsageStore(self.database)
            self.files = FileStore(settings.files_url or folder / "files")
            self.word_index = WordIndex(folder / "words.sqlite")
        except BaseException:
            self._lock.release()
            raise
        # Locked while a file is stored and referenced, or checked for references and deleted.
        self.file_lock = threading.Lock()
        self._chroma: Any = None
        self._dense: dict[int, DenseIndex] = {}
        self._chroma_lock = threading.Lock()

    def dense_index(self, generation_id: int) -> DenseIndex:
        """Return the dense index of a generation. The first call opens Chroma, which takes seconds."""
        with self._chroma_lock:
            if self._chroma is None:
                settings = self._settings
                self._chroma = open_chroma(settings.data_dir / "chroma", settings.chroma_host, settings.chroma_port)
            if generation_id not in self._dense:
                self._dense[generation_id] = DenseIndex(self._chroma, generation_id)
            return self._dense[generation_id]

    def drop_dense_index(self, generation_id: int) -> None:
        """Delete a generation from Chroma."""
        self.dense_index(generation_id).drop()
        with self._chroma_lock:
            self._dense.pop(generation_id, None)

    def close(self) -> None:
        """Close all stores and release the lock on the data folder."""
        try:
            self.word_index.close()
            self.database.close()
            with self._chroma_lock:
                self._dense.clear()
                if self._chroma is not None:
                    self._chroma.close()
                    self._chroma = None
        finally:
            self._lock.release()
