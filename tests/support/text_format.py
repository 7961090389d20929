"""An example of a file format: plain text in UTF-8, drawn with characters of equal width.

``python -m tests.support.text_format`` is a worker that knows this format too.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from rag_core.parsing.formats import FORMATS
from rag_core.parsing.formats.base import FileFormat, OpenFile, UnreadableError
from rag_core.parsing.workers import child
from rag_core.types.documents import Page, PageState, ParsedPage, WordBoxes
from rag_core.types.formats import FormatDescription

if TYPE_CHECKING:
    from PIL.Image import Image

COLUMNS, ROWS = 80, 60
# Size in points of a character and of a page.
ACROSS, DOWN = 6, 12
WIDTH, HEIGHT = COLUMNS * ACROSS, ROWS * DOWN


class TextFile(OpenFile):
    def __init__(self, path: Path) -> None:
        try:
            lines = path.read_text("utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise UnreadableError(f"byte {error.start:,} is not UTF-8") from None
        parts = [line[at : at + COLUMNS] for line in lines for at in range(0, len(line) or 1, COLUMNS)]
        self._pages = [parts[at : at + ROWS] for at in range(0, len(parts), ROWS)]
        self.page_count = len(self._pages)

    def read_page(self, page_index: int, ocr: str) -> ParsedPage:
        text = "\n".join(self._pages[page_index])
        spans = np.array([word.span() for word in re.finditer(r"\S+", text)], np.int32).reshape(-1, 2)
        row = np.array([text.count("\n", 0, start) for start, _ in spans])
        column = np.array([start - text.rfind("\n", 0, start) - 1 for start, _ in spans])
        end = column + spans[:, 1] - spans[:, 0]
        rects = np.stack([column / COLUMNS, row / ROWS, end / COLUMNS, (row + 1) / ROWS], axis=1)
        boxes = WordBoxes(spans[:, 0], spans[:, 1], rects.astype(np.float32))
        return ParsedPage(Page(page_index, "", text, PageState.TEXT, WIDTH, HEIGHT, boxes=boxes))

    def draw_page(self, page_index: int, scale: float) -> Image:
        from PIL import Image, ImageDraw, ImageFont

        image = Image.new("RGB", (round(WIDTH * scale), round(HEIGHT * scale)), "white")
        draw, font = ImageDraw.Draw(image), ImageFont.load_default(10 * scale)
        for row, line in enumerate(self._pages[page_index]):
            for column, character in enumerate(line):
                draw.text((column * ACROSS * scale, row * DOWN * scale), character, "black", font)
        return image


class TextFormat(FileFormat):
    description = FormatDescription("sample", "sample", (".sample",), "text/x-sample")
    parser_version = "sample 1"
    needs_suffix = True

    def recognizes(self, file: BinaryIO) -> bool:
        return b"\0" not in file.read(1024)

    def open(self, path: Path, password: str | None, max_unpacked: int | None) -> OpenFile:
        return TextFile(path)


WITH_TEXT = (*FORMATS, TextFormat())

if __name__ == "__main__":
    child.FORMATS = WITH_TEXT  # type: ignore[misc]
    child.main()
