"""PDF files to pages: text in reading order, where each word stands, and which section a page is in."""

from __future__ import annotations

from rag_core.extraction.extractor import DocumentHeader, Extractor, probe

__all__ = ["DocumentHeader", "Extractor", "probe"]
