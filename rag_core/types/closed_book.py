"""An answer without passages, beside the answer from passages."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.types.answers import Answer
from rag_core.types.usage import Usage


@dataclass(frozen=True, slots=True)
class ClosedBookAnswer:
    """What a language model answers without passages.

    ``supported`` of its ``statements`` are supported by the passages of ``grounded``, which is the answer to the same
    question from passages. The model has not seen these passages, so ``text`` has no citations. ``usage`` is that of
    the answer without passages.
    """

    text: str
    generator: str
    usage: Usage
    grounded: Answer
    statements: int
    supported: int
