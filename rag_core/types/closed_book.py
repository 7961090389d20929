"""An answer without passages, beside the answer from passages."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.types.answers import Answer
from rag_core.types.usage import Usage


@dataclass(frozen=True, slots=True)
class ClosedBookAnswer:
    """What a language model answers without passages.

    ``text`` has no citations, and nothing supports it. ``grounded`` is the answer to the same question from passages.
    ``usage`` is that of the answer without passages.
    """

    text: str
    generator: str
    usage: Usage
    grounded: Answer
