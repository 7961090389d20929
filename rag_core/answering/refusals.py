"""Refuse a question with the true reason: no documents, no language model for a summary, or no passage that answers."""

from __future__ import annotations

import re

from rag_core.answering.search import NO_DOCUMENTS
from rag_core.types import SearchResult
from rag_core.verification.verifier import REFUSED, VerifiedAnswer

NEEDS_MODEL = (
    "A summary needs a language model, and none is set. Choose one on the page Admin, or ask for a fact: without a "
    "model, answers are quoted from the documents."
)
_SUMMARY_REQUEST = re.compile(
    r"\b(?:summar(?:y|i[sz]e)\w*|overview|(?:key|main) (?:points|takeaways|findings)|tl;?dr|zusammenfass\w*|"
    r"résum\w*|resum(?:e|en|ir)\b|riassum\w*)|"
    r"\bwhat (?:is|are) (?:this|these|the|my) (?:\w+ )?(?:documents?|files?|papers?|reports?|books?|pdfs?) about\b",
    re.IGNORECASE,
)


def asks_for_summary(question: str) -> bool:
    """Return whether a question asks for a summary of documents.

    >>> asks_for_summary("Give me an overview of the report"), asks_for_summary("Who wrote the report?")
    (True, False)
    """
    return _SUMMARY_REQUEST.search(question) is not None


def refuse(result: SearchResult, *, has_model: bool) -> VerifiedAnswer:
    """Return the refusal of a question for which no passage passed the gate."""
    if NO_DOCUMENTS in result.notices:
        return VerifiedAnswer(NO_DOCUMENTS, refused=True)
    if not has_model and asks_for_summary(result.question):
        return VerifiedAnswer(NEEDS_MODEL, refused=True)
    return REFUSED
