"""The status of a document in words."""

from __future__ import annotations

from pages.shared.translation import N_, _, translate_message
from rag_core.types.documents import DocumentInfo, DocumentStatus

_WORDS = {
    DocumentStatus.QUEUED: N_("Waiting"),
    DocumentStatus.INDEXING: N_("Indexing"),
    DocumentStatus.INDEXED: N_("Ready"),
    DocumentStatus.PARTIAL: N_("Ready, in part"),
    DocumentStatus.DUPLICATE: N_("Duplicate"),
    DocumentStatus.REJECTED: N_("Not accepted"),
    DocumentStatus.FAILED: N_("Failed"),
    DocumentStatus.CANCELLED: N_("Cancelled"),
}
# The status of a new document whose chunks are stored, and whose vectors are still being computed.
_BY_WORDS = N_("Searchable by words")


def describe_status(document: DocumentInfo) -> str:
    """Return the status of a document in words."""
    by_words = document.status is DocumentStatus.INDEXING and document.chunks
    return _(_BY_WORDS if by_words else _WORDS[document.status])


def describe_status_with_reason(document: DocumentInfo) -> str:
    """Return the status of a document in words, followed by the reason if there is one."""
    words = describe_status(document)
    if not document.reason:
        return words
    # Most reasons begin with the name of the document, which the table already shows. Replace the name by "it".
    its, reason = f"{document.name} ", translate_message(document.reason)
    if reason.startswith(its):
        reason = f"{_('it')} {reason.removeprefix(its)}"
    return f"{words}: {reason}"
