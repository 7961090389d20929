"""Names, file name extensions and media types of file formats."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormatDescription:
    """The description of a file format.

    Attributes
    ----------
    name : str
        Unique name, which can be followed by "file", as in "a PDF file".
    noun : str
        Word for a file of the format, as in "Open PDF" or "a PDF".
    suffixes : tuple of str
        File name extensions, in lower case and with the dot.
    media_type : str
    opens_at_page : bool
        Whether browsers can open a file of the format at a page.
    is_laid_out : bool
        Whether Footnote lays out the content on pages, because files of the format have none.
    is_office : bool
        Whether LibreOffice opens files of the format and can draw their pages.
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
    """The formats of files that users can add, the most common one first."""

    formats: tuple[FormatDescription, ...]

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(suffix for one in self.formats for suffix in one.suffixes)

    @property
    def names(self) -> str:
        """The names of the formats, as in "PDF, Word or text"."""
        *others, last = (one.name for one in self.formats)
        return " or ".join(filter(None, (", ".join(others), last)))

    def has_suffix(self, name: str) -> bool:
        """Return whether a file name has the extension of an accepted format and is not that of an Office lock file."""
        return name.lower().endswith(self.suffixes) and not is_lock_file(name)

    def find_by_name(self, name: str) -> FormatDescription:
        """Return the format with the extension of a document's name, or else the first format."""
        return next((one for one in self.formats if name.lower().endswith(one.suffixes)), self.formats[0])


def is_lock_file(name: str) -> bool:
    """Return whether a file name, with or without folders, is that of a lock file of an Office program."""
    return name.rpartition("/")[2].startswith("~$")
