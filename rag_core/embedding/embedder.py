"""The interface of embedders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.types import Embedding, IntArray, Question


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """The properties that embedders with comparable vectors share; ``weights`` is a hexadecimal SHA-256."""

    name: str
    weights: str
    dimension: int
    token_dimension: int
    projection: str


class Embedder(Protocol):
    """Computes vectors for texts. All methods are thread-safe."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    @property
    def window(self) -> int:
        """Maximum number of tokens of a text, including special tokens."""
        ...

    @property
    def special_tokens(self) -> int:
        """Number of special tokens that are added to each text."""
        ...

    def offsets(self, texts: Sequence[str]) -> list[IntArray]:
        """Return the character spans of each text's tokens without special tokens, shape (n, 2) each."""
        ...

    def embed(self, texts: Sequence[str], *, background: bool = True) -> list[Embedding]:
        """Embed texts, best in large batches; token vectors exclude special tokens.

        With ``background=False``, do not queue behind texts that are embedded in the background.

        Raises
        ------
        EmbedderError
            A text is longer than the window; texts are never truncated silently.
        """
        ...

    def embed_question(self, question: str, *, low_priority: bool = False) -> Question:
        """Embed a question, truncated to the window.

        With ``low_priority``, use one core and reduced precision, so that a question embedded at the same time is not
        slowed down.
        """
        ...
