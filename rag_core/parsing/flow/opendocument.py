"""Read the texts, sheets and slides of OpenDocument files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rag_core.parsing.characters import SUPERSCRIPTS
from rag_core.parsing.flow.archive import Archive, local_attributes, local_name, read_integer
from rag_core.parsing.flow.content import (
    LANDSCAPE,
    STRUCK_SIGN,
    Block,
    Content,
    PageStart,
    TableBlock,
    TextBlock,
    clean_text,
)
from rag_core.parsing.flow.html import SpannedText, place_cells
from rag_core.parsing.flow.pictures import PictureReader
from rag_core.parsing.flow.sheets import MAX_CELLS, SheetCell, add_cells, lay_out_sheet
from rag_core.parsing.flow.word_numbering import write_count
from rag_core.parsing.formats.base import UnpackedSizeError, UnreadableError

# Elements without visible text: tracked deletions, comments, forms, declarations, scripts and settings.
_LEFT_OUT = frozenset(
    ("tracked-changes", "annotation", "annotation-end", "forms", "sequence-decls", "scripts", "settings")
)
_SIGNS = {"tab": " ", "line-break": "\n", "soft-page-break": ""}
_FIGURES = ("float", "percentage", "currency", "date", "time")
_MAX_COLUMNS, _MAX_ROWS = 16_384, 1_048_576
# In a text, further repetitions of a table cell are left out. A file that repeats a row with text more is refused.
_MAX_REPEATED_CELLS = 500
_MAX_REPEATED_ROWS = 100_000
_POINTS = {"cm": 72 / 2.54, "mm": 7.2 / 2.54, "in": 72.0, "pt": 1.0, "px": 0.75}
# Word's names of number formats by the names in OpenDocument.
_NUMBER_FORMATS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


def read_opendocument(path: Path, max_unpacked: int | None) -> Content:
    """Return the content of a file; see `FlowFormat.read`."""
    archive = Archive(path, max_unpacked)
    manifest = "META-INF/manifest.xml"
    if manifest in archive and b"encryption-data" in archive.read_optional(manifest):
        raise UnreadableError("it is encrypted; save it without a password, or export it as a PDF with one")
    root = archive.parse("content.xml")
    body = root.find("{*}body")
    contents = {local_name(content): content for content in (body if body is not None else ())}
    reader = _Reader(archive, [root, archive.parse_optional("styles.xml", "document-styles")])
    if "spreadsheet" in contents:
        blocks = list(reader.read_sheets(contents["spreadsheet"]))
    elif "presentation" in contents:
        blocks = list(reader.read_slides(contents["presentation"]))
    elif "text" in contents:
        blocks = [*reader.read(contents["text"]), *reader.notes]
    else:
        raise UnreadableError("it has no text")
    return Content(blocks, problems=archive.problems)


class _Reader:
    def __init__(self, archive: Archive, roots: Sequence[Any]) -> None:
        self._pictures = PictureReader(cache(archive.read_optional))
        styles = [style for root in roots for style in root.iter("{*}style")]
        self.notes: list[Block] = []
        self._marker = ""
        # The attributes of each numbered level of a list, by the style of the list and the level.
        self._lists = {
            (local_attributes(style).get("name", ""), _read_count(attributes, "level")): attributes
            for root in roots
            for style in root.iter("{*}list-style")
            for attributes in map(local_attributes, style.iter("{*}list-level-style-number"))
        }
        # The number of the last item, by the style of the list and the level.
        self._counts: dict[tuple[str, int], int] = {}
        self._struck = {
            local_attributes(style).get("name", "")
            for style in styles
            for properties in style.iter("{*}text-properties")
            if local_attributes(properties).get("text-line-through-style", "none") != "none"
        }
        self._titles = {"Title"} | {
            local_attributes(style).get("name", "")
            for style in styles
            if local_attributes(style).get("parent-style-name") == "Title"
        }
        self._hidden = {
            local_attributes(style).get("name", "")
            for style in styles
            for properties in style.iter("{*}table-properties", "{*}text-properties")
            if local_attributes(properties).get("display") in ("false", "none")
        }

    def read(self, element: Any, depth: int = 0, style: str = "") -> Iterator[Block]:
        """Yield the content of an element in order.

        ``depth`` is the number of lists around the element, and ``style`` the style of the innermost one.
        """
        for child in element:
            name = local_name(child)
            if name in _LEFT_OUT:
                continue
            if name in ("h", "p"):
                yield from self._read_paragraph(child, depth)
            elif name == "list":
                attributes = local_attributes(child)
                inner = attributes.get("style-name", style)
                if attributes.get("continue-numbering") != "true" and "continue-list" not in attributes:
                    self._counts.pop((inner, depth + 1), None)
                yield from self.read(child, depth + 1, inner)
            elif name == "list-item":
                self._marker = self._number_item(style, depth)
                yield from self.read(child, depth, style)
            elif name == "table":
                yield from self._read_table(child)
            elif name == "image":
                yield from self._read_picture(child)
            else:
                yield from self.read(child, depth, style)

    def _number_item(self, style: str, depth: int) -> str:
        """Count the next item of a list, and return its number; return a bullet if the list is not numbered."""
        level = self._lists.get((style, depth), {})
        if not level.get("num-format"):
            return "•"
        self._counts[style, depth] = self._counts.get((style, depth), _read_count(level, "start-value") - 1) + 1
        first = depth - _read_count(level, "display-levels")
        numbers = [
            write_count(self._counts.get((style, outer), 1), _NUMBER_FORMATS.get(level["num-format"], "decimal"))
            for outer in range(max(first, 0) + 1, depth + 1)
        ]
        return f"{level.get('num-prefix', '')}{'.'.join(numbers)}{level.get('num-suffix', '')}"

    def _read_paragraph(self, element: Any, depth: int) -> Iterator[Block]:
        level = local_attributes(element).get("outline-level", "1") if local_name(element) == "h" else None
        if level is None and local_attributes(element).get("style-name") in self._titles:
            level = "0"
        if text := clean_text(self._read_text(element)):
            marker, self._marker = self._marker, ""
            if level is not None:
                text = f"{marker.strip('•')} {' '.join(text.split())}".strip()
                yield TextBlock(text, max(read_integer(level) - 1, 0))
            else:
                yield TextBlock(f"{marker} {text}".strip(), None, max(depth - 1, 0), is_compact=bool(marker))
        for box in element.iter("{*}text-box", "{*}image"):
            is_picture = local_name(box) == "image"
            if is_picture and not any(local_name(one) == "text-box" for one in box.iterancestors()):
                yield from self._read_picture(box)
            elif not is_picture:
                yield from self.read(box)

    def _read_picture(self, image: Any) -> Iterator[Block]:
        part = local_attributes(image).get("href", "").removeprefix("./")
        size = local_attributes(image.getparent())
        width, height = (parse_length(size.get(name, "")) for name in ("width", "height"))
        yield from self._pictures.read(part, width, height)

    def _read_text(self, element: Any) -> str:
        attributes = local_attributes(element)
        if attributes.get("style-name") in self._hidden:
            return ""
        parts = [element.text or ""]
        for child in element:
            name = local_name(child)
            if name == "s":
                parts.append(" ")
            elif name in _SIGNS:
                parts.append(_SIGNS[name])
            elif name == "note":
                parts.append(self._read_note(child))
            elif name and name not in _LEFT_OUT and name not in ("text-box", "image", "desc", "title"):
                parts.append(self._read_text(child))
            parts.append(child.tail or "")
        text = "".join(parts)
        is_struck = local_name(element) == "span" and attributes.get("style-name") in self._struck
        return f"{STRUCK_SIGN}{text}{STRUCK_SIGN}" if is_struck and text.strip() else text

    def _read_note(self, note: Any) -> str:
        """Add a footnote to ``notes``, and return its mark."""
        number = "".join(text for citation in note.iterchildren("{*}note-citation") for text in citation.itertext())
        texts = (clean_text(self._read_text(paragraph)) for paragraph in note.iter("{*}p"))
        mark = number.translate(SUPERSCRIPTS)
        self.notes.append(TextBlock(f"{mark} {' '.join(filter(None, texts))}", is_compact=True))
        return mark

    def _read_as_line(self, element: Any) -> str:
        """Return the text of all paragraphs of an element as one line."""
        texts = (clean_text(self._read_text(paragraph)) for paragraph in element.iter("{*}p", "{*}h"))
        return " ".join(filter(None, (" ".join(text.split()) for text in texts)))

    # Tables and sheets

    def _read_table(self, table: Any) -> Iterator[Block]:
        rows = [(row, is_header, count) for _, count, row, is_header in _iter_rows(table)]
        texts: list[list[SpannedText]] = []
        total = 0
        for row, _, repeated in rows:
            line: list[SpannedText] = []
            for cell, count in _iter_cells(row):
                if local_name(cell) == "table-cell":
                    attributes = local_attributes(cell)
                    across, down = (_read_count(attributes, f"number-{name}-spanned") for name in ("columns", "rows"))
                    line += [SpannedText(self._read_as_line(cell), across, down)] * min(count, _MAX_REPEATED_CELLS)
            total += len(line) * repeated
            if total > MAX_CELLS:
                raise UnpackedSizeError(f"has a table of more than {MAX_CELLS:,} cells, which are not read")
            texts += [line] * repeated
        if max(map(len, texts), default=0) < 2:
            for row, _, _ in rows:
                yield from self.read(row)
            return
        yield TableBlock(place_cells(texts), sum(is_header * count for _, is_header, count in rows) or None)

    def read_sheets(self, spreadsheet: Any) -> Iterator[Block]:
        """Yield the content of each visible sheet, and its pictures on further pages."""
        total = 0
        for table in spreadsheet.iterchildren("{*}table"):
            attributes = local_attributes(table)
            if attributes.get("style-name") in self._hidden:
                continue
            rows: list[tuple[int, list[SheetCell]]] = []
            for number, count, row, _ in _iter_rows(table):
                if cells := list(self._read_row(row)):
                    total = add_cells(total, len(cells) * count)
                    rows += [(number + place, cells) for place in range(count)]
            if rows:
                yield from lay_out_sheet(attributes.get("name", ""), rows)
            for image in table.iter("{*}image"):
                for picture in self._read_picture(image):
                    yield from (PageStart(attributes.get("name", "")), picture)

    def _read_row(self, row: Any) -> Iterator[SheetCell]:
        column = 0
        for cell, count in _iter_cells(row):
            attributes = local_attributes(cell)
            text = self._read_as_line(cell) if local_name(cell) == "table-cell" else ""
            if text:
                across, down = (_read_count(attributes, f"number-{name}-spanned") for name in ("columns", "rows"))
                is_figure = attributes.get("value-type") in _FIGURES or None
                for place in range(column, min(column + count, _MAX_COLUMNS)):
                    yield SheetCell(place, text, is_figure, across, down)
            column += count

    # Slides

    def read_slides(self, presentation: Any) -> Iterator[Block]:
        """Yield the content of each slide, with its notes at the end."""
        for number, page in enumerate(presentation.iterchildren("{*}page"), 1):
            yield PageStart(str(number), LANDSCAPE)
            for frame in page:
                if local_name(frame) in ("notes", *_LEFT_OUT):
                    continue
                is_title = local_attributes(frame).get("class") == "title"
                if is_title and (title := self._read_as_line(frame)):
                    yield TextBlock(title, level=0)
                elif not is_title:
                    yield from self.read([frame])
            for notes in page.iterchildren("{*}notes"):
                if text := self._read_as_line(notes):
                    yield TextBlock(f"Notes: {text}")


def _iter_rows(table: Any) -> Iterator[tuple[int, int, Any, bool]]:
    """Yield the number, the repetitions and the element of each visible row with text, and whether it is a header row.

    Numbers start at 1, and each repetition counts as a row. Raise `UnpackedSizeError` if a row is repeated too often.
    """
    number = 1
    for row in table.iter("{*}table-row"):
        if next(row.iterancestors("{*}table")) is not table:
            continue
        attributes = local_attributes(row)
        count = _read_count(attributes, "number-rows-repeated")
        is_filled = any((text or "").strip() for text in row.itertext())
        is_header = next(row.iterancestors("{*}table-header-rows"), None) is not None
        if attributes.get("visibility") in (None, "visible") and is_filled:
            if count > _MAX_REPEATED_ROWS:
                raise UnpackedSizeError(f"repeats a row with text more than {_MAX_REPEATED_ROWS:,} times")
            yield number, count, row, is_header
        number += count


def _iter_cells(row: Any) -> Iterator[tuple[Any, int]]:
    """Yield the cells of a row with their numbers of repetitions."""
    for cell in row:
        if local_name(cell) in ("table-cell", "covered-table-cell"):
            yield cell, _read_count(local_attributes(cell), "number-columns-repeated", _MAX_COLUMNS)


def _read_count(attributes: dict[str, str], name: str, most: int = _MAX_ROWS) -> int:
    """Return a number of rows, columns or levels from an attribute, from 1 to ``most``; 1 if it is missing."""
    return read_integer(attributes.get(name), 1, 1, most)


def parse_length(length: str) -> float:
    """Return a length with a unit in points; 0 if it is empty or not in one of the known units.

    >>> parse_length("2.54cm"), parse_length("1in")
    (72.0, 72.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(cm|mm|in|pt|px)", length)
    return round(float(match[1]) * _POINTS[match[2]], 3) if match else 0.0
