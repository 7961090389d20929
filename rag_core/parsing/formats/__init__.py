"""The formats of the files that can be read. A new format needs a module and a line here."""

from __future__ import annotations

from rag_core.parsing.formats.base import FileFormat
from rag_core.parsing.formats.csv import CsvFormat
from rag_core.parsing.formats.epub import EpubFormat
from rag_core.parsing.formats.excel import ExcelFormat
from rag_core.parsing.formats.html import HtmlFormat
from rag_core.parsing.formats.images import ImageFormat
from rag_core.parsing.formats.mail import MailFormat
from rag_core.parsing.formats.markdown import MarkdownFormat
from rag_core.parsing.formats.opendocument import OpenDocumentFormat
from rag_core.parsing.formats.outlook import OutlookFormat
from rag_core.parsing.formats.pdf import PdfFormat
from rag_core.parsing.formats.powerpoint import PowerPointFormat
from rag_core.parsing.formats.rtf import RtfFormat
from rag_core.parsing.formats.text import TextFormat
from rag_core.parsing.formats.word import WordFormat

# Of several formats that recognize the content, the one with the extension of the file name wins, or else the first.
# Formats with `needs_suffix` (CSV, Markdown, text) are tried last, and only for their own extension.
FORMATS: tuple[FileFormat, ...] = (
    PdfFormat(),
    WordFormat(),
    ExcelFormat(),
    PowerPointFormat(),
    OpenDocumentFormat(),
    RtfFormat(),
    EpubFormat(),
    ImageFormat(),
    MailFormat(),
    OutlookFormat(),
    HtmlFormat(),
    MarkdownFormat(),
    CsvFormat(),
    TextFormat(),
)
