"""Read the pictures inside a file that may contain text, and recognize their text."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rag_core.parsing.flow.content import PictureBlock
from rag_core.parsing.layout.page_text import choose_separators, find_hyphenated_words, join_lines
from rag_core.parsing.layout.reading_order import order_lines
from rag_core.parsing.pdf.pictures import iter_frames
from rag_core.parsing.pdf.text_page import Characters
from rag_core.parsing.pdf.text_pictures import find_candidates
from rag_core.parsing.tables.finder import find_tables
from rag_core.text.struck import escape_marks
from rag_core.types.documents import WordBoxes
from rag_core.types.tables import Table

if TYPE_CHECKING:
    from PIL.Image import Image

# Formats that Pillow reads without other libraries.
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
_MAX_PIXELS = 50_000_000
# Size of a pixel in points if the file does not state a possible size of a picture.
_POINTS_PER_PIXEL = 0.75
# Length of the longest possible page in points.
_MAX_SIZE = 14_400.0
# Minimum number of letters and digits, and minimum mean confidence, with which the text of a picture is kept.
_MIN_LETTERS = 10
_MIN_CONFIDENCE = 0.9
_DATA_ADDRESS = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)


@dataclass(frozen=True)
class PictureText:
    """The text of a picture, with word boxes as fractions of the picture.

    See `Page` and `ParsedPage` for the fields. ``confidences`` has a confidence, 0..1, for each word.
    """

    text: str = ""
    boxes: WordBoxes = field(default_factory=WordBoxes.empty)
    tables: tuple[Table, ...] = ()
    divided: tuple[tuple[int, str, str], ...] = ()
    confidences: tuple[float, ...] = ()
    reason: str = ""


def read_picture(data: bytes, width: float = 0.0, height: float = 0.0) -> list[PictureBlock]:
    """Return a list with a picture; empty if the picture is too small for text, has too many pixels or cannot be read.

    Parameters
    ----------
    data : bytes
        The file of the picture.
    width, height : float
        Size in points at which the document shows the picture. If the width or the height is missing (0) or impossible,
        the size is computed from the pixels, at 0.75 points per pixel.
    """
    try:
        pixels = _open(data).size
    except (OSError, ValueError, SyntaxError, Warning):
        return []
    if not all(0 < side <= _MAX_SIZE for side in (width, height)):
        width, height = _POINTS_PER_PIXEL * pixels[0], _POINTS_PER_PIXEL * pixels[1]
    no_characters = Characters(np.zeros(0, np.int32), np.zeros((0, 4), np.float32), width, height)
    may_have_text = len(find_candidates(np.array([[0, 0, 1, 1]], np.float32), no_characters)) > 0
    return [PictureBlock(data, (width, height))] if may_have_text and np.prod(pixels) <= _MAX_PIXELS else []


class PictureReader:
    """Reads the pictures of a file by name. Equal pictures share their data, so repeated pictures need memory once.

    Parameters
    ----------
    load : callable
        Function that takes the name of a picture and returns its data, or empty bytes if there is no such picture.
    """

    def __init__(self, load: Callable[[str], bytes]) -> None:
        self._load = load
        self._kept: dict[bytes, bytes] = {}

    def read(self, name: str, width: float = 0.0, height: float = 0.0) -> list[PictureBlock]:
        """Return a list with the picture of a name, or an empty list; see `read_picture`."""
        data = self._load(name)
        return read_picture(self._kept.setdefault(data, data), width, height)


def decode_data_url(address: str) -> bytes:
    """Return the picture that a ``data:`` URL contains; empty for another URL, and if the data are damaged."""
    head = _DATA_ADDRESS.match(address)
    try:
        return base64.b64decode("".join(address[head.end() :].split())) if head else b""
    except ValueError:
        return b""


def load_picture(data: bytes) -> Image:
    """Return the first frame of a picture, upright and in RGB; raise `OSError` or `ValueError` if it is damaged."""
    try:
        image: Image = next(iter_frames(_open(data)))
    except (SyntaxError, EOFError) as error:
        raise OSError(str(error)) from None
    return image


def _open(data: bytes) -> Image:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            return Image.open(io.BytesIO(data), formats=_FORMATS)
        except Image.DecompressionBombError as error:
            raise OSError(str(error)) from None


def recognize_picture(block: PictureBlock) -> PictureText:
    """Return the text of a picture.

    If recognition fails, ``text`` is empty and ``reason`` says why. If the picture has few letters or their confidence
    is low, both are empty.
    """
    from rag_core.parsing.ocr import OcrMissingError, choose_scale, recognize_text

    width, height = block.size
    scale = choose_scale(width, height)
    try:
        image = load_picture(block.data).resize((max(round(width * scale), 1), max(round(height * scale), 1)))
        runs, confidences, _ = recognize_text(image, width, height)
    except OcrMissingError:
        return PictureText(reason="a picture was not read: text recognition is not installed; install rapidocr")
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - three libraries can fail here, and the other text is still useful
        return PictureText(reason=f"a picture was not read: {type(error).__name__}"[:200])
    letters = sum(char.isalnum() for run in runs for word in run.words for char in word)
    if letters < _MIN_LETTERS or np.mean(confidences) < _MIN_CONFIDENCE:
        return PictureText()
    for run in runs:
        run.words[:] = map(escape_marks, run.words)
    lines = order_lines(runs, written=False)
    separators = choose_separators(lines)
    text, boxes, spans = join_lines(lines, separators)
    tables = find_tables(lines, text, boxes, lambda: np.zeros((0, 4), np.float32))
    return PictureText(text, boxes, tables, find_hyphenated_words(lines, separators, spans), tuple(confidences))


def move_picture_text(found: PictureText, shift: int, x: float, y: float, width: float, height: float) -> PictureText:
    """Return the text of a picture with offsets in the page text, and with word boxes in points on the page.

    ``shift`` is the offset in the page text at which the text of the picture begins. The other parameters are the place
    and the size of the picture on the page, in points.
    """
    rects = found.boxes.rects * np.array([width, height] * 2, np.float32) + np.array([x, y] * 2, np.float32)
    return replace(
        found,
        boxes=WordBoxes(found.boxes.starts + shift, found.boxes.ends + shift, rects),
        tables=tuple(table.map_offsets(lambda offset: offset + shift) for table in found.tables),
        divided=tuple((offset + shift, first, second) for offset, first, second in found.divided),
    )
