"""Parse PDF files into pages: text in reading order, the position of each word, and the section of each page."""

from rag_core.parsing.parser import PARSER_VERSION, PdfParser, reads_attachments
from rag_core.parsing.workers.document_reader import Attachment

__all__ = ["PARSER_VERSION", "Attachment", "PdfParser", "reads_attachments"]
