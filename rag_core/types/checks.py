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
    """A statement and the result of comparing it with documents.

    Attributes
    ----------
    statement : str
        The text of the statement.
    verdict : str
        ``supported``, ``contradicted`` if a source states a different value, ``not_supported`` if no source contains
        the statement, or ``unsure`` if the check is inconclusive.
    reason : str
        The problem in words, such as "differs from the source: 500"; empty if no problem was found.
    citation : Citation or None
        The sentence of a document with which the statement was compared; ``None`` if no sentence is similar.
    passage : Passage or None
        The passage that contains this sentence.
    is_by_verifier : bool
        Whether the verdict is that of the verifier, a model, and not of the comparison of values.
    usage : Usage
        Usage of the call that verified the statements; only the first statement of a call has it.
    notices : tuple of str
        Reasons why statements could not be verified.
    """

    statement: str
    verdict: Verdict
    reason: str = ""
    citation: Citation | None = None
    passage: Passage | None = None
    is_by_verifier: bool = False
    usage: Usage = field(default_factory=Usage)
    notices: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The verdict in words; for a contradicted statement, or one that the verifier rejects, the reason."""
        if self.reason and (self.verdict == "contradicted" or self.is_by_verifier):
            return self.reason[:1].upper() + self.reason[1:]
        return VERDICT_WORDS[self.verdict]
