"""Links that open a page of a document in the application and highlight words on it."""

from __future__ import annotations

from urllib.parse import urlencode
from zlib import crc32

from rag_core.types.tables import Span

# Path and query parameters of these links.
DOCUMENTS_PATH = "documents"
DOCUMENT_PARAM, PAGE_PARAM, MARKED_PARAM = "document", "page", "marked"


def build_page_link(application: str, document_id: str, page_index: int, start: int = 0, quote: str = "") -> str:
    """Return the link to a page of a document.

    The link is valid as long as the document is in the library, even if the document is renamed.

    Parameters
    ----------
    application : str
        Address of the application, such as ``http://localhost:8501``.
    document_id : str
    page_index : int
    start : int
        Offset of the quote in the text of the page.
    quote : str
        The words to highlight; may be empty.

    >>> build_page_link("http://localhost:8501", "d1", 11, 40, "412 metres")
    'http://localhost:8501/documents?document=d1&page=12&marked=40-50-349b2311'
    """
    values = {DOCUMENT_PARAM: document_id, PAGE_PARAM: page_index + 1}
    if quote:
        values[MARKED_PARAM] = f"{start}-{start + len(quote)}-{_compute_checksum(quote)}"
    return f"{application}/{DOCUMENTS_PATH}?{urlencode(values)}"


def find_marked(marked: str, text: str) -> Span | None:
    """Return the span of a page's text that a link highlights.

    Return ``None`` if the parameter is malformed, or if the text has changed since the link was built.

    Parameters
    ----------
    marked : str
        Value of the parameter `MARKED_PARAM`.
    text : str
        Text of the page.
    """
    start, _, rest = marked.partition("-")
    end, _, checksum = rest.partition("-")
    if not (start.isdecimal() and end.isdecimal()):
        return None
    span = int(start), int(end)
    return span if _compute_checksum(text[slice(*span)]) == checksum else None


def _compute_checksum(quote: str) -> str:
    return f"{crc32(quote.encode('utf-8', 'surrogatepass')):08x}"
