"""Find the labelled pages in the library."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.errors import LabelError, UnknownDocument
from rag_core.store.documents import DocumentStore
from rag_core.types.documents import Page, PageKey
from rag_core.types.evaluation import Label, LabelledPage

# Most problems that an error message lists.
MAX_PROBLEMS = 5


class PageFinder:
    """Finds the pages to which labels refer. The pages of each document are loaded once.

    Parameters
    ----------
    library : DocumentStore
    """

    def __init__(self, library: DocumentStore) -> None:
        self._library = library
        self._pages: dict[str, dict[str, list[Page]]] = {}

    def find_all(self, labels: Sequence[Label], *, current: bool = True) -> list[dict[PageKey, str]]:
        """Return the pages of each label, mapped to names such as ``report.pdf, page 12``.

        A printed page number or a quote can match several pages of the document. If ``current`` is false, return the
        stale and inadmissible pages instead of those that answer the question.

        Raises
        ------
        LabelError
            A document or page is not in the library; the message lists the first few such labels.
        """
        pages, problems = [], []
        for label in labels:
            try:
                pages.append(
                    {
                        key: words
                        for one in label.evidence
                        if (one.state == "current") is current
                        for key, words in self._find_pages(one).items()
                    }
                )
            except LabelError as error:
                problems.append(f"{label.where}: {error}")
        if problems:
            more = f" {len(problems) - MAX_PROBLEMS} more labels have problems." if len(problems) > MAX_PROBLEMS else ""
            raise LabelError(" ".join(problems[:MAX_PROBLEMS]) + more)
        return pages

    def _find_pages(self, evidence: LabelledPage) -> dict[PageKey, str]:
        matching = {
            (document_id, page.page_index): f"{evidence.document}, page {page.page_label}"
            for document_id, pages in self._load_pages(evidence.document).items()
            for page in pages
            if _matches(page, evidence)
        }
        if not matching:
            raise LabelError(
                f"{evidence.document} has no page {_describe_evidence(evidence)}. Correct the label, or add the "
                "version of the document that it refers to."
            )
        return matching

    def _load_pages(self, name: str) -> dict[str, list[Page]]:
        """Return the pages of the documents with this name or id, by document id."""
        if name not in self._pages:
            try:
                ids = self._library.find_ids([name])
            except UnknownDocument:
                raise LabelError(f"{name} is not in the library. Add it, or remove the label.") from None
            documents = self._library.documents(ids)
            self._pages[name] = {one.document_id: self._library.pages(one.version_id) for one in documents}
        return self._pages[name]


def _matches(page: Page, evidence: LabelledPage) -> bool:
    if evidence.page_index is not None:
        return page.page_index == evidence.page_index
    if evidence.page:
        return page.page_label == evidence.page
    return _normalize_space(evidence.quote) in _normalize_space(page.text)


def _normalize_space(text: str) -> str:
    return " ".join(text.split())


def _describe_evidence(evidence: LabelledPage) -> str:
    if evidence.page_index is not None:
        return f"with page_index {evidence.page_index} (the first is 0)"
    return f"printed {evidence.page}" if evidence.page else f"that contains “{_normalize_space(evidence.quote)[:80]}”"
