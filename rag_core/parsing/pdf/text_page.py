"""Read the text layer of a page with pdfium: code points, boxes, and how each character is drawn."""

from __future__ import annotations

import ctypes
import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat
from typing import Any

import numpy as np

from rag_core.parsing.pdf import page_objects
from rag_core.parsing.pdf.fonts import strip_subset_prefix
from rag_core.parsing.pdf.pdfium_calls import INT, POINTER, bind_function, handle_address, raw
from rag_core.types.arrays import FloatArray, Int64Array, IntArray

_BOLD = re.compile("bold|black|heavy|semibold|demi", re.IGNORECASE)
_MAX_CHARACTERS = 400_000
# Shapes of punctuation marks, as shares of the height of a line. Pdfium gives some blanks an outline that is thinner
# than any mark.
_MIN_INK = 0.004
_MAX_HYPHEN_THICKNESS = 0.12
_HYPHEN_HEIGHTS = (0.12, 0.4)
_MAX_DOT_SIZE = 0.2
_MIN_COMMA_DEPTH = 0.04
# Maximum angle of level text in radians.
_MAX_ANGLE = 0.01

_origin = bind_function("FPDFText_GetCharOrigin", INT, POINTER, INT, POINTER, POINTER)
_text_matrix = bind_function("FPDFText_GetMatrix", INT, POINTER, INT, POINTER)
_font_size = bind_function("FPDFText_GetFontSize", ctypes.c_double, POINTER, INT)
_angle = bind_function("FPDFText_GetCharAngle", ctypes.c_float, POINTER, INT)
_code = bind_function("FPDFText_GetUnicode", ctypes.c_uint, POINTER, INT)
_font = bind_function("FPDFTextObj_GetFont", POINTER, POINTER)
_tight_box = bind_function("FPDFText_GetCharBox", INT, POINTER, INT, *[POINTER] * 4)
_is_hyphen = bind_function("FPDFText_IsHyphen", INT, POINTER, INT)
_text_object = bind_function("FPDFText_GetTextObject", POINTER, POINTER, INT)
# Called for every character of a page, so without types of arguments.
_quick_loose_box = bind_function("FPDFText_GetLooseCharBox", INT)
_quick_lacks_letter = bind_function("FPDFText_HasUnicodeMapError", INT)
_quick_text_object = bind_function("FPDFText_GetTextObject", POINTER)


@dataclass(frozen=True)
class Characters:
    """The text layer of a page in the order of its content stream.

    ``codes`` are code points, with CR LF for a line end and 2 for a hyphen that divides a word at a line end.
    ``boxes`` are fractions of the displayed page; the box of a character that is not drawn is NaN. ``width`` and
    ``height`` are the size of the displayed page in points.
    """

    codes: IntArray
    boxes: FloatArray
    width: float
    height: float

    @property
    def text(self) -> str:
        """The characters as text."""
        return decode_characters(self.codes)


def decode_characters(codes: IntArray) -> str:
    """Return code points as text."""
    return codes.astype("<u4").tobytes().decode("utf-32-le")


class TextPage:
    """The characters of one page, which are numbered in the order of its content stream.

    Parameters
    ----------
    page : pypdfium2.PdfTextPage
    """

    def __init__(self, page: Any) -> None:
        self._page = page
        self._handle = handle_address(page.raw)
        self._pointer = POINTER.from_param(self._handle)
        self.count = min(page.count_chars(), _MAX_CHARACTERS)

    def close(self) -> None:
        self._page.close()

    @cached_property
    def codes(self) -> IntArray:
        """The code points of all characters, shape (n,), with 2 for a hyphen at a line end.

        The two halves of a surrogate pair are separate characters; see `join_surrogates`.
        """
        count = self.count
        # On nearly all pages, each character is one UTF-16 unit, so a single call can read the whole page.
        buffer = (ctypes.c_ushort * (count + 1))()
        if raw.FPDFText_GetText(self._page.raw, 0, count, buffer) == count + 1:
            codes: IntArray = np.frombuffer(bytes(buffer), np.uint16, count).astype(np.int32)
            codes[codes == 0xFFFE] = 2
            return codes
        get_code, handle = raw.FPDFText_GetUnicode, self._page.raw
        wide = np.array([get_code(handle, index) for index in range(count)], np.int64)
        return np.where(wide == 0xFFFE, 2, wide).astype(np.int32)

    def is_line_hyphen(self, number: int) -> bool:
        """Return whether pdfium takes a character for a hyphen that divides a word at a line end."""
        return bool(_is_hyphen(self._handle, number) == 1)

    def has_ink(self, number: int) -> bool:
        """Return whether the glyph of a character has an outline, unlike blanks and generated characters."""
        _, _, bottom, top = self._read_outline(number)
        return top - bottom > _MIN_INK * float(self.boxes[number, 3] - self.boxes[number, 1])

    def _read_outline(self, number: int) -> tuple[float, float, float, float]:
        """Return left, right, bottom and top of the glyph of a character; zeros if pdfium does not know them."""
        sides = (ctypes.c_double * 4)()
        first = ctypes.addressof(sides)
        _tight_box(self._handle, number, first, first + 8, first + 16, first + 24)
        return (sides[0], sides[1], sides[2], sides[3])

    def find_mark(self, number: int) -> int:
        """Return the code point of the hyphen, comma or full stop whose shape the glyph of a character has.

        Return 0 for any other shape, and for text that is not level.
        """
        if abs(self.read_angle(number)) > _MAX_ANGLE:
            return 0
        origin = (ctypes.c_double * 2)()
        first = ctypes.addressof(origin)
        _origin(self._handle, number, first, first + 8)
        height = float(self.boxes[number, 3] - self.boxes[number, 1]) or 1.0
        left, right, bottom, top = ((side - origin[1]) / height for side in self._read_outline(number))
        width, thickness = right - left, top - bottom
        is_raised = _HYPHEN_HEIGHTS[0] < (bottom + top) / 2 < _HYPHEN_HEIGHTS[1]
        if thickness < _MAX_HYPHEN_THICKNESS and width > 2 * thickness and is_raised:
            return 0x2D
        if thickness >= 2 * _MAX_DOT_SIZE or width > _MAX_DOT_SIZE or not 0 < top < _MAX_DOT_SIZE:
            return 0
        return 0x2C if bottom < -_MIN_COMMA_DEPTH else 0x2E if thickness < _MAX_DOT_SIZE else 0

    @cached_property
    def boxes(self) -> FloatArray:
        """The boxes of all characters in PDF user space: left, bottom, right and top, shape (n, 4)."""
        # FS_RECTF has the order left, top, right, bottom.
        rects = np.zeros((self.count, 4), np.float32)
        first = rects.ctypes.data
        places = map(POINTER.from_param, range(first, first + rects.nbytes, ctypes.sizeof(raw.FS_RECTF)))
        deque(map(_quick_loose_box, repeat(self._pointer), range(self.count), places), maxlen=0)
        return rects[:, [0, 3, 2, 1]]

    @cached_property
    def unmapped(self) -> dict[int, tuple[str, int]]:
        """The font name and the code of each character for which pdfium has no code point, by character number."""
        handle, count = self._handle, self.count
        lacking = np.fromiter(map(_quick_lacks_letter, repeat(self._pointer), range(count)), np.int32, count) == 1
        fonts: dict[int | None, str] = {None: ""}
        unmapped = {}
        for number in np.flatnonzero(lacking).tolist():
            item = _text_object(handle, number)
            if item not in fonts:
                fonts[item] = _read_font_name(item)
            unmapped[number] = (fonts[item], _code(handle, number))
        return unmapped

    def read_origins_and_ems(self, numbers: Iterable[int]) -> tuple[FloatArray, FloatArray]:
        """Return the origin of each character and the upward vector of one em, in PDF user space, each shape (n, 2)."""
        handle, matrix, point = self._handle, (ctypes.c_float * 6)(), (ctypes.c_double * 2)()
        matrix_address, point_address = ctypes.addressof(matrix), ctypes.addressof(point)
        known: dict[int | None, tuple[float, float]] = {}
        rows = []
        for number in numbers:
            _origin(handle, number, point_address, point_address + 8)
            item = _text_object(handle, number)
            if item not in known:
                _text_matrix(handle, number, matrix_address)
                size = _font_size(handle, number)
                known[item] = (size * matrix[2], size * matrix[3])
            rows.append((*point, *known[item]))
        values = np.array(rows, np.float32).reshape(-1, 4)
        return values[:, :2], values[:, 2:]

    def find_text_objects(self, numbers: Sequence[int] | range) -> list[int]:
        """Return the address of the text object that draws each character; 0 if there is no object."""
        return [item or 0 for item in map(_quick_text_object, repeat(self._pointer), numbers)]

    def read_styles(self, numbers: range) -> Int64Array:
        """Return how characters are painted, shape (n, 6).

        Each row contains the address of the text object (0 if there is none), its render mode, and red, green, blue and
        opacity of its fill (0..255).
        """
        items = np.array(self.find_text_objects(numbers), np.int64)
        objects, places = np.unique(items, return_inverse=True)
        styles = np.tile(np.array((0, 0, 0, 0, 255), np.int64), (len(objects), 1))
        styles[objects != 0] = page_objects.read_styles(objects[objects != 0].tolist())
        return np.column_stack([items, styles[places]])

    def read_angle(self, number: int) -> float:
        """Return the angle of a character in radians; 0 for an upright character."""
        return float(_angle(self._handle, number))

    def is_bold(self, index: int) -> bool:
        """Return whether the font of a character is bold according to its name."""
        name, flags = ctypes.create_string_buffer(96), ctypes.c_int()
        raw.FPDFText_GetFontInfo(self._page.raw, index, name, 96, ctypes.byref(flags))
        return _is_bold_name(name.value)


def _read_font_name(item: int) -> str:
    """Return the name of a text object's font without its subset prefix; empty if the font has no name."""
    name = ctypes.create_string_buffer(128)
    length = raw.FPDFFont_GetBaseFontName(ctypes.cast(_font(item) or 0, raw.FPDF_FONT), name, 128)
    return strip_subset_prefix(name.value.decode("utf-8", "replace")) if 0 < length <= 128 else ""


@lru_cache(maxsize=1024)
def _is_bold_name(name: bytes) -> bool:
    return bool(_BOLD.search(name.decode("utf-8", "replace")))


def join_surrogates(codes: IntArray, boxes: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return code points with surrogate pairs joined and invalid code points replaced, and their boxes."""
    high = (codes[:-1] >= 0xD800) & (codes[:-1] < 0xDC00) & (codes[1:] >= 0xDC00) & (codes[1:] < 0xE000)
    where = np.flatnonzero(high)
    if len(where):
        codes = codes.copy()
        codes[where] = 0x10000 + ((codes[where] - 0xD800) << 10) + (codes[where + 1] - 0xDC00)
        codes, boxes = np.delete(codes, where + 1), np.delete(boxes, where + 1, axis=0)
    # For some broken fonts, pdfium returns lone surrogates or numbers beyond Unicode, which cannot be decoded.
    bad = ((codes >= 0xD800) & (codes < 0xE000)) | (codes < 0) | (codes > 0x10FFFF)
    return np.where(bad, 0xFFFD, codes).astype(np.int32), boxes
