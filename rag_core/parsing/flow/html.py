"""Read HTML as headings, paragraphs, tables and pictures, without loading anything or running scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rag_core.parsing.flow.content import (
    STRUCK_SIGN,
    Block,
    Cell,
    TableBlock,
    TextBlock,
    clean_text,
    clean_words,
    read_cell,
)
from rag_core.parsing.flow.pictures import PictureReader, decode_data_url
from rag_core.parsing.formats.base import UnreadableError

_HEADINGS = {f"h{level}": level - 1 for level in range(1, 7)}
_SKIPPED = frozenset(
    "script style head noscript template svg math iframe object embed applet audio video canvas select datalist "
    "textarea button".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form "
    "header hr html legend li main nav ol p pre section summary ul table caption thead tbody tfoot tr td th".split()
)
_STRUCK = frozenset(("del", "s", "strike"))
_HIDDEN = ("display:none", "visibility:hidden", "mso-hide:all")
_MAX_SPAN, _MAX_DEPTH = 500, 200
# If a cell has more paragraphs, a table without header cells arranges parts of the page.
_MAX_PARAGRAPHS = 4


class SpannedText(NamedTuple):
    """The text of a cell, and the numbers of columns and rows that the cell covers."""

    text: str
    column_span: int = 1
    row_span: int = 1


def place_cells(rows: Iterable[Sequence[SpannedText]]) -> list[list[Cell]]:
    """Return the non-empty cells of each row at their columns.

    In the rows that a cell from a row above also covers, the cells are placed in the columns that it leaves free.
    """
    placed: list[list[Cell]] = []
    # The number of further rows in which each column is covered by a cell above.
    covered: dict[int, int] = {}
    for row in rows:
        cells: list[Cell] = []
        column = 0
        covered_below = {place: count - 1 for place, count in covered.items() if count > 1}
        for text, column_span, row_span in row:
            while column in covered:
                column += 1
            across, down = max(min(column_span, _MAX_SPAN), 1), max(min(row_span, _MAX_SPAN), 1)
            cell = read_cell(text, column, across, down)
            cells += [cell] if cell.text else []
            if down > 1:
                covered_below |= dict.fromkeys(range(column, column + across), down - 1)
            column += across
        placed.append(cells)
        covered = covered_below
    return placed


def read_html(data: bytes | str, load: Callable[[str], bytes] = decode_data_url) -> list[Block]:
    """Return the headings, paragraphs, tables and pictures of an HTML document.

    If the document has no ``h1``, its title is the first heading.

    Parameters
    ----------
    data : bytes or str
    load : callable
        Function that takes the address of a picture and returns its data, or empty bytes for a picture outside the
        file. By default, only pictures whose address contains the data are read.

    Raises
    ------
    UnreadableError
        The document is empty or cannot be parsed.
    """
    from lxml import etree, html

    encoding = "utf-8" if isinstance(data, str) or _is_utf8(data) else None
    parser = html.HTMLParser(encoding=encoding, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(data.encode("utf-8", "replace") if isinstance(data, str) else data, parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError(f"it has no readable HTML: {error}") from None
    reader = _Reader(load)
    title = root.findtext(".//head/title")
    if title and title.strip() and root.find(".//h1") is None:
        reader.blocks.append(TextBlock(clean_text(" ".join(title.split())), level=0))
    reader.walk(root, 0)
    reader.flush()
    return reader.blocks


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Reader:
    def __init__(self, load: Callable[[str], bytes]) -> None:
        self._pictures = PictureReader(load)
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._indent = 0
        self._marker = ""
        self._is_preformatted = False

    def walk(self, element: Any, depth: int) -> None:
        """Add the content of an element; hidden and too deeply nested elements are left out."""
        name = element.tag if isinstance(element.tag, str) else ""
        if name in _SKIPPED or not name or _is_hidden(element) or depth > _MAX_DEPTH:
            return
        if name == "table" and (table := _read_table(element)) is not None:
            self.flush()
            caption = element.find("caption")
            if caption is not None and (text := clean_text(_read_text(caption))):
                self.blocks.append(TextBlock(text))
            self.blocks.append(table)
            for image in element.iter("img"):
                self._add_picture(image)
            return
        is_block = name in _BLOCKS or name in _HEADINGS
        if is_block:
            self.flush()
        if name == "img":
            self._add_picture(element)
        if name == "br":
            self._parts.append("\n")
        if name == "li":
            self._marker = _find_marker(element)
        before, self._is_preformatted = self._is_preformatted, self._is_preformatted or name == "pre"
        self._indent += name in ("ul", "ol", "blockquote", "dd")
        sign = STRUCK_SIGN if name in _STRUCK else ""
        self._add(f"{sign}{element.text or ''}")
        for child in element:
            self.walk(child, depth + 1)
            self._add(child.tail)
        self._add(sign)
        if is_block:
            self.flush(_HEADINGS.get(name))
        self._indent -= name in ("ul", "ol", "blockquote", "dd")
        self._is_preformatted = before

    def _add_picture(self, image: Any) -> None:
        if pictures := self._pictures.read(image.get("src") or ""):
            self.flush()
            self.blocks += pictures

    def _add(self, text: str | None) -> None:
        if text:
            self._parts.append(text if self._is_preformatted else text.replace("\n", " ").replace("\r", " "))

    def flush(self, level: int | None = None) -> None:
        """Add the text that was collected so far as a block, if there is any.

        The block is a heading of ``level`` or, without a level, a paragraph.
        """
        joined = (clean_text if level is None else clean_words)("".join(self._parts))
        self._parts = []
        if joined:
            marker, self._marker = self._marker, ""
            indent = max(self._indent - 1, 0) if marker else self._indent
            self.blocks.append(TextBlock(f"{marker} {joined}".strip(), level, indent, is_compact=bool(marker)))


def _is_hidden(element: Any) -> bool:
    style = (element.get("style") or "").replace(" ", "").lower()
    return element.get("hidden") is not None or any(hidden in style for hidden in _HIDDEN)


def _find_marker(item: Any) -> str:
    """Return the bullet or the number of an item of a list."""
    parent = item.getparent()
    if parent is None or parent.tag != "ol":
        return "•"
    start = parent.get("start") or "1"
    number = sum(1 for _ in item.itersiblings("li", preceding=True))
    return f"{(int(start) if start.isdecimal() else 1) + number}."


def _read_text(element: Any) -> str:
    """Return the text of an element, with a blank for each line break element and around each block."""
    parts = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag not in _SKIPPED and not _is_hidden(child):
            around = " " if child.tag in _BLOCKS or child.tag == "br" else STRUCK_SIGN * (child.tag in _STRUCK)
            parts += [around, _read_text(child), around]
        parts.append(child.tail or "")
    return "".join(parts)


def _iter_rows(table: Any) -> Iterator[Any]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child if row.tag == "tr")


def _read_table(table: Any) -> TableBlock | None:
    """Return a table of data; ``None`` for a table that probably arranges parts of the page.

    Such a table

    - is marked as a presentation or contains another table,
    - has a single column, or a single row without header cells, or
    - has no header cells, but a cell with a heading of the first level or many paragraphs.
    """
    rows = list(_iter_rows(table))
    cells = [[cell for cell in row if cell.tag in ("td", "th")] for row in rows]
    all_cells = [cell for row in cells for cell in row]
    has_headers = any(cell.tag == "th" for cell in all_cells)
    is_layout = table.get("role") == "presentation" or table.find(".//table") is not None
    if is_layout or max(map(len, cells), default=0) < 2 or (len(rows) < 2 and not has_headers):
        return None
    if not has_headers and any(map(_is_page_part, all_cells)):
        return None
    header = 0
    for row, in_row in zip(rows, cells, strict=True):
        if row.getparent().tag != "thead" and not (in_row and all(cell.tag == "th" for cell in in_row)):
            break
        header += 1
    texts = [
        [SpannedText(_read_text(cell), _read_span(cell, "colspan"), _read_span(cell, "rowspan")) for cell in row]
        for row in cells
    ]
    return TableBlock(place_cells(texts), header if has_headers or header else None)


def _is_page_part(cell: Any) -> bool:
    """Return whether a cell contains a heading of the first level or many paragraphs."""
    return cell.find(".//h1") is not None or len(cell.findall(".//p")) > _MAX_PARAGRAPHS


def _read_span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return int(value[:4]) if value.isdecimal() else 1
