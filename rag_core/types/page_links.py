"""The address of a page of a document in the application, with words highlighted on it."""

from __future__ import annotations

from urllib.parse import urlencode
from zlib import crc32

from rag_core.types.tables import Span

# Path of the page that shows documents, and the parameters of its address.
DOCUMENTS_PATH = "documents"
DOCUMENT_PARAM, PAGE_PARAM, MARKED_PARAM = "document", "page", "marked"


def build_page_link(application: str, document_id: str, page_index: int, start: int = 0, quote: str = "") -> str:
    """Return the address of a page in the application.

    The link stays valid while the document is in the library, also under another name and after a restart.

    Parameters
    ----------
    application : str
        Address of the application, such as ``http://localhost:8501``.
    document_id : str
    page_index : int
    start : int
        Offset of the quote in the text of the page.
    quote : str
        The words that are highlighted; none if empty.

    >>> build_page_link("http://localhost:8501", "d1", 11, 40, "412 metres")
    'http://localhost:8501/documents?document=d1&page=12&marked=40-50-a6ddd2c4'
    """
    values = {DOCUMENT_PARAM: document_id, PAGE_PARAM: page_index + 1}
    if quote:
        values[MARKED_PARAM] = f"{start}-{start + len(quote)}-{_check(quote)}"
    return f"{application}/{DOCUMENTS_PATH}?{urlencode(values)}"


def find_marked(marked: str, text: str) -> Span | None:
    """Return which part of a page's text a link highlights; ``None`` if the text there is not what it was then."""
    start, _, rest = marked.partition("-")
    end, _, check = rest.partition("-")
    if not (start.isdecimal() and end.isdecimal()):
        return None
    span = int(start), int(end)
    return span if _check(text[slice(*span)]) == check else None


def _check(quote: str) -> str:
    return f"{crc32(quote.encode('utf-8', 'surrogatepass')):08x}"
