"""The result of checking a statement against documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rag_core.types.answers import Citation
from rag_core.types.retrieval import Passage
from rag_core.types.usage import Usage

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
    is_judged : bool
        Whether the verdict is a model's judgement.
    usage : Usage
        What a language model used that judged this statement and the following ones.
    notices : tuple of str
        Why statements were not judged.
    """

    statement: str
    verdict: Verdict
    reason: str = ""
    citation: Citation | None = None
    passage: Passage | None = None
    is_judged: bool = False
    usage: Usage = field(default_factory=Usage)
    notices: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The verdict in words, with what the source says instead."""
        known = VERDICT_WORDS[self.verdict]
        is_telling = self.reason and (self.verdict == "contradicted" or self.is_judged)
        return self.reason[:1].upper() + self.reason[1:] if is_telling else known
