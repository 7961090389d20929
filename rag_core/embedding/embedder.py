"""The interface of embedders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.types.arrays import IntArray
from rag_core.types.chunks import Embedding
from rag_core.types.retrieval import Question


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """The properties of an embedder. Vectors of embedders with equal properties can be compared.

    ``weights`` is a SHA-256 of the weights and the prompts of the model, in hexadecimal digits. ``projection`` is the
    name of a `Projection`.
    """

    name: str
    weights: str
    dimension: int
    token_dimension: int
    projection: str


class Embedder(Protocol):
    """A model that computes vectors for texts. All methods are thread-safe."""

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
        """Return the character spans of the tokens of each text, shape (n, 2), without special tokens."""
        ...

    def embed(self, texts: Sequence[str], *, background: bool = True) -> list[Embedding]:
        """Return the embedding of each text, without token vectors of special tokens.

        One call with many texts is faster than many calls. If ``background`` is false, the texts do not wait for texts
        of earlier calls.

        Raises
        ------
        EmbedderError
            A text has more than `window` tokens. Texts are not truncated, because searches would not find their ends.
        """
        ...

    def embed_question(self, question: str, *, low_priority: bool = False) -> Question:
        """Return a question with its vectors. If the question has more than `window` tokens, its end is ignored.

        If ``low_priority`` is true, an embedder may use only one core and a lower precision, so that other questions
        are not slowed down.
        """
        ...
