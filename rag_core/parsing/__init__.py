"""PDF files to pages: text in reading order, the position of each word, and the section of each page."""

from rag_core.parsing.parser import VERSION, Extractor

__all__ = ["VERSION", "Extractor"]
