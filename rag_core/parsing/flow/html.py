"""Read HTML as headings, paragraphs and tables. Nothing is loaded, and scripts do not run."""

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
from rag_core.parsing.flow.pictures import Pictures, decode_address
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
_MOST_SPAN, _DEEPEST = 500, 200


class SpannedText(NamedTuple):
    """The text of a cell, and the numbers of columns and rows that it covers."""

    text: str
    column_span: int = 1
    row_span: int = 1


def place_cells(rows: Iterable[Sequence[SpannedText]]) -> list[list[Cell]]:
    """Return the cells of each row at their columns; cells over several rows move those of the rows below."""
    placed: list[list[Cell]] = []
    taken: dict[int, int] = {}
    for row in rows:
        cells: list[Cell] = []
        column = 0
        following = {place: count - 1 for place, count in taken.items() if count > 1}
        for one in row:
            while taken.get(column, 0) > 0:
                column += 1
            across, down = max(min(one.column_span, _MOST_SPAN), 1), max(min(one.row_span, _MOST_SPAN), 1)
            cell = read_cell(one.text, column, across, down)
            cells += [cell] if cell.text else []
            following |= dict.fromkeys(range(column, column + across), down - 1) if down > 1 else {}
            column += across
        placed.append(cells)
        taken = {place: count for place, count in following.items() if count > 0}
    return placed


def read_html(data: bytes | str, load: Callable[[str], bytes] = decode_address) -> list[Block]:
    """Return the headings, paragraphs, tables and pictures of an HTML document.

    Parameters
    ----------
    data : bytes or str
    load : callable
        Takes the address of a picture, and returns its data; empty for a picture that the file does not contain. By
        default, only addresses that contain the data are read.

    Raises
    ------
    UnreadableError
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
        self._pictures = Pictures(load)
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._indent = 0
        self._item = ""
        self._is_preformatted = False

    def walk(self, element: Any, depth: int) -> None:
        name = element.tag if isinstance(element.tag, str) else ""
        if name in _SKIPPED or not name or _is_hidden(element) or depth > _DEEPEST:
            return
        if name == "table" and (table := _read_table(element)) is not None:
            self.flush()
            caption = element.find("caption")
            if caption is not None and (text := clean_text(_all_text(caption))):
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
            self._item = _find_marker(element)
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
        """End the current text."""
        joined = (clean_text if level is None else clean_words)("".join(self._parts))
        self._parts = []
        if joined:
            item, self._item = self._item, ""
            indent = max(self._indent - 1, 0) if item else self._indent
            self.blocks.append(TextBlock(f"{item} {joined}".strip(), level, indent, is_compact=bool(item)))


def _is_hidden(element: Any) -> bool:
    style = (element.get("style") or "").replace(" ", "").lower()
    return element.get("hidden") is not None or any(one in style for one in _HIDDEN)


def _find_marker(item: Any) -> str:
    parent = item.getparent()
    if parent is None or parent.tag != "ol":
        return "•"
    start = parent.get("start") or "1"
    number = sum(1 for one in item.itersiblings("li", preceding=True))
    return f"{(int(start) if start.isdecimal() else 1) + number}."


def _all_text(element: Any) -> str:
    """Return the text of an element in which blocks and line ends are separated by blanks."""
    parts = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag not in _SKIPPED and not _is_hidden(child):
            around = " " if child.tag in _BLOCKS or child.tag == "br" else STRUCK_SIGN * (child.tag in _STRUCK)
            parts += [around, _all_text(child), around]
        parts.append(child.tail or "")
    return "".join(parts)


def _iter_rows(table: Any) -> Iterator[Any]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child if row.tag == "tr")


def _read_table(table: Any) -> TableBlock | None:
    """Return a table of data; ``None`` for one that only arranges parts of the page."""
    rows = list(_iter_rows(table))
    cells = [[cell for cell in row if cell.tag in ("td", "th")] for row in rows]
    all_cells = [cell for row in cells for cell in row]
    has_headers = any(cell.tag == "th" for cell in all_cells)
    is_layout = table.get("role") == "presentation" or table.find(".//table") is not None
    if is_layout or max(map(len, cells), default=0) < 2 or (len(rows) < 2 and not has_headers):
        return None
    if not has_headers and any(cell.find(".//h1") is not None or len(cell.findall(".//p")) > 4 for cell in all_cells):
        return None
    header = 0
    for row, in_row in zip(rows, cells, strict=True):
        if row.getparent().tag != "thead" and not (in_row and all(cell.tag == "th" for cell in in_row)):
            break
        header += 1
    texts = [
        [SpannedText(_all_text(cell), _read_span(cell, "colspan"), _read_span(cell, "rowspan")) for cell in row]
        for row in cells
    ]
    return TableBlock(place_cells(texts), header if has_headers or header else None)


def _read_span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return int(value[:4]) if value.isdecimal() else 1
