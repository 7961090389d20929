"""Draw highlights on the picture of a page, with Pillow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rag_core.types.arrays import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

_COLOUR = (255, 222, 60)
_MARGIN = 1
# Left, top, right and bottom, in pixels.
Box = tuple[int, int, int, int]


def draw_highlights(image: Image, rects: FloatArray) -> tuple[bytes, int]:
    """Return the picture with tinted rectangles as PNG, and the number of rectangles inside the picture.

    Parameters
    ----------
    image : PIL.Image.Image
        Picture in RGB.
    rects : FloatArray, shape (n, 4)
        ``x0, y0, x1, y1`` of words as fractions of the picture, in reading order. The tint is the same where rectangles
        overlap. The space between two neighbouring words of a line is tinted as well.
    """
    from PIL import Image, ImageChops, ImageDraw

    mask = Image.new("L", image.size, 0)
    draw = ImageDraw.Draw(mask)
    count, before = 0, None
    for x0, y0, x1, y1 in rects.tolist():
        left, right = round(x0 * image.width) - _MARGIN, round(x1 * image.width) + _MARGIN
        top, bottom = round(y0 * image.height), round(y1 * image.height)
        inside = right >= 0 and bottom >= 0 and left <= image.width and top <= image.height
        if inside and left < right and top <= bottom:
            draw.rectangle((left, top, right, bottom), fill=255)
            if before is not None and (gap := _find_gap(before, (left, top, right, bottom))):
                draw.rectangle(gap, fill=255)
            before = left, top, right, bottom
            count += 1
    # Multiply the colours instead of drawing over the picture, so that black letters stay black.
    tinted = ImageChops.multiply(image, Image.new("RGB", image.size, _COLOUR))
    buffer = io.BytesIO()
    Image.composite(tinted, image, mask).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue(), count


def _find_gap(first: Box, second: Box) -> Box | None:
    """Return the box of the space between two words; ``None`` if they are not neighbours on one line."""
    top, bottom = max(first[1], second[1]), min(first[3], second[3])
    height = min(first[3] - first[1], second[3] - second[1])
    if bottom - top < height / 2 or not first[2] < second[0] < first[2] + height:
        return None
    return first[2], top, second[0], bottom
