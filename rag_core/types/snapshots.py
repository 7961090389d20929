"""Snapshots of the library: the content that documents had at a date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from rag_core.types.answers import Answer
from rag_core.types.local_time import to_local_time


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A named, dated set of documents with the content that they had.

    ``collection`` is empty for a snapshot of the whole library. ``as_of`` is the date for which the snapshot stands,
    and ``created_at`` the time at which it was created. ``searchable`` of its ``documents`` can be searched; the others
    have no index data, for example because the snapshot was created for a past date and is still being indexed.
    ``superseded`` of its documents have other content now, and are indexed only for snapshots.
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
        """Name and date for display."""
        return f"{self.name} ({to_local_time(self.as_of):%d %B %Y})"


@dataclass(frozen=True, slots=True)
class AsOf:
    """The snapshots that a question is asked of, oldest first.

    Each document has the content of the newest of these snapshots that contains it. ``label`` describes the snapshots
    for display.
    """

    label: str
    snapshot_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SnapshotSide:
    """The answer to a question as of one snapshot.

    ``as_of`` is empty for the present. ``text`` is the text of the answer without formatting, in which ``own_words``
    contains the spans of the words that the other text lacks. ``own_passages`` maps the chunk id of each passage that
    the other side does not have to the spans that the most similar passage of the other side lacks; there are none if
    no passage is similar.
    """

    as_of: str
    answer: Answer
    text: str
    own_words: tuple[tuple[int, int], ...]
    own_passages: Mapping[str, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class SnapshotComparison:
    """A question answered as of two snapshots."""

    question: str
    first: SnapshotSide
    second: SnapshotSide

    @property
    def is_same(self) -> bool:
        """Whether both sides have the same text and the same passages."""
        sides = (self.first, self.second)
        return self.first.text == self.second.text and not any(side.own_passages for side in sides)
