"""Files and their pages as pdfium reads them: characters with their boxes, form fields, and pictures of pages."""

from __future__ import annotations

import ctypes
import logging
import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rag_core.parsing.pdf import page_objects
from rag_core.parsing.pdf.character_heights import drawn_across, levelled
from rag_core.parsing.pdf.fonts import font_name
from rag_core.parsing.pdf.pdfium_calls import INT, POINTER, PdfDocument, PdfiumError, address, quick, raw
from rag_core.parsing.pdf.superscripts import with_raised
from rag_core.types import FloatArray, Int64Array, IntArray

if TYPE_CHECKING:
    from PIL.Image import Image

# Of characters, each with the name of its font and its code there, the code points; 0 where a code may stay.
Letters: TypeAlias = Callable[[Sequence[tuple[str, int]]], list[int]]

_BOLD = re.compile("bold|black|heavy|semibold|demi", re.IGNORECASE)
_WIDGET, _FREE_TEXT, _STAMP = raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP
_TICKED = raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON
_NOT_SHOWN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_MOST_ANNOTATIONS = 2000
_MOST_CHARACTERS = 400_000
_MOST_PIXELS = 40_000_000
# Points: no one could read letters this small, nor does text recognition.
_SMALLEST_LETTERS = 2.0
_REASONS = {
    raw.FPDF_ERR_FILE: "the file cannot be opened",
    raw.FPDF_ERR_FORMAT: "data format error",
    raw.FPDF_ERR_PASSWORD: "a password is needed",
    raw.FPDF_ERR_SECURITY: "its kind of encryption is not known",
    raw.FPDF_ERR_PAGE: "a page is missing or damaged",
}


class PasswordNeededError(Exception):
    """The file is encrypted and the password, if any, does not open it."""


class UnreadableError(Exception):
    """Pdfium cannot make sense of the file; the argument is pdfium's word for it."""


@dataclass(frozen=True)
class Characters:
    """The text layer of a page in the order of its content stream.

    ``codes`` are code points, with CR LF where pdfium saw a line end and 2 where it saw a hyphen that a line
    end put there. ``boxes`` are fractions of the displayed page, NaN where a character is not drawn.
    """

    codes: IntArray
    boxes: FloatArray
    width: float
    height: float


@dataclass
class _Fields:
    """Form fields that a page shows: left, bottom, right and top of each in points, and whether it is ticked.

    ``printed`` counts the characters of the page itself, without what was typed.
    """

    rects: list[tuple[float, ...]] = field(default_factory=list)
    ticks: list[bool | None] = field(default_factory=list)
    printed: int = 0


_loose_box = quick("FPDFText_GetLooseCharBox", INT, POINTER, INT, POINTER)
_ink_box = quick("FPDFText_GetCharBox", INT, POINTER, INT, *[POINTER] * 4)
_origin = quick("FPDFText_GetCharOrigin", INT, POINTER, INT, POINTER, POINTER)
_text_matrix = quick("FPDFText_GetMatrix", INT, POINTER, INT, POINTER)
_font_size = quick("FPDFText_GetFontSize", ctypes.c_double, POINTER, INT)
_lacks_letter = quick("FPDFText_HasUnicodeMapError", INT, POINTER, INT)
_code = quick("FPDFText_GetUnicode", ctypes.c_uint, POINTER, INT)
_font = quick("FPDFTextObj_GetFont", POINTER, POINTER)
_text_object = quick("FPDFText_GetTextObject", POINTER, POINTER, INT)


class PageReader:
    """One loaded page; use `open_page`."""

    def __init__(self, page: Any, fields: _Fields) -> None:
        self._page = page
        self._fields = fields
        self._text = page.get_textpage()
        self.width, self.height = (float(side) for side in page.get_size())

    def close(self) -> None:
        self._text.close()
        self._page.close()

    def characters(self, letters: Letters) -> Characters:
        """Every character of the text layer, controls and all.

        Parameters
        ----------
        letters : callable
            Asked what those characters are of which pdfium cannot tell it, because their fonts do not say so.
        """
        count = min(self._text.count_chars(), _MOST_CHARACTERS)
        codes = self._codes(count)
        if unmapped := self._unmapped(count):
            told = np.array(letters(list(unmapped.values())), np.int32)
            codes[np.array(list(unmapped))[told > 0]] = told[told > 0]
        # As FS_RECTF has them: left, top, right, bottom.
        rects = np.zeros((count, 4), np.float32)
        handle, first = address(self._text.raw), rects.ctypes.data
        addresses = range(first, first + rects.nbytes, ctypes.sizeof(raw.FS_RECTF))
        deque(map(_loose_box, repeat(handle), range(count), addresses), maxlen=0)
        boxes = rects[:, [0, 3, 2, 1]]
        drawn, across = drawn_across(boxes)
        boxes = levelled(boxes, drawn, across, self._objects, self._places)
        codes = with_raised(codes, boxes, drawn, across, self._places, self._inks)
        return Characters(*_join_surrogates(codes, self._displayed(boxes)), self.width, self.height)

    def _unmapped(self, count: int) -> dict[int, tuple[str, int]]:
        """By the character's number, the font and code of each that pdfium knows no letter for."""
        handle = address(self._text.raw)
        lacking = np.fromiter(map(_lacks_letter, repeat(handle), range(count)), np.int32, count) == 1
        fonts: dict[int | None, str] = {None: ""}
        found = {}
        for number in np.flatnonzero(lacking).tolist():
            item = _text_object(handle, number)
            if item not in fonts:
                fonts[item] = _font_name(item)
            found[number] = (fonts[item], _code(handle, number))
        return found

    def _objects(self, numbers: Iterable[int]) -> Int64Array:
        """What names the text objects of characters, and their fonts, shape (n, 2); 0 where there is none."""
        handle = address(self._text.raw)
        items = [_text_object(handle, number) or 0 for number in numbers]
        # A font that the file draws itself has no name, and its letters any size.
        fonts = {item: _font(item) or 0 if _font_name(item) else 0 for item in {*items}}
        return np.array([(item, fonts[item]) for item in items], np.int64).reshape(-1, 2)

    def _places(self, numbers: Iterable[int]) -> tuple[FloatArray, FloatArray]:
        """Origins of characters, and what goes up an em from there, in PDF user space; each shape (n, 2)."""
        handle, matrix, point = address(self._text.raw), (ctypes.c_float * 6)(), (ctypes.c_double * 2)()
        at, across = ctypes.addressof(matrix), ctypes.addressof(point)
        known: dict[int | None, tuple[float, float]] = {}
        rows = []
        for number in numbers:
            _origin(handle, number, across, across + 8)
            item = _text_object(handle, number)
            if item not in known:
                _text_matrix(handle, number, at)
                size = _font_size(handle, number)
                known[item] = (size * matrix[2], size * matrix[3])
            rows.append((*point, *known[item]))
        made = np.array(rows, np.float32).reshape(-1, 4)
        return made[:, :2], made[:, 2:]

    def _inks(self, numbers: Iterable[int]) -> FloatArray:
        """Boxes of what is drawn of characters in PDF user space, shape (n, 4)."""
        handle, sides = address(self._text.raw), (ctypes.c_double * 4)()
        left, right, bottom, top = (ctypes.addressof(sides) + 8 * side for side in (0, 2, 1, 3))
        rows = []
        for number in numbers:
            _ink_box(handle, number, left, right, bottom, top)
            rows.append(tuple(sides))
        return np.array(rows, np.float32).reshape(-1, 4)

    def _codes(self, count: int) -> IntArray:
        # One call for the whole page where characters and UTF-16 units agree, as on nearly all pages.
        buffer = (ctypes.c_ushort * (count + 1))()
        if raw.FPDFText_GetText(self._text.raw, 0, count, buffer) == count + 1:
            codes: IntArray = np.frombuffer(bytes(buffer), np.uint16, count).astype(np.int32)
            codes[codes == 0xFFFE] = 2
            return codes
        get_code, handle = raw.FPDFText_GetUnicode, self._text.raw
        wide = np.array([get_code(handle, index) for index in range(count)], np.int64)
        return np.where(wide == 0xFFFE, 2, wide).astype(np.int32)

    def _displayed(self, boxes: FloatArray) -> FloatArray:
        """PDF user space to fractions of the displayed page, whatever its rotation and crop box."""
        empty = (boxes[:, 2] <= boxes[:, 0]) & (boxes[:, 3] <= boxes[:, 1])
        origin = np.array(self._device(0, 0))
        matrix = np.stack([(np.array(self._device(*end)) - origin) / 1000 for end in ((1000, 0), (0, 1000))])
        first = boxes[:, 0:2].astype(np.float64) @ matrix + origin
        second = boxes[:, 2:4].astype(np.float64) @ matrix + origin
        shown = np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=1)
        shown[empty] = np.nan
        return shown.astype(np.float32)

    def _device(self, x: float, y: float) -> tuple[float, float]:
        side = 1_000_000
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(self._page.raw, 0, 0, side, side, 0, x, y, ctypes.byref(across), ctypes.byref(down))
        return across.value / side, down.value / side

    def fields(self) -> tuple[FloatArray, list[bool | None], int]:
        """Form fields that show.

        Returns
        -------
        rects : FloatArray, shape (n, 4)
        ticks : list of bool or None
            Whether each is ticked; None for one that cannot be.
        printed : int
            Number of characters of the page itself, which stand before those that were typed.
        """
        return self._fractions(self._fields.rects), self._fields.ticks, self._fields.printed

    def is_bold(self, index: int) -> bool:
        """Whether the font of a character is bold by its weight or by its name."""
        name, flags = ctypes.create_string_buffer(96), ctypes.c_int()
        raw.FPDFText_GetFontInfo(self._text.raw, index, name, 96, ctypes.byref(flags))
        return _is_bold_name(name.value)

    def text_objects(self, numbers: Sequence[int] | range) -> list[int]:
        """Which text object each of these characters is drawn by, 0 where it is by none."""
        handle = address(self._text.raw)
        return [item or 0 for item in map(_text_object, repeat(handle), numbers)]

    def looks(self, items: Sequence[int]) -> Int64Array:
        """How text objects are painted, shape (n, 5): render mode, and red, green, blue and opacity of the fill."""
        return page_objects.looks(items)

    def clips(self, items: Sequence[int]) -> FloatArray:
        """The rectangle within which each object may paint, shape (n, 4); larger than any page if it has none."""
        rects = np.full((len(items), 4), page_objects.EVERYWHERE, np.float32)
        if clips := page_objects.clips(items):
            rects[list(clips)] = self._fractions(list(clips.values()))
        return rects

    def in_layers(self, items: Sequence[int]) -> set[int]:
        """Those objects that are marked as part of a layer, which may be switched off."""
        return page_objects.in_layers(items)

    def inks(self, numbers: range) -> Int64Array:
        """How characters are painted, shape (n, 6).

        Each row: a number that names the text object, 0 where there is none; its render mode; red, green, blue
        and opacity of its fill, 0..255.
        """
        handle = address(self._text.raw)
        known: dict[int | None, tuple[int, ...]] = {None: (0, 0, 0, 0, 0, 255)}
        rows = []
        for number in numbers:
            item = _text_object(handle, number)
            if item not in known:
                known[item] = (item, *page_objects.look(item))
            rows.append(known[item])
        return np.array(rows, np.int64).reshape(-1, 6)

    def areas(self) -> tuple[FloatArray, Int64Array]:
        """Where areas are filled, first or last on the page, shape (n, 4), and in which colours, shape (n, 3)."""
        rects, fills = page_objects.areas(self._page.raw)
        return self._fractions(rects), np.array(fills, np.int64).reshape(-1, 3)

    def covers(self) -> page_objects.Covers:
        """What is painted late and may lie over text, in groups as well."""
        return page_objects.covers(self._page.raw, self._fractions)

    def images(self) -> FloatArray:
        """Where images lie, alone or in a group, as fractions of the displayed page, shape (n, 4)."""
        return self._fractions(page_objects.images(self._page.raw))

    def _fractions(self, rects: Sequence[tuple[float, ...]]) -> FloatArray:
        if not rects:
            return np.zeros((0, 4), np.float32)
        return self._displayed(np.array(rects, np.float32))

    def drawn_without(self, items: set[int], scale: float) -> tuple[IntArray, IntArray]:
        """The page as displayed, whole and without some text objects, each of shape (height, width, 3)."""
        whole = self._pixels(scale)
        with page_objects.left_out(items):
            return whole, self._pixels(scale)

    def _pixels(self, scale: float) -> IntArray:
        return np.asarray(self.picture(scale), np.int32)

    def image_share(self) -> float:
        """Share of the page that its largest image covers; 0 for a page that draws nothing at all."""
        best = 0.0
        for item in self._page.get_objects(max_depth=2):
            if item.type == raw.FPDF_PAGEOBJ_IMAGE:
                left, bottom, right, top = item.get_bounds()
                best = max(best, abs(right - left) * abs(top - bottom) / max(self.width * self.height, 1.0))
        return min(best, 1.0)

    def draws(self) -> bool:
        """Whether the page draws anything that could be letters; a rule along its edge could not."""
        low, high = (math.inf, math.inf), (-math.inf, -math.inf)
        for item in self._page.get_objects(max_depth=1):
            left, bottom, right, top = item.get_bounds()
            low = min(low[0], left), min(low[1], bottom)
            high = max(high[0], right), max(high[1], top)
            if min(high[0] - low[0], high[1] - low[1]) > _SMALLEST_LETTERS:
                return True
        return False

    def picture(self, scale: float) -> Image:
        """The page as displayed, ``scale`` pixels a point, less where that would be a giant."""
        most = (_MOST_PIXELS / max(self.width * self.height, 1.0)) ** 0.5
        bitmap = self._page.render(scale=min(scale, most), may_draw_forms=False)
        try:
            image: Image = bitmap.to_pil().convert("RGB")
            return image.copy()
        finally:
            bitmap.close()


def _text(call: Any, *arguments: Any, unit: Any = ctypes.c_char) -> str:
    """What a function of pdfium writes as UTF-16 into a buffer, of which it tells the size when it gets none."""
    size = call(*arguments, None, 0)
    buffer = (unit * (size // ctypes.sizeof(unit)))()
    call(*arguments, buffer, size)
    return bytes(buffer)[:-2].decode("utf-16-le", "replace")


def _font_name(item: int) -> str:
    """The name of a text object's font without the mark of a subset, empty where it has none."""
    name = ctypes.create_string_buffer(128)
    length = raw.FPDFFont_GetBaseFontName(ctypes.cast(_font(item) or 0, raw.FPDF_FONT), name, 128)
    return font_name(name.value.decode("utf-8", "replace")) if 0 < length <= 128 else ""


@lru_cache(maxsize=1024)
def _is_bold_name(name: bytes) -> bool:
    return bool(_BOLD.search(name.decode("utf-8", "replace")))


def _join_surrogates(codes: IntArray, boxes: FloatArray) -> tuple[IntArray, FloatArray]:
    high = (codes[:-1] >= 0xD800) & (codes[:-1] < 0xDC00) & (codes[1:] >= 0xDC00) & (codes[1:] < 0xE000)
    where = np.flatnonzero(high)
    if len(where):
        codes = codes.copy()
        codes[where] = 0x10000 + ((codes[where] - 0xD800) << 10) + (codes[where + 1] - 0xDC00)
        codes, boxes = np.delete(codes, where + 1), np.delete(boxes, where + 1, axis=0)
    # Pdfium gives nonsense for some broken fonts: neither lone halves nor numbers beyond Unicode decode.
    bad = ((codes >= 0xD800) & (codes < 0xE000)) | (codes < 0) | (codes > 0x10FFFF)
    return np.where(bad, 0xFFFD, codes).astype(np.int32), boxes


class PdfiumDocument:
    """A file opened by pdfium."""

    def __init__(self, path: Path, password: str | None = None) -> None:
        # Not by pypdfium2's own call: it takes a file without pages for an error, and pdfium's last error is
        # then that of whatever file failed before.
        secret = None if password is None else password.encode() + b"\0"
        handle = raw.FPDF_LoadDocument(os.fsencode(path) + b"\0", secret)
        if not handle:
            code = raw.FPDF_GetLastError()
            if code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
                raise PasswordNeededError(_REASONS[code])
            raise UnreadableError(_REASONS.get(code, f"error {code}"))
        self._document = PdfDocument(handle)
        # Draws what was typed into fields of which the file holds no picture. Forms of XFA, which this pdfium does
        # not know, are told in a warning that nobody needs.
        logging.getLogger("pypdfium2").setLevel(logging.ERROR)
        self._document.init_forms()
        self.page_count = len(self._document)

    def close(self) -> None:
        self._document.close()

    def page_label(self, index: int) -> str:
        """What is printed on a page as its number, empty where the file says nothing of it."""
        return _text(raw.FPDF_GetPageLabel, self._document.raw, index)

    def bookmarks(self, depth: int) -> Iterator[tuple[int, str, int | None]]:
        """Level, title and page of the outline's entries, in order; one that loops ends where it begins again."""
        for entry in self._document.get_toc(max_depth=depth):
            destination = entry.get_dest()
            page = destination.get_index() if destination is not None else None
            yield entry.level, _text(raw.FPDFBookmark_GetTitle, entry.raw), page

    @contextmanager
    def open_page(self, index: int) -> Iterator[PageReader]:
        """Load a page, with what was typed into its form fields made part of it."""
        try:
            page = self._document[index]
            fields = _fields(page)
            if _has_written_annotations(page):
                raw.FPDFPage_Flatten(page.raw, raw.FLAT_NORMALDISPLAY)
                page.close()
                page = self._document[index]
            reader = PageReader(page, fields)
        except PdfiumError as error:
            raise UnreadableError(str(error)) from None
        try:
            yield reader
        finally:
            reader.close()


def _annotations(page: Any) -> Iterator[Any]:
    for index in range(min(raw.FPDFPage_GetAnnotCount(page.raw), _MOST_ANNOTATIONS)):
        if annotation := raw.FPDFPage_GetAnnot(page.raw, index):
            try:
                yield annotation
            finally:
                raw.FPDFPage_CloseAnnot(annotation)


def _has_written_annotations(page: Any) -> bool:
    kinds = map(raw.FPDFAnnot_GetSubtype, _annotations(page))
    return any(kind in (_WIDGET, _FREE_TEXT, _STAMP) for kind in kinds)


def _fields(page: Any) -> _Fields:
    found = _Fields()
    for annotation in _annotations(page) if page.formenv else ():
        kind, rect = raw.FPDFAnnot_GetFormFieldType(page.formenv, annotation), raw.FS_RECTF()
        if kind == -1 or raw.FPDFAnnot_GetFlags(annotation) & _NOT_SHOWN:
            continue
        if raw.FPDFAnnot_GetRect(annotation, rect):
            found.rects.append((rect.left, rect.bottom, rect.right, rect.top))
            found.ticks.append(_is_ticked(annotation) if kind in _TICKED else None)
    if found.rects:
        text = page.get_textpage()
        found.printed = text.count_chars()
        text.close()
    return found


def _is_ticked(annotation: Any) -> bool:
    # By the state it is in: of one without a picture for it pdfium says that it is not checked.
    state = _text(raw.FPDFAnnot_GetStringValue, annotation, b"AS\0", unit=ctypes.c_ushort)
    return state not in ("", "Off")
