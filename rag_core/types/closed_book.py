"""An answer from the knowledge of a language model alone, for comparison with the answer from documents."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.types.answers import Answer
from rag_core.types.usage import Usage


@dataclass(frozen=True, slots=True)
class ClosedBookAnswer:
    """The answer of a language model that was given no passages.

    ``text`` has no citations. ``usage`` is the usage of the call that wrote it. ``grounded`` is the answer to the same
    question from passages.
    """

    text: str
    generator: str
    usage: Usage
    grounded: Answer
