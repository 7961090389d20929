"""Highlights on a page's picture, with Pillow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rag_core.types import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

_COLOUR = (255, 222, 60)
_MARGIN = 1


def highlighted_png(image: Image, rects: FloatArray) -> tuple[bytes, int, float | None]:
    """PNG of a picture with rectangles tinted, how many of them lie in it, and the top of the first.

    Parameters
    ----------
    image : PIL.Image.Image
        RGB.
    rects : FloatArray, shape (n, 4)
        ``x0, y0, x1, y1`` as fractions of the picture. Where they overlap, the tint is no deeper.
    """
    from PIL import Image, ImageChops, ImageDraw

    mask = Image.new("L", image.size, 0)
    draw = ImageDraw.Draw(mask)
    count, first = 0, None
    for x0, y0, x1, y1 in rects.tolist():
        left, right = round(x0 * image.width) - _MARGIN, round(x1 * image.width) + _MARGIN
        top, bottom = round(y0 * image.height), round(y1 * image.height)
        inside = right >= 0 and bottom >= 0 and left <= image.width and top <= image.height
        if inside and left < right and top <= bottom:
            draw.rectangle((left, top, right, bottom), fill=255)
            count += 1
            first = min(max(y0, 0.0), 1.0) if first is None else first
    # Multiplied rather than laid over, so that black letters stay black.
    tinted = ImageChops.multiply(image, Image.new("RGB", image.size, _COLOUR))
    buffer = io.BytesIO()
    Image.composite(tinted, image, mask).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue(), count, first
