"""All stores of the application, which are opened and closed together."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Set
from pathlib import Path

from rag_core.index import RETRIEVERS
from rag_core.index.embeddings import EmbeddingStore
from rag_core.index.retriever import ChunkIndex, Retriever
from rag_core.index.token_cache import TOKEN_CACHE_BYTES
from rag_core.index.words import WordIndex, WordRetriever
from rag_core.settings import Settings
from rag_core.store.backups import remove_temporary_backups
from rag_core.store.cards import CardStore
from rag_core.store.conversations import ConversationStore
from rag_core.store.database import Database
from rag_core.store.document_names import NameStore
from rag_core.store.documents import DocumentStore
from rag_core.store.evaluations import EvaluationStore
from rag_core.store.figures import FigureStore
from rag_core.store.files import FileStore
from rag_core.store.folder_lock import FolderLock
from rag_core.store.jobs import JobStore
from rag_core.store.model_keys import ModelKeyStore
from rag_core.store.preferences import PreferenceStore
from rag_core.store.read_only import copy_library, describe_refusal, is_read_only
from rag_core.store.snapshots import SnapshotStore, SnapshotView
from rag_core.store.themes import ThemeStore
from rag_core.store.tokens import TokenStore
from rag_core.store.trainings import TrainingStore
from rag_core.store.usage import UsageStore
from rag_core.store.watches import WatchStore
from rag_core.types.chunks import Fingerprint
from rag_core.types.snapshots import AsOf


class Stores:
    """The database, the uploaded files and the indexes.

    Attributes
    ----------
    retrievers : tuple of Retriever
        One retriever of each class in `RETRIEVERS`, in the same order.
    word_index : WordIndex
        The index of words, which also gives the rarity of each word.
    is_read_only : bool
        Whether the data folder cannot be written. Then a temporary copy of its database and indexes is read. Only
        conversations can be changed, in the copy.

    Raises
    ------
    DataFolderInUse, DatabaseInUse, DataFolderUnwritable, StoreUnavailable, SettingsError
    """

    def __init__(self, settings: Settings) -> None:
        folder = settings.data_dir
        self.is_read_only = not settings.database_url and is_read_only(folder)
        self._copy = copy_library(folder) if self.is_read_only else None
        if self._copy is not None:
            settings = settings.model_copy(update={"data_dir": Path(self._copy.name)})
        self._lock = FolderLock(settings.data_dir)
        remove_temporary_backups(settings.data_dir)
        try:
            url = settings.database_url
            self.database = Database(
                url.get_secret_value() if url else settings.data_dir / "footnote.sqlite", exclusive=True
            )
            # Conversations and retrievers may change the temporary copy of a data folder that cannot be written.
            self.conversations = ConversationStore(self.database)
            self.retrievers: tuple[Retriever, ...] = tuple(one(settings, self.database) for one in RETRIEVERS)
            if self.is_read_only:
                self.database = self.database.refuse_changes(describe_refusal(folder))
            self.documents = DocumentStore(self.database)
            self.names = NameStore(self.database)
            self.snapshots = SnapshotStore(self.database, self.documents)
            self.cards = CardStore(self.database)
            self.figures = FigureStore(self.database)
            self.embeddings = EmbeddingStore(self.database, TOKEN_CACHE_BYTES)
            self.jobs = JobStore(self.database)
            self.preferences = PreferenceStore(self.database)
            self.model_keys = ModelKeyStore(folder)
            self.watches = WatchStore(self.database)
            self.evaluations = EvaluationStore(self.database)
            self.trainings = TrainingStore(self.database)
            self.usage = UsageStore(self.database)
            self.themes = ThemeStore(self.database)
            self.tokens = TokenStore(self.database)
            self.files = FileStore(settings.files_url or folder / "files")
            self._office_pdfs = settings.data_dir / "office-pdfs"
            self.word_index: WordIndex = next(one.index for one in self.retrievers if isinstance(one, WordRetriever))
        except BaseException:
            if database := self.__dict__.get("database"):
                database.close()
            self._release()
            raise
        # Held while a file and a reference to it are stored, and while a file without references is deleted. Otherwise,
        # a file could be deleted just before a reference to it is added.
        self.file_lock = threading.Lock()

    def locate_office_pdf(self, digest: str) -> Path:
        """Return the path of the PDF that LibreOffice makes of the document with this SHA-256; it may not exist yet."""
        return self._office_pdfs / f"{digest}.pdf"

    def remove_office_pdfs(self, kept: Set[str]) -> None:
        """Delete the folders of interrupted conversions, and PDFs of documents whose SHA-256 is not in ``kept``."""
        for path in self._office_pdfs.glob("*"):
            if path.is_dir():
                shutil.rmtree(path)
            elif path.stem not in kept:
                path.unlink()

    def view(self, as_of: AsOf | None) -> DocumentStore | SnapshotView:
        """Return the library as of a snapshot, or the present library if ``as_of`` is ``None``."""
        return self.documents if as_of is None else SnapshotView(self.documents, self.snapshots, as_of)

    def list_retrievers(self, fingerprint: Fingerprint | None, *, with_optional: bool = True) -> list[Retriever]:
        """Return the retrievers of an index with this fingerprint; without a fingerprint, those that are not optional.

        If ``with_optional`` is false, leave out the optional retrievers, which a search can do without.
        """
        return [
            one
            for one in self.retrievers
            if (with_optional or not one.is_optional)
            and (not one.is_optional if fingerprint is None else one.is_used_in(fingerprint))
        ]

    def open_indexes(self, *generation_ids: int) -> list[tuple[Retriever, ChunkIndex]]:
        """Return the indexes of these generations, each with its retriever."""
        return [(one, index) for one in self.retrievers for index in one.open_all(generation_ids)]

    def announce(self, address: str) -> None:
        """Store, for other processes, the address at which this process serves the application."""
        self._lock.announce(address)

    def close(self) -> None:
        """Close all stores and release the lock on the data folder."""
        try:
            for retriever in self.retrievers:
                retriever.close()
            self.database.close()
        finally:
            self._release()

    def _release(self) -> None:
        self._lock.release()
        if self._copy is not None:
            self._copy.cleanup()
