"""Draw the picture of a page."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from rag_core.parsing.flow.page_building import DrawnWord, PageBuilder
from rag_core.parsing.flow.pictures import load_picture
from rag_core.parsing.flow.typefaces import load_font_with_characters

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

_MAX_PIXELS = 40_000_000
_INK, _GREY, _BORDER = "#111111", "#777777", "#b8b8b8"


def draw_page(builder: PageBuilder, width: float, height: float, scale: float) -> Image:
    """Return the picture of a page.

    Parameters
    ----------
    builder : PageBuilder
    width, height : float
        Size of the page in points.
    scale : float
        Pixels per point; reduced for a page that would have too many pixels.
    """
    from PIL import Image, ImageDraw

    scale = min(scale, (_MAX_PIXELS / (width * height)) ** 0.5)
    image = Image.new("RGB", (max(round(width * scale), 1), max(round(height * scale), 1)), "white")
    draw = ImageDraw.Draw(image)
    # Read a picture once, even if the page shows it several times.
    load = cache(lambda data, size: load_picture(data).resize(size))
    for picture, left, top, right, bottom in builder.drawing.pictures:
        size = max(round((right - left) * scale), 1), max(round((bottom - top) * scale), 1)
        corner = round(left * scale), round(top * scale)
        try:
            image.paste(load(picture.data, size), corner)
        except (OSError, ValueError):  # the rest of the page can still be shown
            draw.rectangle((*corner, corner[0] + size[0], corner[1] + size[1]), outline=_BORDER)
    for box in builder.drawing.borders:
        draw.rectangle([place * scale for place in box], outline=_BORDER, width=max(round(scale / 2), 1))
    for word in builder.drawing.words:
        _draw_word(draw, word, scale)
    return image


def _draw_word(draw: ImageDraw, word: DrawnWord, scale: float) -> None:
    size = word.size * scale
    font = load_font_with_characters(word.text, round(size, 2), word.bold)
    length = font.getlength(word.text)
    if length > word.width * scale * 1.02 > 0:  # another font draws the word, so fit it to its box
        font = load_font_with_characters(word.text, round(size * word.width * scale / length, 2), word.bold)
    x, y = word.x * scale, word.y * scale
    draw.text((x, y), word.text, _GREY if word.is_grey else _INK, font, anchor="ls")
    if word.is_struck:
        middle = y - 0.3 * size
        draw.line((x, middle, x + word.width * scale, middle), _INK, max(round(scale / 2), 1))
