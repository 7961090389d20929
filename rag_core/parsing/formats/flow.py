"""Formats without pages, whose content is laid out on pages."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

from rag_core.parsing.flow.content import Content
from rag_core.parsing.formats.base import WRONG_CONTENT, FileFormat, OpenFile, UnreadableError
from rag_core.types.formats import FormatDescription

# Increase this number with every change of the layout that alters the text or the tables of any page.
_LAYOUT_REVISION = 1


class FlowFormat(FileFormat):
    """A format whose files consist of headings, paragraphs and tables without pages."""

    @abstractmethod
    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        """Return the content of a file; the parameters and the errors are those of `open`."""

    def open(self, path: Path, password: str | None, max_unpacked: int | None) -> OpenFile:
        from rag_core.parsing.flow.file import FlowFile

        try:
            return FlowFile(self.read(path, password, max_unpacked))
        except WRONG_CONTENT as error:
            raise UnreadableError(f"a part of it is not as the format prescribes: {type(error).__name__}") from error


def describe(
    name: str, noun: str, suffixes: tuple[str, ...], media_type: str, *, is_office: bool = False
) -> FormatDescription:
    """Return the description of a format whose files are laid out."""
    return FormatDescription(name, noun, suffixes, media_type, is_laid_out=True, is_office=is_office)


def build_parser_version(reader: str, revision: int) -> str:
    """Return the version of the parser of a format; see `FileFormat.parser_version`.

    Increase ``revision`` with every change to ``reader`` that alters the text or the tables of any page.
    """
    return f"{reader} {revision}, plain layout {_LAYOUT_REVISION}"
