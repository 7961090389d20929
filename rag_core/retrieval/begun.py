"""A search that goes on while the question is embedded."""

from __future__ import annotations

from concurrent.futures import Future

from rag_core.types import Hit, Question, Versions


class Begun:
    """A retriever's search that was begun before; a retriever of that name.

    Words need no model: looked up beside it, they cost a question only what they take longer than it.

    Parameters
    ----------
    name : str
        What its scores are called.
    found : Future
        What it finds, best first.
    """

    def __init__(self, name: str, found: Future[list[Hit]]) -> None:
        self.name = name
        self._found = found

    def retrieve(self, question: Question, k: int, versions: Versions | None = None) -> list[Hit]:
        """What was found in the versions and for the words that it was begun with, waited for.

        Raises what the search raised.
        """
        return self._found.result()[:k]
