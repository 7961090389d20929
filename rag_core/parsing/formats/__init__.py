"""The formats of the files that can be read; a further one is one module and one line here."""

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

# If a file could be of several formats, it is read in the first of them, unless its name has the ending of another.
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
