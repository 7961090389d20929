"""Refuse a question with the true reason: no documents, no language model for a summary, or no passage that answers."""

from __future__ import annotations

from rag_core.answering.unsearched import NO_DOCUMENTS
from rag_core.reading.summary_requests import asks_for_summary
from rag_core.types import SearchResult
from rag_core.verification.verifier import REFUSED, VerifiedAnswer

NEEDS_MODEL = (
    "A summary of what documents say about a topic needs a language model, and none is set. Choose one on the page "
    "Admin, ask for a summary of a whole document, or ask for a fact: without a model, answers are quoted from the "
    "documents."
)
NEEDS_MODEL_HERE = (
    "A summary of what documents say about a topic needs a language model, and this question was asked with quotes "
    "only. Choose a model for the conversation, ask for a summary of a whole document, or ask for a fact."
)


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
        return VerifiedAnswer(NEEDS_MODEL_HERE if quotes_only else NEEDS_MODEL, refused=True)
    return closest
