"""Parse PDF files into pages: text in reading order, the position of each word, and the section of each page."""

from rag_core.parsing.parser import PARSER_VERSION, PdfParser

__all__ = ["PARSER_VERSION", "PdfParser"]
