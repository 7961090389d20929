"""What an embedder is, whatever is behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.types import Embedding, IntArray, Question


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What makes two embedders' vectors comparable. ``weights`` is a SHA-256, hexadecimal."""

    name: str
    weights: str
    dimension: int
    token_dimension: int
    projection: str


class Embedder(Protocol):
    """Turns text into vectors. Methods may be called from several threads."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    @property
    def window(self) -> int:
        """Most tokens a text may have, special ones included."""
        ...

    @property
    def special_tokens(self) -> int:
        """How many tokens of the window special ones take."""
        ...

    def offsets(self, texts: Sequence[str]) -> list[IntArray]:
        """Character spans of each text's tokens, special ones left out, shape (n, 2) each."""
        ...

    def embed(self, texts: Sequence[str], *, background: bool = True) -> list[Embedding]:
        """Embed texts, the more at once the better; token vectors leave the special tokens out.

        With ``background=False``, do not wait for texts that are being embedded in the background: somebody waits
        for these.

        Raises
        ------
        EmbedderError
            A text is longer than the window: the embedder never drops words in silence.
        """
        ...

    def embed_question(self, question: str, *, low_priority: bool = False) -> Question:
        """Embed a question; what does not fit the window is left out.

        With ``low_priority``, use one core and reduced precision, so that a question embedded at the same time is not
        slowed down.
        """
        ...
