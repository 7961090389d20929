"""Refuse a question with the true reason: no documents, no language model for a summary, or no passage that answers."""

from __future__ import annotations

from rag_core.answering.unsearched import NO_DOCUMENTS
from rag_core.reading.summary_requests import asks_for_summary
from rag_core.runtime.model_connection import explain_missing_model
from rag_core.types import SearchResult
from rag_core.verification.verified_answer import REFUSED, VerifiedAnswer

_TOPIC_SUMMARY = "A summary of what documents say about a topic"
_ALTERNATIVE = "ask for a summary of a whole document, or for a fact"


def refuse(
    result: SearchResult, closest: VerifiedAnswer = REFUSED, *, has_model: bool, quotes_only: bool = False
) -> VerifiedAnswer:
    """Return the refusal of a question for which no passage passed the gate.

    ``closest`` is the refusal with the closest statement, which is returned if no other reason applies.
    ``quotes_only`` says whether the user asked without a model although one may be connected.
    """
    if NO_DOCUMENTS in result.notices:
        return VerifiedAnswer(NO_DOCUMENTS, refused=True)
    if not has_model and asks_for_summary(result.question):
        missing = explain_missing_model(_TOPIC_SUMMARY, _ALTERNATIVE, quotes_only=quotes_only)
        return VerifiedAnswer(missing, refused=True)
    return closest
