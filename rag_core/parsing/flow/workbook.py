"""Read the sheets of a workbook in XLSX, with the texts that the cells show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from rag_core.parsing.flow.archive import Archive, local_attributes, local_name, read_integer
from rag_core.parsing.flow.content import LANDSCAPE, Block, Content, PageStart
from rag_core.parsing.flow.number_formats import BUILT_IN, format_number
from rag_core.parsing.flow.office import open_package, read_points, read_relations
from rag_core.parsing.flow.pictures import PictureReader
from rag_core.parsing.flow.sheets import SheetCell, add_cells, lay_out_sheet
from rag_core.parsing.formats.base import WRONG_CONTENT, UnreadableError
from rag_core.types.cells import CellRange, parse_column

_MAIN, _STRINGS, _STYLES = "xl/workbook.xml", "xl/sharedStrings.xml", "xl/styles.xml"
_BOOLEANS = {"0": "FALSE", "1": "TRUE"}
_MAX_FORMULA, _MAX_FORMAT = 200, 255
_MAX_COLUMNS, _MAX_ROWS = 16_384, 1_048_576
# The elements that state the column and the row of a corner of a picture, and the limits of their values.
_CORNER = ("col", _MAX_COLUMNS), ("row", _MAX_ROWS)


class _Styles(NamedTuple):
    """The code of the number format of each style, and whether days are counted from the year 1904."""

    codes: list[str]
    is_1904: bool

    def write(self, value: str, style: int) -> str:
        """Return a number as a cell with a style shows it; return ``value`` itself if it is not a number."""
        code = self.codes[style] if style < len(self.codes) else "General"
        try:
            return format_number(float(value), code, self.is_1904)
        except (ValueError, OverflowError):
            return value


def read_workbook(path: Path, password: str | None, max_unpacked: int | None) -> Content:
    """Return the content of the visible sheets of a workbook; see `FlowFormat.read`.

    A sheet that cannot be read becomes a page with a problem.
    """
    archive = Archive(open_package(path, _MAIN, password, max_unpacked), max_unpacked)
    root, relations = archive.parse(_MAIN), read_relations(archive, _MAIN)
    if not relations and archive.problems:
        raise UnreadableError(archive.problems[0])
    date_system = next((one.get("date1904") for one in root if local_name(one) == "workbookPr"), None)
    parts = relations.values()
    strings = _read_strings(archive, next((one for one in parts if one.endswith("haredStrings.xml")), _STRINGS))
    codes = _read_codes(archive, next((one for one in parts if one.endswith("styles.xml")), _STYLES))
    styles = _Styles(codes, date_system in ("1", "true"))
    pictures = PictureReader(cache(archive.read_optional))
    blocks: list[Block] = []
    total = 0
    for sheet in root.iter("{*}sheet"):
        attributes = local_attributes(sheet)
        part = relations.get(attributes.get("id", ""), "")
        name = attributes.get("name", "")
        if attributes.get("state", "visible") != "visible" or (part and "/worksheets/" not in f"/{part}"):
            continue  # hidden sheets and charts
        try:
            if not part:
                raise UnreadableError("its part is missing")
            rows = list(_iter_rows(archive, part, strings, styles))
        except UnreadableError as error:
            blocks.append(PageStart(name, LANDSCAPE, problem=str(error)))
            continue
        total = add_cells(total, sum(len(cells) for _, cells in rows))
        if rows:
            blocks += lay_out_sheet(name, rows)
        blocks += _read_pictures(archive, part, name, pictures)
    return Content(blocks, problems=archive.problems)


def _read_pictures(archive: Archive, part: str, name: str, pictures: PictureReader) -> Iterator[Block]:
    """Yield the pictures of a sheet, each on a page of its own with the covered cells as its label."""
    drawings = [one for one in read_relations(archive, part).values() if "/drawings/" in one]
    for drawing in (one for one in drawings if one.endswith(".xml")):
        relations = read_relations(archive, drawing)
        for anchor in archive.parse_optional(drawing, "wsDr"):
            corners = [
                tuple(read_integer(corner.findtext(f"{{*}}{name}"), most=most - 1) for name, most in _CORNER)
                for corner in anchor.iter("{*}from", "{*}to")
            ]
            size = next((one for one in anchor.iter("{*}ext") if one.get("cx")), None)
            width, height = (read_points(size.get(one)) if size is not None else 0.0 for one in ("cx", "cy"))
            for blip in anchor.iter("{*}blip"):
                picture = relations.get(local_attributes(blip).get("embed", ""), "")
                for block in pictures.read(picture, width, height):
                    left, top = corners[0] if corners else (0, 0)
                    right, bottom = corners[-1] if corners else (0, 0)
                    yield PageStart(str(CellRange(name, left, top + 1, right, bottom + 1)))
                    yield block


def _read_strings(archive: Archive, part: str) -> list[str]:
    if part not in archive and part == _STRINGS:  # a workbook without texts
        return []
    return [_read_text(one) for one in archive.parse(part) if local_name(one) == "si"]


def _read_text(element: Any) -> str:
    """Return the text of a string without its phonetic hints."""
    texts = []
    for one in element.iter("{*}t"):
        if local_name(one.getparent()) != "rPh":
            texts.append(one.text or "")
    return "".join(texts)


def _read_codes(archive: Archive, part: str) -> list[str]:
    """Return the code of the number format of each style."""
    root = archive.parse_optional(part, "styleSheet")
    own = {
        read_integer(one.get("numFmtId")): one.get("formatCode", "General")[:_MAX_FORMAT]
        for one in root.iter("{*}numFmt")
    }
    formats = root.find("{*}cellXfs")
    known = {**BUILT_IN, **own}
    return [known.get(read_integer(one.get("numFmtId")), "General") for one in (formats if formats is not None else ())]


def _iter_rows(
    archive: Archive, part: str, strings: list[str], styles: _Styles
) -> Iterator[tuple[int, list[SheetCell]]]:
    """Yield the number and the visible, non-empty cells of each visible row that has such cells."""
    from lxml import etree

    data = archive.read(part)
    merged = _read_merged(data)
    hidden: set[int] = set()
    number = 0
    events = etree.iterparse(
        BytesIO(data), tag=("{*}row", "{*}col"), resolve_entities=False, no_network=True, load_dtd=False
    )
    try:
        for _, element in events:
            if local_name(element) == "col":
                if element.get("hidden") in ("1", "true"):
                    first, last = (read_integer(element.get(one), 1, 1, _MAX_COLUMNS) for one in ("min", "max"))
                    hidden.update(range(first - 1, last))
                continue
            number = read_integer(element.get("r"), number + 1, 1, _MAX_ROWS)
            if element.get("hidden") not in ("1", "true"):
                cells = list(_iter_cells(archive, element, number, strings, styles, merged))
                cells = [cell for cell in cells if cell.text and cell.column not in hidden]
                if cells:
                    yield number, cells
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except (etree.XMLSyntaxError, *WRONG_CONTENT) as error:
        raise UnreadableError(f"its part {part} is damaged: {error}") from None


def _iter_cells(
    archive: Archive,
    row: Any,
    number: int,
    strings: list[str],
    styles: _Styles,
    merged: dict[tuple[int, int], tuple[int, int]],
) -> Iterator[SheetCell]:
    """Yield the non-empty cells of a row; see `_read_merged` for ``merged``."""
    column = -1
    for cell in row:
        stated = parse_column(cell.get("r", ""))
        column = stated if 0 <= stated < _MAX_COLUMNS else column + 1
        kind = cell.get("t", "n")
        value = formula = ""
        for child in cell:
            name = local_name(child)
            if name == "v":
                value = child.text or ""
            elif name == "is":
                value = _read_text(child)
            elif name == "f":
                formula = child.text or ""
        is_figure = None
        if kind == "s" and value.isdecimal() and int(value) < len(strings):
            value = strings[int(value)]
        elif kind == "s" and value:
            archive.add_problem(f"a text of a cell is missing in {_STRINGS}")
            value = ""
        elif kind == "b":
            value = _BOOLEANS.get(value, value)
        elif kind == "n" and value:
            value, is_figure = styles.write(value, read_integer(cell.get("s"))), True
        if not value and formula:
            value = f"={formula[:_MAX_FORMULA]}"  # the program that wrote the file did not compute the value
        across, down = merged.get((number, column), (1, 1))
        if value:
            yield SheetCell(column, value, is_figure, across, down)


def _read_merged(data: bytes) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the numbers of columns and rows of each merged cell, by row number and column index of its first cell."""
    merged: dict[tuple[int, int], tuple[int, int]] = {}
    if b"mergeCell" not in data:
        return merged
    for match in re.finditer(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"', data):
        first, top, last, bottom = (one.decode() for one in match.groups())
        across = parse_column(last) - parse_column(first) + 1
        merged[int(top), parse_column(first)] = max(across, 1), max(int(bottom) - int(top) + 1, 1)
    return merged
