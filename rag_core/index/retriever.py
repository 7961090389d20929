"""The base class of retrievers, and the interface of their indexes."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from rag_core.settings import Settings
from rag_core.store.database import Database
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import Fingerprint, SparseVector
from rag_core.types.retrieval import Excluding, Hit, PassageScore, Question, SearchStage, VersionFilter


@dataclass(frozen=True, slots=True)
class ChunkBatch:
    """Chunks to add to an index. Each sequence has one entry for each chunk.

    Attributes
    ----------
    chunk_ids : sequence of int
    texts : sequence of (str, str)
        Prefixes and texts.
    versions : sequence of str
        Version ids.
    vectors : FloatArray, shape (n, dimension), optional
        Dense vectors; ``None`` for a retriever that does not read embeddings.
    encodings : sequence of SparseVector
        Vectors of the retriever's own encoder; empty for a retriever without an encoder.
    """

    chunk_ids: Sequence[int]
    texts: Sequence[tuple[str, str]]
    versions: Sequence[str]
    vectors: FloatArray | None = None
    encodings: Sequence[SparseVector] = ()


def build_version_condition(versions: VersionFilter | None) -> tuple[str, dict[str, str | bool]]:
    """Return an SQLite condition for the column ``version``, which begins with AND, and the values of its parameters.

    Both are empty if ``versions`` is ``None``.
    """
    if versions is None:
        return "", {}
    ids, is_included = (versions.versions, False) if isinstance(versions, Excluding) else (versions, True)
    condition = "AND (version IN (SELECT value FROM json_each(:versions))) = :is_included"
    return condition, {"versions": json.dumps(list(ids)), "is_included": is_included}


class ChunkIndex(Protocol):
    """The index of a retriever for one generation."""

    def add(self, chunks: ChunkBatch) -> None:
        """Add chunks, or overwrite chunks with the same ids."""
        ...

    def retrieve(self, question: Question, k: int, versions: VersionFilter | None = None) -> list[Hit]:
        """Return at most ``k`` distinct chunks, best first.

        Only chunks of ``versions`` are searched. An empty list finds nothing, and ``None`` stands for all versions. If
        ``versions`` is a `CountedAlone`, the scores must not depend on chunks of other versions, which the user may not
        see.
        """
        ...

    def delete(self, chunk_ids: Sequence[int]) -> None:
        """Delete chunks. Unknown ids are ignored."""
        ...

    def ids(self, chunk_ids: Sequence[int] | None = None) -> set[int]:
        """Return the ids of the chunks in the index; with ``chunk_ids``, only ids that are in both."""
        ...

    def count(self, chunk_ids: Sequence[int] | None = None) -> int:
        """Return the number of chunks in the index; with ``chunk_ids``, only these chunks are counted."""
        ...


class Retriever(ABC):
    """A method to find chunks for a question, with its index and its names for users.

    `rag_core.index.RETRIEVERS` lists the retrievers.

    Parameters
    ----------
    settings : Settings
    database : Database
        The database of the application, in which a retriever can store preferences.

    Attributes
    ----------
    score : PassageScore
        The score of the hits. The name of the score is also the name of the retriever in configurations, evaluations
        and JSON.
    stage : SearchStage
        The stage that measures how long a search waits for the retriever.
    store : str
        Name of the index in the status and in the results of deletions.
    place : str
        Where the chunks are, in words for users, such as "in the word index".
    reads : {"text", "embedding", "encoding"}
        What is indexed. ``text``: the texts of chunks, which are indexed as soon as a file is read, and searched before
        the question is embedded. ``embedding``: the dense vectors of the embedder. ``encoding``: the vectors of the
        retriever's own encoder (`IndexGeneration.encoders`).
    missing : str
        Message for users who order passages by the score of the retriever although the index was built without it.
    failure : str
        Beginning of the message for users, before the reason, if the search fails while another retriever succeeds.
    is_optional : bool
        Whether configurations can switch the retriever off.
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
        """Return the index of a generation; for a new generation, the index is empty."""

    def open_all(self, generation_ids: Iterable[int]) -> list[ChunkIndex]:
        """Return the indexes of generations, or the one index that all generations share."""
        return [self.open(one) for one in ([0] if self.is_shared else generation_ids)]

    @abstractmethod
    def drop(self, generation_id: int) -> None:
        """Delete the index of a generation whose versions have been deleted."""

    @abstractmethod
    def measure_bytes(self, generation_id: int, fingerprint: Fingerprint) -> int:
        """Return the size of the index in bytes."""

    @abstractmethod
    def close(self) -> None:
        """Release files and connections."""

    @classmethod
    def is_used_in(cls, fingerprint: Fingerprint) -> bool:
        """Return whether the index generation with a fingerprint uses the retriever."""
        return True

    @property
    def search_limit_s(self) -> float | None:
        """Maximum time in seconds for which a question waits for the search; ``None`` without a limit."""
        return None
