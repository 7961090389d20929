"""What an embedder is, whatever is behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.types import Embedding, IntArray, Question


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two embedders' vectors comparable. ``weights`` is a SHA-256, hexadecimal."""

    name: str
    weights: str
    dimension: int
    token_dimension: int
    projection: str


class Embedder(Protocol):
    """Turns text into vectors. Methods may be called from several threads."""

    @property
    def identity(self) -> Identity: ...

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

    def embed(self, texts: Sequence[str], *, queued: bool = True) -> list[Embedding]:
        """Embed texts, the more at once the better; token vectors leave the special tokens out.

        Where somebody waits for them they are not ``queued``: they are embedded beside what else there is to
        embed, and not after it.

        Raises
        ------
        EmbedderError
            A text is longer than the window: the embedder never drops words in silence.
        """
        ...

    def embed_question(self, question: str, *, beside: bool = False) -> Question:
        """Embed a question; what does not fit the window is left out.

        What is embedded ``beside`` another question, on which more depends, may be made less exactly, and leaves it the
        cores.
        """
        ...
