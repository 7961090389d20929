"""What users see of the file formats: their names, file endings and media types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormatDescription:
    """The names of a file format.

    Attributes
    ----------
    name : str
        Identifies the format, and stands before the word "file", as in "a PDF file".
    noun : str
        A file of the format, as in "Open PDF"; "a" can stand before it.
    suffixes : tuple of str
        Endings of file names, in lower case and with the dot.
    media_type : str
    opens_at_page : bool
        Whether browsers show a file of the format and can open it at a page.
    is_laid_out : bool
        Whether files of the format have no pages, so that Footnote draws their content on pages of its own.
    is_office : bool
        Whether LibreOffice opens files of the format, so that it can draw their pages.
    """

    name: str
    noun: str
    suffixes: tuple[str, ...]
    media_type: str
    opens_at_page: bool = False
    is_laid_out: bool = False
    is_office: bool = False


@dataclass(frozen=True, slots=True)
class AcceptedFormats:
    """The formats of the files that users can add; the first one is the most usual."""

    formats: tuple[FormatDescription, ...]

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(suffix for one in self.formats for suffix in one.suffixes)

    @property
    def names(self) -> str:
        """The names, as in "PDF or text"."""
        return _join([one.name for one in self.formats], "or")

    def has_suffix(self, name: str) -> bool:
        """Return whether the name of a file has the ending of a format; lock files of Office do not count."""
        return name.lower().endswith(self.suffixes) and not name.rpartition("/")[2].startswith("~$")

    def find_by_name(self, name: str) -> FormatDescription:
        """Return the format whose ending the name of a document has; the first format if it has none of them."""
        return next((one for one in self.formats if name.lower().endswith(one.suffixes)), self.formats[0])


def _join(words: Sequence[str], last: str) -> str:
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))
