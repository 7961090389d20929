"""PDF files to pages: text in reading order, where each word stands, and which section a page is in."""

from __future__ import annotations

from rag_core.extraction.extractor import Extractor, probe
from rag_core.extraction.reading import DocumentHeader
from rag_core.extraction.rendering import PageRenderer, render_page
from rag_core.extraction.version import VERSION

__all__ = ["VERSION", "DocumentHeader", "Extractor", "PageRenderer", "probe", "render_page"]
