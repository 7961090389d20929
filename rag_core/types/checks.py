"""The result of checking a statement against documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag_core.types.answers import Citation

Verdict = Literal["supported", "contradicted", "not_supported", "unsure"]


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A statement and what documents say about it.

    Attributes
    ----------
    statement : str
    verdict : str
        ``contradicted`` if a source says otherwise, ``not_supported`` if nothing was found, and ``unsure`` if neither
        this nor ``supported`` is certain.
    reason : str
        The mark in words, such as "differs from the source: 500"; empty without a mark.
    citation : Citation or None
        The sentence that was compared; ``None`` if none is close.
    """

    statement: str
    verdict: Verdict
    reason: str = ""
    citation: Citation | None = None
