"""Snapshots of the library, which keep the content that documents had on a date searchable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from rag_core.types.answers import Answer
from rag_core.types.local_time import to_local_time


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The content of documents on a date.

    Attributes
    ----------
    name : str
    collection : str
        The collection of the documents; empty for all documents of the library.
    as_of : datetime
        The time whose content the snapshot contains.
    created_at : datetime
        The time at which the snapshot was created.
    documents : int
        Number of documents in the snapshot.
    searchable : int
        Number of these documents that can be searched. The others are not indexed (yet).
    superseded : int
        Number of these documents that have other content now, and whose former content is indexed only for snapshots.
    """

    snapshot_id: str
    name: str
    collection: str
    as_of: datetime
    created_at: datetime
    documents: int
    searchable: int
    superseded: int

    @property
    def label(self) -> str:
        """Name and date of the snapshot for display."""
        return f"{self.name} ({to_local_time(self.as_of):%d %B %Y})"


@dataclass(frozen=True, slots=True)
class AsOf:
    """The snapshots to search, oldest first. ``label`` describes them for display.

    If several snapshots contain a document, its content in the newest of them is searched.
    """

    label: str
    snapshot_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SnapshotSide:
    """The answer to a question from one of the two snapshots of a `SnapshotComparison`.

    Attributes
    ----------
    as_of : str
        Description of the snapshot; empty for the present documents.
    answer : Answer
    text : str
        Text of the answer without formatting.
    own_words : tuple of (int, int)
        Spans in ``text`` of the words that are not in the other answer.
    own_passages : mapping of str to tuple of (int, int)
        For each passage that the other side lacks, by chunk id, the spans of words that are not in the most similar
        passage of the other side; no spans if no passage is similar.
    """

    as_of: str
    answer: Answer
    text: str
    own_words: tuple[tuple[int, int], ...]
    own_passages: Mapping[str, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class SnapshotComparison:
    """The answers to a question from two snapshots."""

    question: str
    first: SnapshotSide
    second: SnapshotSide

    @property
    def is_same(self) -> bool:
        """Whether both sides have the same text and the same passages."""
        has_same_passages = not self.first.own_passages and not self.second.own_passages
        return self.first.text == self.second.text and has_same_passages
