"""Open a file with pdfium, and read its pages with form fields, its outline, page labels and attached files."""

from __future__ import annotations

import ctypes
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from rag_core.parsing.characters import clean_line
from rag_core.parsing.formats.base import PasswordNeededError, UnreadableError
from rag_core.parsing.pdf.page import FormFields, PdfPage
from rag_core.parsing.pdf.pdfium_calls import PdfDocument, PdfiumError, is_annotation_hidden, iter_annotations, raw
from rag_core.types.chunks import HEADING_SEPARATOR

_WIDGET, _FREE_TEXT, _STAMP = raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP
_TICK_BOXES = raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON
_NOTES = (
    *(raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_HIGHLIGHT, raw.FPDF_ANNOT_UNDERLINE, raw.FPDF_ANNOT_SQUIGGLY),
    *(raw.FPDF_ANNOT_STRIKEOUT, raw.FPDF_ANNOT_CARET, raw.FPDF_ANNOT_INK, raw.FPDF_ANNOT_LINE),
    *(raw.FPDF_ANNOT_SQUARE, raw.FPDF_ANNOT_CIRCLE, raw.FPDF_ANNOT_POLYGON),
)
# Size in bytes of an empty text, which is one terminating character.
_EMPTY_TEXT = 2
_MAX_NOTES = 100
_MAX_NOTE_LENGTH = 1000
_MAX_OUTLINE_ENTRIES = 20_000
_MAX_OUTLINE_DEPTH = 3
# A damaged file may claim any number of attached files.
_MAX_ATTACHMENTS = 1000
_MAX_LABEL_LENGTH = 32
_REASONS = {
    raw.FPDF_ERR_FILE: "the file cannot be opened",
    raw.FPDF_ERR_FORMAT: "data format error",
    raw.FPDF_ERR_PASSWORD: "a password is needed",
    raw.FPDF_ERR_SECURITY: "its encryption method is not supported",
    raw.FPDF_ERR_PAGE: "a page is missing or damaged",
}


class PdfiumDocument:
    """A file opened by pdfium.

    Parameters
    ----------
    path : Path
    password : str, optional
    content : bytes, optional
        Content to read instead of the file.

    Raises
    ------
    PasswordNeededError, UnreadableError
    """

    def __init__(self, path: Path, password: str | None = None, content: bytes | None = None) -> None:
        # Do not use pypdfium2's constructor. For a file without pages, it reports the last error of pdfium, which
        # belongs to another file.
        secret = None if password is None else password.encode() + b"\0"
        self._content = content  # pdfium reads from these bytes while the file is open
        if content is None:
            handle = raw.FPDF_LoadDocument(os.fsencode(path) + b"\0", secret)
        else:
            handle = raw.FPDF_LoadMemDocument64(content, len(content), secret)
        if not handle:
            code = raw.FPDF_GetLastError()
            if code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
                raise PasswordNeededError(_REASONS[code])
            raise UnreadableError(_REASONS.get(code, f"error {code}"))
        self._document = PdfDocument(handle)
        # Without initialized forms, pdfium does not draw the values of fields for which the file contains no picture.
        # The log level hides the warning that this build of pdfium does not support XFA forms.
        logging.getLogger("pypdfium2").setLevel(logging.ERROR)
        self._document.init_forms()
        self.page_count = len(self._document)

    def close(self) -> None:
        self._document.close()

    def list_attachments(self) -> tuple[tuple[str, int], ...]:
        """Return the name and the size in bytes of each attached file; the size is 0 if the PDF lacks its content."""
        count = min(raw.FPDFDoc_GetAttachmentCount(self._document.raw), _MAX_ATTACHMENTS)
        files = (raw.FPDFDoc_GetAttachment(self._document.raw, index) for index in range(count))
        return tuple(map(_describe_attached_file, files))

    def read_attachment(self, index: int) -> bytes:
        """Return the bytes of the file at an index of `list_attachments`; empty if the PDF does not contain it."""
        return _read_attached_file(raw.FPDFDoc_GetAttachment(self._document.raw, index))

    def read_paper_clip(self, page_index: int, number: int) -> bytes:
        """Return the bytes of the file in annotation ``number`` (from 0) of a page; empty if there is no such file."""
        page = self._document[page_index]
        try:
            annotation = raw.FPDFPage_GetAnnot(page.raw, number)
            try:
                return _read_attached_file(raw.FPDFAnnot_GetFileAttachment(annotation))
            finally:
                raw.FPDFPage_CloseAnnot(annotation)
        finally:
            page.close()

    def read_labels(self) -> tuple[str, ...]:
        """Return the label of each page, "" for a page without one; an empty tuple if no page has a label."""
        written = (_read_text(raw.FPDF_GetPageLabel, self._document.raw, index) for index in range(self.page_count))
        labels = tuple(clean_line(label)[:_MAX_LABEL_LENGTH] for label in written)
        return labels if any(labels) else ()

    def read_outline(self) -> tuple[tuple[int, str], ...]:
        """Return the page index and the path of each outline entry in document order; see `Metadata`.

        Entries below the third level, without a title, or without a page of this file are left out.
        """
        entries: list[tuple[int, str]] = []
        path: list[str] = []
        for bookmark in islice(self._document.get_toc(max_depth=_MAX_OUTLINE_DEPTH), _MAX_OUTLINE_ENTRIES):
            title = clean_line(_read_text(raw.FPDFBookmark_GetTitle, bookmark.raw))
            path[bookmark.level :] = [title] if title else []
            destination = bookmark.get_dest()
            page_index = destination.get_index() if destination is not None else None
            if title and page_index is not None and page_index < self.page_count:
                entries.append((page_index, HEADING_SEPARATOR.join(path)))
        return tuple(entries)

    @contextmanager
    def open_page(self, index: int) -> Iterator[PdfPage]:
        """Open a page, and close it at the end of the context.

        The text of the page includes values of form fields, text annotations and stamps. Raise `UnreadableError` if the
        page is damaged.
        """
        try:
            page = self._document[index]
            fields, notes, clips = _read_fields(page), _read_notes(page), _list_paper_clips(page)
            if _has_drawn_annotations(page):
                # While pdfium draws annotations into the page, it replaces an inherited page size by US letter.
                box = page.get_bbox()
                page.set_mediabox(*box)
                page.set_cropbox(*box)
                raw.FPDFPage_Flatten(page.raw, raw.FLAT_NORMALDISPLAY)
                page.close()
                page = self._document[index]
            reader = PdfPage(page, fields, notes, clips)
        except PdfiumError as error:
            raise UnreadableError(str(error)) from None
        try:
            yield reader
        finally:
            reader.close()


def _read_text(call: Any, *arguments: Any, unit: Any = ctypes.c_char) -> str:
    """Return the UTF-16 text that a pdfium function writes into a buffer.

    The function is called twice, because its first call returns the necessary size of the buffer. ``unit`` is the type
    of the buffer's elements.
    """
    size = call(*arguments, None, 0)
    buffer = (unit * (size // ctypes.sizeof(unit)))()
    call(*arguments, buffer, size)
    return bytes(buffer)[:-2].decode("utf-16-le", "replace")


def _has_drawn_annotations(page: Any) -> bool:
    """Return whether a page has form fields, texts or stamps, which pdfium can draw into the page."""
    kinds = (raw.FPDFAnnot_GetSubtype(annotation) for _index, annotation in iter_annotations(page.raw))
    return any(kind in (_WIDGET, _FREE_TEXT, _STAMP) for kind in kinds)


def _read_fields(page: Any) -> FormFields:
    fields = FormFields()
    for _index, annotation in iter_annotations(page.raw) if page.formenv else ():
        kind, rect = raw.FPDFAnnot_GetFormFieldType(page.formenv, annotation), raw.FS_RECTF()
        if kind == -1 or is_annotation_hidden(annotation):
            continue
        if raw.FPDFAnnot_GetRect(annotation, rect):
            fields.rects.append((rect.left, rect.bottom, rect.right, rect.top))
            fields.ticks.append(_is_ticked(annotation) if kind in _TICK_BOXES else None)
    if fields.rects:
        text = page.get_textpage()
        fields.printed = text.count_chars()
        text.close()
    return fields


def _list_paper_clips(page: Any) -> tuple[tuple[int, str, int], ...]:
    """Return the index, the file name and the size in bytes of each annotation that contains a file."""
    clips = []
    for index, annotation in iter_annotations(page.raw):
        if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_FILEATTACHMENT:
            file = raw.FPDFAnnot_GetFileAttachment(annotation)
            clips.append((index, *_describe_attached_file(file)))
    return tuple(clips)


def _describe_attached_file(file: Any) -> tuple[str, int]:
    """Return the name and the size in bytes of an attached file; the size is 0 if the PDF lacks its content."""
    return clean_line(_read_text(raw.FPDFAttachment_GetName, file, unit=ctypes.c_ushort)), _read_size(file)


def _read_attached_file(file: Any) -> bytes:
    """Return the bytes of an attached file; empty if the PDF lacks its content."""
    size = ctypes.c_ulong(_read_size(file))
    buffer = (ctypes.c_char * size.value)()
    if not size.value or not raw.FPDFAttachment_GetFile(file, buffer, size.value, ctypes.byref(size)):
        return b""
    return bytes(buffer)


def _read_size(file: Any) -> int:
    size = ctypes.c_ulong()
    return size.value if raw.FPDFAttachment_GetFile(file, None, 0, ctypes.byref(size)) else 0


def _is_note(annotation: Any) -> bool:
    """Return whether an annotation is of a kind whose text, if there is any, is not drawn on the page."""
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    is_drawn = raw.FPDFAnnot_GetAP(annotation, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0) > _EMPTY_TEXT
    return kind in _NOTES or (kind == _FREE_TEXT and not is_drawn)


def _read_notes(page: Any) -> tuple[str, ...]:
    """Return the notes of readers, each as "Note by AUTHOR: TEXT".

    Notes are sticky notes, comments on highlighted or marked text, and texts that the page does not draw.
    """
    notes: list[str] = []
    for _index, annotation in iter_annotations(page.raw):
        if _is_note(annotation) and not is_annotation_hidden(annotation):
            contents, author = (
                clean_line(_read_text(raw.FPDFAnnot_GetStringValue, annotation, key, unit=ctypes.c_ushort))
                for key in (b"Contents\0", b"T\0")
            )
            if contents and len(notes) < _MAX_NOTES:
                written_by = f" by {author[:_MAX_LABEL_LENGTH]}" if author else ""
                notes.append(f"Note{written_by}: {contents[:_MAX_NOTE_LENGTH]}")
    return tuple(notes)


def _is_ticked(annotation: Any) -> bool:
    # Read the state from the file, because pdfium reports a ticked box as not ticked if the file contains no picture of
    # the ticked box.
    state = _read_text(raw.FPDFAnnot_GetStringValue, annotation, b"AS\0", unit=ctypes.c_ushort)
    return state not in ("", "Off")
