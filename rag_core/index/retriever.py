"""What each retriever says about itself, and what its index can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from rag_core.settings import Settings
from rag_core.store.database import Database
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import Fingerprint, SparseVector
from rag_core.types.retrieval import Hit, PassageScore, Question, SearchStage, VersionFilter


@dataclass(frozen=True, slots=True)
class ChunkBatch:
    """Chunks to add to an index; each sequence has one entry per chunk.

    Attributes
    ----------
    chunk_ids : sequence of int
    texts : sequence of (str, str)
        Prefix and text.
    versions : sequence of str
        Ids of the versions.
    vectors : FloatArray, shape (n, dimension), optional
        Dense vectors; ``None`` for a retriever that reads texts.
    encodings : sequence of SparseVector
        The output of the retriever's own encoder; empty for a retriever without one.
    """

    chunk_ids: Sequence[int]
    texts: Sequence[tuple[str, str]]
    versions: Sequence[str]
    vectors: FloatArray | None = None
    encodings: Sequence[SparseVector] = ()


class ChunkIndex(Protocol):
    """The index of a retriever for one generation."""

    def add(self, chunks: ChunkBatch) -> None:
        """Add chunks, or overwrite chunks with the same ids."""
        ...

    def retrieve(self, question: Question, k: int, versions: VersionFilter | None = None) -> list[Hit]:
        """Return at most ``k`` chunks, best first, without repetitions.

        Only chunks of these ``versions`` are searched. If the list is empty, nothing is found; ``None`` means all
        versions.
        """
        ...

    def delete(self, chunk_ids: Sequence[int]) -> None:
        """Delete these chunks; ignore unknown ids."""
        ...

    def ids(self, chunk_ids: Sequence[int] | None = None) -> set[int]:
        """Return the ids of those of these chunks that are stored, or of all stored chunks."""
        ...

    def count(self, chunk_ids: Sequence[int] | None = None) -> int:
        """Return how many of these chunks are stored, or the number of all stored chunks."""
        ...


class Retriever(ABC):
    """A way to find chunks for a question.

    The rest of the application reads the list `rag_core.index.RETRIEVERS` and these attributes, and adds, deletes,
    counts and searches chunks through `open`.

    Parameters
    ----------
    settings : Settings
    database : Database
        The database of the application, for what the retriever has to remember about itself.

    Attributes
    ----------
    score : PassageScore
        The score of its hits. Its name is also the name of the retriever in configurations, evaluations and JSON.
    stage : SearchStage
        The stage that measures how long a search waits for it.
    store : str
        Name of its index in the status and in receipts of deletions.
    place : str
        Where its chunks are, as users read it: "in the word index".
    reads : {"text", "embedding", "encoding"}
        ``text`` is added as soon as a file is read, and searched before the question is embedded. ``embedding`` needs
        the dense vectors of the embedder. ``encoding`` needs an encoder of its own (`IndexGeneration.encoders`).
    missing : str
        What users read if they order passages by its score and the index was built without it.
    failure : str
        What users read before the reason if its search fails and another one does not.
    is_optional : bool
        Whether configurations can leave it out, which shows what it adds.
    is_shared : bool
        Whether one index contains the chunks of all generations.
    """

    score: ClassVar[PassageScore]
    stage: ClassVar[SearchStage]
    store: ClassVar[str]
    place: ClassVar[str]
    reads: ClassVar[Literal["text", "embedding", "encoding"]]
    failure: ClassVar[str]
    missing: ClassVar[str] = (
        "The index was built without this retriever. Re-index all documents, or order passages by another score."
    )
    is_optional: ClassVar[bool] = False
    is_shared: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, settings: Settings, database: Database) -> None: ...

    @abstractmethod
    def open(self, generation_id: int) -> ChunkIndex:
        """Return the index of a generation, which is empty if nothing was added to it."""

    def open_all(self, generation_ids: Iterable[int]) -> list[ChunkIndex]:
        """Return the indexes of these generations, or the one index that all generations share."""
        return [self.open(one) for one in ([0] if self.is_shared else generation_ids)]

    @abstractmethod
    def drop(self, generation_id: int) -> None:
        """Delete what the index of a generation still contains, after its versions were deleted."""

    @abstractmethod
    def measure_bytes(self, generation_id: int, fingerprint: Fingerprint) -> int:
        """Return the size of the index in bytes."""

    @abstractmethod
    def close(self) -> None:
        """Release files and connections."""

    @classmethod
    def is_used_in(cls, fingerprint: Fingerprint) -> bool:
        """Return whether the index generation with this fingerprint uses the retriever."""
        return True

    @property
    def search_limit_s(self) -> float | None:
        """Seconds after which a question goes on without a search that hangs; ``None`` if none can hang."""
        return None
