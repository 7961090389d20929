"""The rows of the chunks that one question found."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from typing import Any

from rag_core.store.documents import Library


class ChunkRows:
    """Fetches rows while their chunks are compared with the question, and keeps them: all stages after it read them.

    Parameters
    ----------
    library : Library
    calls : Executor
        What fetches them meanwhile.
    """

    def __init__(self, library: Library, calls: Executor) -> None:
        self._library = library
        self._calls = calls
        self._asked: set[int] = set()
        self._begun: list[Future[dict[int, Any]]] = []
        self._rows: dict[int, Any] = {}

    def begin(self, chunk_ids: Sequence[int]) -> None:
        """Fetch from now on those of these that were not asked for before."""
        if new := [one for one in chunk_ids if one not in self._asked]:
            self._asked.update(new)
            self._begun.append(self._calls.submit(self._library.visible_chunks, new))

    def __call__(self, chunk_ids: Sequence[int]) -> dict[int, Any]:
        """Rows by id, waited for, of those of these chunks that a search may see; see `Library.visible_chunks`."""
        self.begin(chunk_ids)
        while self._begun:
            self._rows |= self._begun.pop().result()
        return {one: self._rows[one] for one in chunk_ids if one in self._rows}
