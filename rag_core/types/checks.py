"""The result of checking a statement against documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag_core.types.answers import Citation
from rag_core.types.retrieval import Passage

Verdict = Literal["supported", "contradicted", "not_supported", "unsure"]
VERDICT_WORDS: dict[Verdict, str] = {
    "supported": "Supported",
    "contradicted": "Differs from the source",
    "not_supported": "Not found",
    "unsure": "Unsure",
}


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
    passage : Passage or None
        The passage that contains the cited sentence.
    """

    statement: str
    verdict: Verdict
    reason: str = ""
    citation: Citation | None = None
    passage: Passage | None = None

    @property
    def words(self) -> str:
        """The verdict in words, with what the source says instead."""
        known = VERDICT_WORDS[self.verdict]
        return self.reason[:1].upper() + self.reason[1:] if self.verdict == "contradicted" and self.reason else known
