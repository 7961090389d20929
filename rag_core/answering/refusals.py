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
NEEDS_MODEL_HERE = (
    "A summary needs a language model, and this question was asked with quotes only. Choose a model for the "
    "conversation, or ask for a fact."
)
_SUMMARY_REQUEST = re.compile(
    r"^\W*(?:(?:please|kindly|can you|could you|would you|will you|i would like you to)\W+)*(?:"
    r"summari[sz]e|sum up|outline|tl;?dr|what (?:are|were) the (?:main|key) (?:points|takeaways|findings)|"
    r"(?:give|show|write|provide|make)(?: me| us)? (?:an?|the)(?: \w+)? (?:summary|overview)|"
    r"what (?:is|are) (?:this|these|it|they|the|my)(?: \w+)?"
    r"(?: documents?| files?| papers?| reports?| books?| pdfs?)? about|"
    r"fasse?\b.*\bzusammen|résumez?|riassumi)\b",
    re.IGNORECASE,
)


def asks_for_summary(question: str) -> bool:
    """Return whether a question asks for a summary of documents.

    >>> asks_for_summary("Give me an overview of the report"), asks_for_summary("Who wrote the summary?")
    (True, False)
    """
    return _SUMMARY_REQUEST.search(question) is not None


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
