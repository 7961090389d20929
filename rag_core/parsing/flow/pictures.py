"""Pictures inside a file: which of them may contain text, and what text recognition reads of them."""

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

# The kinds of pictures that Pillow reads itself, most of their pixels, and points for each pixel if no size is stated.
_KINDS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
_MOST_PIXELS, _POINTS = 50_000_000, 0.75
# No page is longer, in points.
_LARGEST_SIZE = 14_400.0
# Least number of letters and digits, and least mean confidence, with which the text of a picture is kept.
_LEAST_LETTERS, _SURE = 10, 0.9
_DATA_ADDRESS = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)


@dataclass(frozen=True)
class PictureText:
    """The text of a picture, with word boxes as fractions of the picture; see `Page` and `ParsedPage`."""

    text: str = ""
    boxes: WordBoxes = field(default_factory=WordBoxes.empty)
    tables: tuple[Table, ...] = ()
    divided: tuple[tuple[int, str, str], ...] = ()
    confidences: tuple[float, ...] = ()
    reason: str = ""


def read_picture(data: bytes, width: float = 0.0, height: float = 0.0) -> list[PictureBlock]:
    """Return a picture; nothing if it is too small for text or cannot be read.

    Parameters
    ----------
    data : bytes
        The file of the picture.
    width, height : float
        The size at which the file shows the picture in points; that of its pixels is used in place of an absurd one.
    """
    try:
        pixels = _open(data).size
    except (OSError, ValueError, SyntaxError, Warning):
        return []
    if not all(0 < one <= _LARGEST_SIZE for one in (width, height)):
        width, height = _POINTS * pixels[0], _POINTS * pixels[1]
    nothing = Characters(np.zeros(0, np.int32), np.zeros((0, 4), np.float32), width, height)
    is_large = len(find_candidates(np.array([[0, 0, 1, 1]], np.float32), nothing)) and np.prod(pixels) <= _MOST_PIXELS
    return [PictureBlock(data, (width, height))] if is_large else []


class Pictures:
    """The pictures of a file, each of which is kept once, however often the file shows it.

    Parameters
    ----------
    load : callable
        Takes the name of a picture in the file, and returns its data; empty if there is none.
    """

    def __init__(self, load: Callable[[str], bytes]) -> None:
        self._load = load
        self._kept: dict[bytes, bytes] = {}

    def read(self, name: str, width: float = 0.0, height: float = 0.0) -> list[PictureBlock]:
        """Return a picture, as `read_picture` does."""
        data = self._load(name)
        return read_picture(self._kept.setdefault(data, data), width, height)


def decode_address(address: str) -> bytes:
    """Return the data that an address of a picture contains; empty for any other address."""
    head = _DATA_ADDRESS.match(address)
    try:
        return base64.b64decode("".join(address[head.end() :].split())) if head else b""
    except ValueError:
        return b""


def load_picture(data: bytes) -> Image:
    """Return a picture in RGB; raise `OSError` or `ValueError` if it is damaged."""
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
            return Image.open(io.BytesIO(data), formats=_KINDS)
        except Image.DecompressionBombError as error:
            raise OSError(str(error)) from None


def recognize_picture(block: PictureBlock) -> PictureText:
    """Return the text of a picture; without text, ``reason`` may say why."""
    from rag_core.parsing.ocr import OcrMissingError, recognize_text, scale_for

    width, height = block.size
    scale = scale_for(width, height)
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
    if letters < _LEAST_LETTERS or np.mean(confidences) < _SURE:
        return PictureText()
    for run in runs:
        run.words[:] = map(escape_marks, run.words)
    lines = order_lines(runs, written=False)
    separators = choose_separators(lines)
    text, boxes, spans = join_lines(lines, separators)
    tables = find_tables(lines, text, boxes, lambda: np.zeros((0, 4), np.float32))
    return PictureText(text, boxes, tables, find_hyphenated_words(lines, separators, spans), tuple(confidences))


def move_picture_text(found: PictureText, places: int, x: float, y: float, width: float, height: float) -> PictureText:
    """Return a text of a picture with offsets in the text of a page, and with word boxes in points on it."""
    rects = found.boxes.rects * np.array([width, height] * 2, np.float32) + np.array([x, y] * 2, np.float32)
    return replace(
        found,
        boxes=WordBoxes(found.boxes.starts + places, found.boxes.ends + places, rects),
        tables=tuple(one.map_offsets(lambda at: at + places) for one in found.tables),
        divided=tuple((at + places, first, second) for at, first, second in found.divided),
    )
