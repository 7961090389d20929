"""Which documents can be asked."""

from __future__ import annotations

from collections.abc import Iterable

from rag_core.types import DocumentInfo, DocumentStatus

SEARCHABLE = (DocumentStatus.INDEXED, DocumentStatus.PARTIAL)


def searchable(documents: Iterable[DocumentInfo]) -> list[DocumentInfo]:
    """The documents whose pages can be found, by name.

    One that is being indexed anew keeps its chunks meanwhile and counts.
    """
    found = [one for one in documents if one.status in SEARCHABLE or one.chunks]
    return sorted(found, key=lambda one: one.name.lower())
