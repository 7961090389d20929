"""Parse PDF files into pages: text in reading order, the position of each word, and the section of each page."""

from rag_core.parsing.parser import PARSER_VERSION, PdfParser, reads_attachments
from rag_core.parsing.workers.document_reader import MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, Attachment

__all__ = ["MAX_ATTACHMENTS", "MAX_ATTACHMENT_BYTES", "PARSER_VERSION", "Attachment", "PdfParser", "reads_attachments"]
