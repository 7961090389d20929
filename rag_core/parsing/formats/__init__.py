"""The formats of the files that can be read; a further one is one module and one line here."""

from __future__ import annotations

from rag_core.parsing.formats.base import FileFormat
from rag_core.parsing.formats.pdf import PdfFormat

# If a file could be of several formats, it is read in the first of them.
FORMATS: tuple[FileFormat, ...] = (PdfFormat(),)
