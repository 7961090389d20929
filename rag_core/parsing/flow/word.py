"""Read Word documents: headings, numbered paragraphs, tables, footnotes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from rag_core.parsing.characters import SUPERSCRIPTS
from rag_core.parsing.flow.archive import Archive, local_attributes, local_name, read_integer
from rag_core.parsing.flow.content import (
    STRUCK_SIGN,
    Block,
    Cell,
    Content,
    PageStart,
    PictureBlock,
    TableBlock,
    TextBlock,
    clean_text,
    read_cell,
)
from rag_core.parsing.flow.office import open_package, read_points, read_relations
from rag_core.parsing.flow.pictures import PictureReader
from rag_core.parsing.flow.word_numbering import Numbering, Styles, child_value, is_on

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MAIN = "word/document.xml"
# Deleted text, field instructions and property elements.
_LEFT_OUT = frozenset(f"{_W}{name}" for name in "del moveFrom instrText delText rPr pPr sdtPr tblPr trPr".split())
_WRAPPERS = frozenset(
    "body sdt sdtContent ins moveTo customXml smartTag txbxContent footnote endnote comment hdr ftr".split()
)
_SIGNS = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": "", "ptab": " "}
# Longer bold paragraphs are no headings.
_MAX_BOLD = 110
_LEVELS = tuple("012345678")
# If a cell has more paragraphs, the table arranges parts of the page.
_MAX_PARAGRAPHS = 6
# Maximum number of columns that are read as covered by a cell. Word allows 63 columns in a table.
_MAX_COLUMNS = 100


def read_word(path: Path, password: str | None, max_unpacked: int | None) -> Content:
    """Return the content of a document; see `FlowFormat.read`.

    Pages begin at the page breaks that Word stored when it laid out the document or, if it stored none, at the page
    breaks that the author inserted.
    """
    archive = Archive(open_package(path, _MAIN, password, max_unpacked), max_unpacked)
    reader = _Reader(archive)
    body = archive.parse(_MAIN)
    reader.has_pages = next(body.iter(f"{_W}lastRenderedPageBreak"), None) is not None
    blocks = list(reader.read(body))
    for kind, root in (("header", "hdr"), ("footer", "ftr")):
        names = sorted(name for name in archive.names if name.startswith(f"word/{kind}") and name.endswith(".xml"))
        texts = [block for name in names for block in reader.read(archive.parse_optional(name, root))]
        # Leave out page numbers.
        lines = dict.fromkeys(
            block.text for block in texts if isinstance(block, TextBlock) and any(map(str.isalpha, block.text))
        )
        place = 0 if kind == "header" else len(blocks)
        blocks[place:place] = map(TextBlock, lines)
    return Content([*blocks, *reader.read_notes()], problems=archive.problems)


class _Reader:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._styles = Styles.read(archive)
        self._numbering = Numbering(archive, self._styles)
        names = {self._styles.name(style) for style in self._styles.elements}
        self._has_title = "title" in names
        self.has_pages = False
        self._page = 1
        self._boxes: list[Any] = []
        self._relations = read_relations(archive, _MAIN)
        self._pictures = PictureReader(cache(archive.read_optional))

    def read(self, element: Any) -> Iterator[Block]:
        """Yield the content of an element in order."""
        for child in element:
            name = local_name(child)
            if name == "p":
                yield from self._read_paragraph(child)
            elif name == "tbl":
                yield from self._read_table(child)
            elif name in _WRAPPERS:
                yield from self.read(child)

    def read_notes(self) -> Iterator[Block]:
        """Yield footnotes, endnotes and comments."""
        for tag in ("footnote", "endnote"):
            for note in self._iter_notes(tag):
                if note.get(f"{_W}type") is None and (text := self._read_as_line(note)):
                    yield TextBlock(f"{note.get(f'{_W}id', '').translate(SUPERSCRIPTS)} {text}", is_compact=True)
        for comment in self._iter_notes("comment"):
            author = clean_text(comment.get(f"{_W}author", ""))
            if text := self._read_as_line(comment):
                yield TextBlock(f"Note by {author}: {text}" if author else f"Note: {text}")

    def _iter_notes(self, tag: str) -> Iterator[Any]:
        yield from self._archive.parse_optional(f"word/{tag}s.xml", f"{tag}s").iter(f"{_W}{tag}")

    def _read_as_line(self, element: Any) -> str:
        """Return the text of all paragraphs of an element as one line."""
        texts = (clean_text(self._read_text(paragraph)) for paragraph in element.iter(f"{_W}p"))
        return " ".join(filter(None, (" ".join(text.split()) for text in texts)))

    # Paragraphs

    def _read_paragraph(self, element: Any) -> Iterator[Block]:
        properties = element.find(f"{_W}pPr")
        style = child_value(properties, "pStyle") or ""
        level = self._find_level(properties, style)
        self._boxes = []
        text = clean_text(self._read_text(element))
        boxes, self._boxes = self._boxes, []
        page_break = self._find_break(element)
        if page_break == "before":
            yield self._start_page()
        if text:
            numbered = self._numbering.next_number(properties, style)
            number, depth = numbered or ("", 0)
            is_bold = len(text) <= _MAX_BOLD and self._is_bold(element, style)
            is_compact = level is None and (bool(numbered) or self._styles.name(style).startswith(("toc", "list")))
            text = " ".join(text.split()) if level is not None else text
            yield TextBlock(f"{number} {text}".strip(), level, depth if is_compact else 0, is_compact, is_bold)
        for box in boxes:
            yield from [box] if isinstance(box, PictureBlock) else self.read(box)
        if page_break == "after":
            yield self._start_page()

    def _start_page(self) -> PageStart:
        self._page += 1
        return PageStart(str(self._page) if self.has_pages else "")

    def _find_level(self, properties: Any, style: str) -> int | None:
        """Return the level of a heading; ``None`` for another paragraph.

        If the document has a style for its title, the title has the level 0 and other headings follow from 1.
        """
        name = self._styles.name(style)
        if name == "title":
            return 0
        level = child_value(properties, "outlineLvl") or self._styles.find_value(style, "pPr", "outlineLvl")
        if level not in _LEVELS:
            return None
        return int(level) + self._has_title

    def _find_break(self, element: Any) -> str:
        """Return "before" or "after" if a page begins before or after the text of a paragraph; empty for neither."""
        has_text = False
        if is_on(child_value(element, "pPr", "pageBreakBefore")) and not self.has_pages:
            return "before"
        for one in element.iter():
            name = local_name(one)
            has_text |= name == "t" and bool((one.text or "").strip())
            is_break = name == "br" and one.get(f"{_W}type") == "page" and not self.has_pages
            if is_break or name == "lastRenderedPageBreak":
                return "after" if has_text else "before"
        return ""

    def _is_bold(self, element: Any, style: str) -> bool:
        runs = [run for run in element.iter(f"{_W}r") if any((one.text or "").strip() for one in run.iter(f"{_W}t"))]
        values = [child_value(run, "rPr", "b") for run in runs]
        default = self._styles.is_bold(style)
        return bool(runs) and all(default if value is None else is_on(value) for value in values)

    def _read_text(self, element: Any) -> str:
        parts: list[str] = []
        for child in element:
            name = local_name(child)
            if child.tag in _LEFT_OUT or name == "Fallback":
                continue
            if name == "r":
                parts.append(self._read_run(child))
            elif name in ("oMath", "oMathPara"):
                parts.append("".join(one.text or "" for one in child.iter("{*}t")))
            elif name != "txbxContent":
                parts.append(self._read_text(child))
        return "".join(parts)

    def _read_run(self, run: Any) -> str:
        properties = run.find(f"{_W}rPr")
        if is_on(child_value(properties, "vanish")):
            return ""
        parts: list[str] = []
        for child in run:
            name = local_name(child)
            if name == "t":
                parts.append(child.text or "")
            elif name in _SIGNS:
                parts.append(_SIGNS[name] if child.get(f"{_W}type") != "page" else "")
            elif name in ("footnoteReference", "endnoteReference"):
                parts.append(child.get(f"{_W}id", "").translate(SUPERSCRIPTS))
            elif name == "sym" and (code := child.get(f"{_W}char", "")):
                parts.append(chr(int(code, 16)) if re.fullmatch("[0-9A-Fa-f]{1,4}", code) else "")
            elif name in ("drawing", "pict", "object", "AlternateContent"):
                self._add_boxes(child)
        text = "".join(parts)
        if child_value(properties, "vertAlign") == "superscript":
            text = text.translate(SUPERSCRIPTS) if text.strip().isdecimal() else text
        is_struck = is_on(child_value(properties, "strike")) or is_on(child_value(properties, "dstrike"))
        return f"{STRUCK_SIGN}{text}{STRUCK_SIGN}" if is_struck and text.strip() else text

    def _add_boxes(self, drawing: Any) -> None:
        """Collect the text boxes and the pictures of a drawing, which are written after the paragraph."""
        for box in drawing.iter(f"{_W}txbxContent", "{*}blip", "{*}imagedata"):
            if any(local_name(one) in ("Fallback", "txbxContent") for one in box.iterancestors()):
                continue
            if local_name(box) == "txbxContent":
                self._boxes.append(box)
                continue
            attributes = local_attributes(box)
            part = self._relations.get(attributes.get("embed", attributes.get("id", "")), "")
            size = next((local_attributes(one) for one in drawing.iter("{*}extent")), {})
            width, height = (read_points(size.get(name)) for name in ("cx", "cy"))
            self._boxes += self._pictures.read(part, width, height)

    # Tables

    def _read_table(self, table: Any) -> Iterator[Block]:
        rows = [row for row in table.iter(f"{_W}tr") if _find_table(row) is table]
        cells = [[cell for cell in row.iter(f"{_W}tc") if _find_table(cell) is table] for row in rows]
        paragraphs = [len(list(cell.iter(f"{_W}p"))) for row in cells for cell in row]
        is_nested = next((one for one in table.iter(f"{_W}tbl") if one is not table), None) is not None
        if max(map(len, cells), default=0) < 2 or is_nested or max(paragraphs, default=0) > _MAX_PARAGRAPHS:
            for row in cells:
                for cell in row:
                    yield from self.read(cell)
            return
        header_rows = 0
        while header_rows < len(rows) and is_on(child_value(rows[header_rows], "trPr", "tblHeader")):
            header_rows += 1
        header_rows = header_rows or int(len(rows) > 1 and self._has_header(table, cells))
        self._boxes = []
        yield TableBlock(self._place_cells(rows, cells), header_rows or None)
        yield from (box for box in self._boxes if isinstance(box, PictureBlock))
        breaks = sum(1 for _ in table.iter(f"{_W}lastRenderedPageBreak"))
        self._page += max(breaks - 1, 0)
        if breaks:
            yield self._start_page()

    def _has_header(self, table: Any, cells: Sequence[Sequence[Any]]) -> bool:
        """Return whether the first row is a header.

        It is one if the style of the table formats the first row, or if the first row is bold and another row is not.
        """
        look = table.find(f"{_W}tblPr/{_W}tblLook")
        style = child_value(table, "tblPr", "tblStyle") or ""
        conditions = {
            one.get(f"{_W}type") for form in self._styles.chain(style) for one in form.iter(f"{_W}tblStylePr")
        }
        if look is not None and look.get(f"{_W}firstRow") == "1" and "firstRow" in conditions:
            return True
        bold = [
            all(
                self._is_bold(one, child_value(one, "pPr", "pStyle") or "")
                for cell in row
                for one in cell.iter(f"{_W}p")
                if self._read_text(one).strip()
            )
            for row in cells
        ]
        return bold[0] and not all(bold)

    def _place_cells(self, rows: Sequence[Any], cells: Sequence[Sequence[Any]]) -> list[list[Cell]]:
        """Return the non-empty cells of each row at their columns, a vertically merged cell only in its first row."""
        placed: list[list[Cell]] = []
        # The row, and the index in the row, of the merged cell that may continue in each column.
        open_cells: dict[int, tuple[int, int]] = {}
        for number, (row, elements) in enumerate(zip(rows, cells, strict=True)):
            column = read_integer(child_value(row, "trPr", "gridBefore"), most=_MAX_COLUMNS)
            line: list[Cell] = []
            for element in elements:
                across = read_integer(child_value(element, "tcPr", "gridSpan"), 1, 1, _MAX_COLUMNS)
                merge = child_value(element, "tcPr", "vMerge")
                text = self._read_as_line(element)
                if merge is not None and merge != "restart" and column in open_cells:
                    first, place = open_cells[column]
                    placed[first][place] = replace(placed[first][place], row_span=number - first + 1)
                else:
                    open_cells.pop(column, None)
                    if text:
                        if merge == "restart":
                            open_cells[column] = number, len(line)
                        line.append(read_cell(text, column, across))
                column += across
            placed.append(line)
        return placed


def _find_table(element: Any) -> Any:
    return next(one for one in element.iterancestors(f"{_W}tbl"))
