"""The base classes of file formats, which recognize, open, read and draw files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rag_core.types.documents import ParsedPage
from rag_core.types.formats import FormatDescription

if TYPE_CHECKING:
    from PIL.Image import Image


class PasswordNeededError(Exception):
    """The file is encrypted, and the password is missing or wrong."""


class UnreadableError(Exception):
    """The file or one of its pages is damaged; the message says in a few words what is wrong."""


# Errors in files whose values or parts are not as the format prescribes, which libraries do not check.
WRONG_CONTENT = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)


class UnpackedSizeError(Exception):
    """The file or a part is larger than allowed after decompression.

    The message continues a sentence that begins with the name of the file. It is empty for a stream of a PDF.
    """


@dataclass(frozen=True, slots=True)
class Metadata:
    """Data about a whole file.

    Attributes
    ----------
    labels : tuple of str
        The printed label of each page; empty if no page has a label.
    outline : tuple of (page_index, path)
        The outline entries in document order; ``path`` joins the titles of the entry's parents and of the entry with
        `HEADING_SEPARATOR`.
    attachments : tuple of (name, size in bytes)
        The files that are attached to the whole file; the size is 0 if the attached file is missing.
    """

    labels: tuple[str, ...] = ()
    outline: tuple[tuple[int, str], ...] = ()
    attachments: tuple[tuple[str, int], ...] = ()


class OpenFile(ABC):
    """An open file in a worker process, which may be killed if a page takes too long or too much memory.

    Any method may raise `UnreadableError`. If `read_page` raises it, the page is reported as damaged. Metadata and
    attachments that cannot be read are left out.
    """

    page_count: int

    @abstractmethod
    def read_page(self, page_index: int, ocr: str) -> ParsedPage:
        """Return a page with its text and the position of each word on the picture of the page.

        The label and the heading of the page are empty, and words that line ends divide are not joined, because these
        steps need the other pages of the file. ``ocr`` says whether text in pictures is recognized: "auto", "on" or
        "off".
        """

    @abstractmethod
    def draw_page(self, page_index: int, scale: float) -> Image:
        """Return the picture of a page in RGB; ``scale`` is in pixels per point (1/72 inch)."""

    def read_metadata(self) -> Metadata:
        """Return the page labels, the outline and the list of attached files; by default, all are empty."""
        return Metadata()

    def read_attachment(self, number: int, page_index: int | None) -> bytes:
        """Return an attached file.

        ``number`` is the index in ``Metadata.attachments``, or for a file that is attached to a page, the number in
        ``ParsedPage.paper_clips``.
        """
        raise NotImplementedError

    def close(self) -> None:  # noqa: B027 - a file that is read as a whole needs no closing
        """Release the file."""


class FileFormat(ABC):
    """A file format.

    The main process describes and recognizes files. Only workers open them, because a hostile file may crash the
    process that opens it. So the module of a format imports its libraries in `load` and `open`.

    Attributes
    ----------
    description : FormatDescription
    parser_version : str
        Version that is stored with each document. Change it with every change that alters the text or the tables of any
        page, because citations are offsets into the text. Users are then offered to read documents again.
    needs_suffix : bool
        Whether files are recognized only if their name has an extension of the format, as for plain text.
    """

    description: FormatDescription
    parser_version: str
    needs_suffix: bool = False

    @abstractmethod
    def recognizes(self, file: BinaryIO) -> bool:
        """Return whether a file that is open at its start has this format; read only a small part."""

    @abstractmethod
    def open(self, path: Path, password: str | None, max_unpacked: int | None) -> OpenFile:
        """Open a file.

        Parameters
        ----------
        path : Path
        password : str, optional
        max_unpacked : int, optional
            Maximum size in bytes, after decompression, of each stream of a PDF or of all parts of an archive together;
            ``None`` if the file was checked before.

        Raises
        ------
        PasswordNeededError, UnreadableError, UnpackedSizeError
        """

    def load(self) -> None:  # noqa: B027 - a format may need no libraries
        """Import the libraries that opening a file needs, so that the first file does not wait for them."""

    def reads_attachments(self, parser_version: str) -> bool:
        """Return whether a parser version belongs to this format and reads attached files."""
        return False
