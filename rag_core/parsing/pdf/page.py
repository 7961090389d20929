"""Read one page with pdfium: characters with their boxes, form fields, painted areas, and the page picture."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rag_core.parsing.pdf import page_objects
from rag_core.parsing.pdf.pdfium_calls import raw
from rag_core.parsing.pdf.strokes import find_strokes, iter_lines
from rag_core.parsing.pdf.superscripts import mark_superscripts
from rag_core.parsing.pdf.text_page import Characters, TextPage, join_surrogates
from rag_core.types.arrays import BoolArray, FloatArray, Int16Array, Int64Array, IntArray

if TYPE_CHECKING:
    from PIL.Image import Image

# Returns the code points of characters, given by font name and code in the font; 0 to leave the code as it is.
GlyphDecoder: TypeAlias = Callable[[Sequence[tuple[str, int]]], list[int]]

_MAX_PIXELS = 40_000_000
# Smaller letters, in points, can be read neither by people nor by text recognition.
_MIN_LETTER_SIZE = 2.0
_SOFT_HYPHEN = 0xAD
# The mark for a character that cannot be read.
_UNREAD = 0xFFFD
# Maximum distance in points between the boxes of a character that is drawn twice.
_SAME_PLACE = 0.05
# Fewer repeated characters are not a repeated stamp or line.
_MIN_REPEATED = 4
_MAX_LIGATURE_LETTERS = 3
_STOPS, _BLANKS = (0x2E, 0x3002), (0x20, 0xA0)
_MAX_TESTED_BLANKS = 60
# If a page has more ornaments, they may be letters.
_MAX_ORNAMENTS = 12
# A letter "f", "i" or "l" may be a ligature if it is wider than this share of the line height, and wider than this
# multiple of its usual width. With fewer letters, the usual width is unknown.
_WIDE = 0.34
_WIDER = 1.5
_MIN_LETTERS = 4


@dataclass
class FormFields:
    """Visible form fields of a page.

    Attributes
    ----------
    rects : list of tuple of float
        Left, bottom, right and top of each field in points.
    ticks : list of bool or None
        Whether each field is ticked; ``None`` for a field that cannot be ticked.
    printed : int
        Number of characters of the page without the values that are typed into fields.
    """

    rects: list[tuple[float, ...]] = field(default_factory=list)
    ticks: list[bool | None] = field(default_factory=list)
    printed: int = 0


class PdfPage:
    """One loaded page; `PdfiumDocument.open_page` yields it.

    ``notes`` contains the notes that readers added to the page, and ``paper_clips`` the number, file name and size in
    bytes of each annotation that contains a file.
    """

    def __init__(
        self,
        page: Any,
        fields: FormFields,
        notes: tuple[str, ...] = (),
        paper_clips: tuple[tuple[int, str, int], ...] = (),
    ) -> None:
        self.notes = notes
        self.paper_clips = paper_clips
        self._page = page
        self._fields = fields
        self._text = TextPage(page.get_textpage())
        self.width, self.height = (float(side) for side in page.get_size())

    def close(self) -> None:
        self._text.close()
        self._page.close()

    def read_characters(self, decode: GlyphDecoder) -> Characters:
        """Return every character of the text layer, including control characters, with these corrections:

        - Characters for which pdfium has no code point are decoded.
        - Characters whose code draws nothing, but that have ink, become signs; see `_replace_unread`.
        - Characters that are drawn a second time at the same place become blanks.
        - Raised figures become superscripts.

        Parameters
        ----------
        decode : callable
            Decodes the characters for which pdfium has no code point.
        """
        codes = self._text.codes.copy()
        if unmapped := self._text.unmapped:
            decoded = np.array(decode(list(unmapped.values())), np.int32)
            codes[np.array(list(unmapped))[decoded > 0]] = decoded[decoded > 0]
        boxes = self._text.boxes
        self._replace_unread(codes)
        _blank_repeated(codes, boxes)
        codes = mark_superscripts(codes, boxes, self._text)
        return Characters(*join_surrogates(codes, self._convert_to_fractions(boxes)), self.width, self.height)

    def has_doubtful_characters(self) -> bool:
        """Return whether fonts may map drawn characters to wrong characters.

        Such characters are invisible ones, ornaments, letters of another script, or one letter of a ligature.
        """
        codes = self._text.codes
        control = _is_control(codes) | (codes == 0xFFFD) | (codes == 0) | (codes == _SOFT_HYPHEN)
        if control.any() or self._text.unmapped:
            return True
        if np.count_nonzero((codes >= 0x2600) & (codes <= 0x27BF)) > _MAX_ORNAMENTS:
            return True
        # Right-to-left letters beside accented Latin letters.
        if ((codes >= 0x590) & (codes < 0x700)).any() and ((codes >= 0xC0) & (codes <= 0xFF)).any():
            return True
        return self._has_drawn_blanks(codes) or self._has_wide_letters(codes)

    def _has_drawn_blanks(self, codes: IntArray) -> bool:
        """Return whether a blank has ink, perhaps as a full stop; false for a page with full stops, to save time."""
        if np.isin(codes, _STOPS).any():
            return False
        return any(map(self._text.has_ink, np.flatnonzero(codes == 32)[:_MAX_TESTED_BLANKS].tolist()))

    def _has_wide_letters(self, codes: IntArray) -> bool:
        """Return whether "f", "i" or "l" are so wide in places that they may be ligatures."""
        boxes = self._text.boxes
        heights = np.maximum(boxes[:, 3] - boxes[:, 1], 1e-3)
        ratios = (boxes[:, 2] - boxes[:, 0]) / heights
        for letter in b"fil":
            of_letter = ratios[codes == letter]
            widest = of_letter.max(initial=0.0)
            # Computing the quantile takes long, so compute it only if a letter is wide enough.
            if widest > _WIDE and (
                len(of_letter) < _MIN_LETTERS or widest > _WIDER * np.quantile(of_letter, 0.25, method="lower")
            ):
                return True
        return False

    def _replace_unread(self, codes: IntArray) -> None:
        """Replace characters that have ink although their code draws nothing, in ``codes`` itself.

        - A soft hyphen becomes a hyphen.
        - A control character or U+FFFD becomes the hyphen, comma or full stop whose shape it has, or else U+FFFD.
        - On a page without commas or without full stops, a blank after a figure becomes the hyphen, comma or full stop
          whose shape it has, if any.
        """
        unread = _is_control(codes) | (codes == 2) | (codes == _SOFT_HYPHEN) | (codes == _UNREAD)
        for number in np.flatnonzero(unread).tolist():
            if self._text.has_ink(number) and not self._text.is_line_hyphen(number):
                codes[number] = 0x2D if codes[number] == _SOFT_HYPHEN else self._text.find_mark(number) or _UNREAD
        if all((codes == mark).any() for mark in (0x2C, 0x2E)):
            return
        after_figures = np.flatnonzero(np.isin(codes[1:], _BLANKS) & (codes[:-1] >= 0x30) & (codes[:-1] <= 0x39)) + 1
        for number in after_figures[:_MAX_TESTED_BLANKS].tolist():
            if self._text.has_ink(number) and (mark := self._text.find_mark(number)):
                codes[number] = mark

    def _convert_to_fractions(self, boxes: FloatArray) -> FloatArray:
        """Convert boxes from PDF user space to fractions of the displayed page, for any rotation and crop box.

        A box without width and height becomes NaN.
        """
        empty = (boxes[:, 2] <= boxes[:, 0]) & (boxes[:, 3] <= boxes[:, 1])
        origin = np.array(self._convert_point(0, 0))
        matrix = np.stack([(np.array(self._convert_point(*end)) - origin) / 1000 for end in ((1000, 0), (0, 1000))])
        first = boxes[:, 0:2].astype(np.float64) @ matrix + origin
        second = boxes[:, 2:4].astype(np.float64) @ matrix + origin
        shown = np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=1)
        shown[empty] = np.nan
        return shown.astype(np.float32)

    def _convert_point(self, x: float, y: float) -> tuple[float, float]:
        side = 1_000_000
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(self._page.raw, 0, 0, side, side, 0, x, y, ctypes.byref(across), ctypes.byref(down))
        return across.value / side, down.value / side

    def read_form_fields(self) -> tuple[FloatArray, list[bool | None], int]:
        """Return the boxes and the ticks of the visible form fields, and where the characters typed into them begin.

        Returns
        -------
        rects : FloatArray, shape (n, 4)
            The box of each field as fractions of the displayed page.
        ticks : list of bool or None
            Whether each field is ticked; ``None`` for a field that cannot be ticked.
        printed : int
            Number of characters of the page itself. In the text layer, the characters typed into fields follow them.
        """
        return self._convert_rects(self._fields.rects), self._fields.ticks, self._fields.printed

    def is_bold(self, index: int) -> bool:
        """Return whether the font of a character is bold according to its name."""
        return self._text.is_bold(index)

    def read_angle(self, number: int) -> float:
        """Return the angle of a character in radians; 0 for an upright character."""
        return self._text.read_angle(number)

    def may_have_slanted_text(self, least: float) -> bool:
        """Return whether the page may have text that is slanted by at least ``least`` radians; see `page_objects`."""
        # There are no objects if the page is a drawing.
        return not self._objects or page_objects.may_have_slanted_text(self._objects, least)

    def find_text_objects(self, numbers: Sequence[int] | range) -> list[int]:
        """Return the address of the text object that draws each character; 0 if there is no object."""
        return self._text.find_text_objects(numbers)

    def read_character_styles(self, numbers: range) -> Int64Array:
        """Return how characters are painted, shape (n, 6); see `TextPage.read_styles`."""
        return self._text.read_styles(numbers)

    def read_clips(self, items: Sequence[int]) -> FloatArray:
        """Return the bounds of each object's clip as fractions of the displayed page, shape (n, 4).

        The bounds of an object without a clip are larger than any page.
        """
        rects = np.full((len(items), 4), page_objects.EVERYWHERE, np.float32)
        if clips := page_objects.read_clips(items):
            rects[list(clips)] = self._convert_rects(list(clips.values()))
        return rects

    def find_filled_areas(self) -> tuple[FloatArray, Int64Array]:
        """Return the boxes and the colours of the filled areas among the first and the last objects that are painted.

        The boxes are fractions of the displayed page, shape (n, 4). The colours are red, green and blue (0..255), shape
        (n, 3).
        """
        rects, fills = page_objects.find_filled_areas(self._page.raw)
        return self._convert_rects(rects), np.array(fills, np.int64).reshape(-1, 3)

    def find_covering_areas(self) -> page_objects.Covers:
        """Return the areas that are painted late and may cover text, including areas inside groups."""
        return page_objects.find_covering_areas(self._page.raw, self._convert_rects)

    @cached_property
    def _objects(self) -> list[int]:
        return page_objects.list_objects(self._page.raw)

    @cached_property
    def _lines(self) -> list[tuple[page_objects.Bounds, int]]:
        return list(iter_lines(self._objects))

    def find_rules(self) -> FloatArray:
        """Return the boxes of drawn lines and thin areas, as fractions of the displayed page, shape (n, 4)."""
        return self._convert_rects([bounds for bounds, _ in self._lines])

    def find_images(self) -> FloatArray:
        """Return the boxes of images, and of groups with images, as fractions of the displayed page, shape (n, 4)."""
        return self._convert_rects(page_objects.find_images(self._page.raw))

    def find_strokes(self) -> FloatArray:
        """Return the boxes of lines that may strike out text, as fractions of the displayed page, shape (n, 4)."""
        # A box without any height counts as unknown, so the lines are made a little thicker.
        return self._convert_rects(
            [
                (x0 - 0.01, y0 - 0.01, x1 + 0.01, y1 + 0.01)
                for x0, y0, x1, y1 in find_strokes(self._page.raw, self._lines)
            ]
        )

    def _convert_rects(self, rects: Sequence[tuple[float, ...]]) -> FloatArray:
        return self._convert_to_fractions(np.array(rects, np.float32).reshape(-1, 4))

    def render_without(self, items: set[int], scale: float) -> tuple[Int16Array, Int16Array]:
        """Return the page picture with and without the text objects ``items``, each of shape (height, width, 3)."""
        whole = self._draw_pixels(scale)
        with page_objects.hide_objects(items):
            return whole, self._draw_pixels(scale)

    def _draw_pixels(self, scale: float) -> Int16Array:
        bitmap = self._draw_bitmap(scale)
        try:
            pixels: Int16Array = bitmap.to_numpy().astype(np.int16)
            return pixels
        finally:
            bitmap.close()

    def find_pictures(self) -> FloatArray:
        """Return the boxes of images, including images in groups, clipped to the displayed page, shape (n, 4)."""
        return self._convert_rects(page_objects.find_pictures(self._objects)).clip(0, 1)

    def has_visible_content(self) -> bool:
        """Return whether all objects of the page together are wider and higher than the smallest legible letter."""
        low, high = (math.inf, math.inf), (-math.inf, -math.inf)
        for item in self._page.get_objects(max_depth=1):
            left, bottom, right, top = item.get_bounds()
            low = min(low[0], left), min(low[1], bottom)
            high = max(high[0], right), max(high[1], top)
            if min(high[0] - low[0], high[1] - low[1]) > _MIN_LETTER_SIZE:
                return True
        return False

    def draw(self, scale: float) -> Image:
        """Return the page picture at ``scale`` pixels per point, or at a smaller scale if it would be too large."""
        bitmap = self._draw_bitmap(scale)
        try:
            image: Image = bitmap.to_pil().convert("RGB")  # always a copy
            return image
        finally:
            bitmap.close()

    def _draw_bitmap(self, scale: float) -> Any:
        most = (_MAX_PIXELS / max(self.width * self.height, 1.0)) ** 0.5
        return self._page.render(scale=min(scale, most), may_draw_forms=False)


def _is_control(codes: IntArray) -> BoolArray:
    """Return which characters are control characters, except line ends and hyphens at line ends."""
    is_end = (codes == 10) | ((codes == 13) & (np.append(codes[1:], 10) == 10))
    found: BoolArray = (codes < 32) & (codes != 2) & ~is_end
    return found


def _blank_repeated(codes: IntArray, boxes: FloatArray) -> None:
    """Replace by blanks, in ``codes`` itself, the characters that the page draws a second time at the same place.

    The page may contain a stamp twice. Fewer than four such characters are kept.
    """
    visible = np.flatnonzero((codes > 32) & (boxes[:, 2] > boxes[:, 0]))
    corners = np.round(boxes[visible][:, [0, 3]].astype(np.float64) / _SAME_PLACE).astype(np.int64)
    keys = (codes[visible].astype(np.int64) << 42) ^ (corners[:, 0] << 21) ^ (corners[:, 1] & 0x1FFFFF)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    # The letters of a ligature also have the same box.
    repeated = visible[visible - visible[first[group]] >= _MAX_LIGATURE_LETTERS]
    if len(repeated) >= _MIN_REPEATED:
        codes[repeated] = 0x20
