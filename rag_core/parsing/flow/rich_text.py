"""Read RTF as headings, paragraphs and tables."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

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
from rag_core.parsing.formats.base import UnreadableError

_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)")
# Control words at the start of groups that contain no text of the document.
_DESTINATIONS = frozenset(
    "fonttbl colortbl stylesheet info pict object themedata colorschememapping latentstyles datastore generator "
    "listtable listoverridetable rsidtbl xmlnstbl header footer headerl headerr footerl footerr fldinst nonshppict "
    "filetbl revtbl bkmkstart bkmkend shppict atnid atnauthor annotation template".split()
)
_SIGNS = {"line": "\n", "tab": " ", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "bullet": "•"}
_SIGNS |= {"ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " "}
_MAX_DEPTH = 1000
# Longer bold paragraphs are no headings.
_MAX_BOLD = 110


@dataclass(frozen=True, slots=True)
class _State:
    """Properties of the text of a group.

    ``unicode_skip`` is the number of characters to skip after a Unicode character. Older programs show them instead.
    """

    is_skipped: bool = False
    is_bold: bool = False
    is_struck: bool = False
    is_hidden: bool = False
    unicode_skip: int = 1


def read_rich_text(data: bytes) -> list[Block]:
    """Return the content of an RTF file.

    Raises
    ------
    UnreadableError
        A group has no end, or groups are nested more than 1,000 levels deep.
    """
    return _Reader().read(data)


class _Reader:
    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._text: list[tuple[str, _State]] = []
        self._cells: list[str] = []
        # The right ends of the cells of the current row.
        self._edges: list[int] = []
        # The texts and the right ends of the cells of each row of the current table.
        self._rows: list[tuple[list[str], list[int]]] = []
        self._state = _State()
        self._stack: list[_State] = []
        self._level: int | None = None
        self._is_row = False
        self._encoding = "cp1252"
        self._bytes = b""
        # Number of the next characters to leave out.
        self._skip = 0

    def read(self, data: bytes) -> list[Block]:
        for match in _TOKEN.finditer(data):
            word, number, code, sign, brace, text = match.groups()
            if code:
                self._add_byte(bytes([int(code, 16)]))
                continue
            self._flush_bytes()
            if brace == b"{":
                self._stack.append(self._state)
                if len(self._stack) > _MAX_DEPTH:
                    raise UnreadableError("its groups are nested too deeply")
            elif brace == b"}":
                if not self._stack:
                    break
                self._state = self._stack.pop()
            elif word:
                self._read_control(word.decode(), int(number) if number else None)
            elif sign:
                self._read_sign(sign.decode("latin-1"))
            elif text:
                self._add_text(text.decode(self._encoding, "replace"))
        if self._stack:
            raise UnreadableError("it is cut off")
        self._end_paragraph()
        self._end_table()
        return self._blocks

    def _add_byte(self, byte: bytes) -> None:
        if self._skip:
            self._skip -= 1
        else:
            self._bytes += byte

    def _flush_bytes(self) -> None:
        if self._bytes:
            text, self._bytes = self._bytes.decode(self._encoding, "replace"), b""
            self._add(text)

    def _add_text(self, text: str) -> None:
        text, self._skip = text[self._skip :], max(self._skip - len(text), 0)
        self._add(text)

    def _add(self, text: str) -> None:
        if text and not self._state.is_skipped and not self._state.is_hidden:
            self._text.append((text, self._state))

    def _read_sign(self, sign: str) -> None:
        if sign == "*":
            self._state = replace(self._state, is_skipped=True)
        else:
            self._add({"~": " ", "_": "-", "-": "", "\n": "\n", "\r": "\n"}.get(sign, sign))

    def _read_control(self, word: str, number: int | None) -> None:
        """Process a control word for properties or characters."""
        is_on = number != 0
        if word in _DESTINATIONS:
            self._state = replace(self._state, is_skipped=True)
        elif word == "ansicpg" and number:
            self._encoding = _find_encoding(number)
        elif word == "uc":
            self._state = replace(self._state, unicode_skip=number or 0)
        elif word == "u" and number is not None:
            self._add(_decode_unicode(number))
            self._skip = self._state.unicode_skip
        elif word in _SIGNS:
            self._add(_SIGNS[word])
        elif word == "b":
            self._state = replace(self._state, is_bold=is_on)
        elif word in ("strike", "striked", "deleted"):
            self._state = replace(self._state, is_struck=is_on)
        elif word == "v":
            self._state = replace(self._state, is_hidden=is_on)
        elif word == "plain":
            self._state = replace(self._state, is_bold=False, is_struck=False, is_hidden=False)
        elif not self._state.is_skipped:
            self._read_structure(word, number)

    def _read_structure(self, word: str, number: int | None) -> None:
        """Process a control word for paragraphs or tables."""
        if word in ("par", "sect", "page"):
            self._end_paragraph()
        elif word == "pard":
            self._level, self._is_row = None, False
        elif word == "intbl":
            self._is_row = True
        elif word == "outlinelevel" and number is not None:
            self._level = number
        elif word in ("cell", "nestcell"):
            self._cells.append(clean_words(self._take_text()[0]))
        elif word in ("row", "nestrow"):
            self._rows.append((self._cells, self._edges))
            self._cells = []
        elif word == "trowd":
            self._edges = []
        elif word == "cellx":
            self._edges = [*self._edges, number or 0]

    def _take_text(self) -> tuple[str, bool]:
        """Return and clear the text that was collected so far; also return whether all of the text is bold."""
        pieces, self._text = self._text, []
        is_bold = all(state.is_bold for text, state in pieces if text.strip())
        marked = (
            f"{STRUCK_SIGN}{text}{STRUCK_SIGN}" if state.is_struck and text.strip() else text for text, state in pieces
        )
        return "".join(marked).replace(STRUCK_SIGN * 2, ""), is_bold

    def _end_paragraph(self) -> None:
        if self._is_row:  # a paragraph within a cell
            self._text.append((" ", self._state))
            return
        self._end_table()
        raw, is_bold = self._take_text()
        if text := clean_text(raw):
            level = self._level if self._level is not None and self._level < 9 else None
            text = " ".join(text.split()) if level is not None else text
            self._blocks.append(TextBlock(text, level, is_bold=is_bold and len(text) <= _MAX_BOLD))

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        if max((len(cells) for cells, _ in rows), default=0) > 1:
            columns = sorted({edge for _, edges in rows for edge in edges})
            self._blocks.append(TableBlock([_place_cells(cells, edges, columns) for cells, edges in rows]))
        else:
            self._blocks += [TextBlock(text) for cells, _ in rows for text in cells if text]


def _place_cells(texts: list[str], edges: list[int], columns: list[int]) -> list[Cell]:
    """Return the non-empty cells of a row.

    Parameters
    ----------
    texts : list of str
    edges : list of int
        Right ends of the cells.
    columns : list of int
        Right ends of the columns of the table.
    """
    ends = [columns.index(edge) + 1 for edge in edges[: len(texts)]] + [*range(len(edges) + 1, len(texts) + 1)]
    starts = [0, *ends]
    cells = [read_cell(text, start, max(end - start, 1)) for text, start, end in zip(texts, starts, ends, strict=False)]
    return [cell for cell in cells if cell.text]


def _find_encoding(page: int) -> str:
    name = f"cp{page}"
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


def _decode_unicode(number: int) -> str:
    code = number + 65_536 if number < 0 else number
    return chr(code) if 0 <= code < 0xD800 or 0xE000 <= code < 0x110000 else ""
