"""The styles of a Word document, and the numbers that Word writes before paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rag_core.parsing.flow.archive import Archive, read_integer

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
# Maximum number of styles that are based on each other.
_MAX_DEPTH = 20
# Larger numbers are not written as letters, because the letter would be repeated more than 30 times.
_MAX_LETTERED = 780


def child_value(element: Any, *path: str) -> str | None:
    """Return the value of the element at a path below another element.

    Return ``None`` if there is no such element, and an empty text if the element has no value.
    """
    found = element.find("/".join(f"{_W}{name}" for name in path)) if element is not None else None
    return None if found is None else found.get(f"{_W}val", "")


@dataclass(frozen=True, slots=True)
class _Level:
    """A level of a list: number format, text such as "%1.%2", first number, and paragraph style."""

    kind: str
    text: str
    start: int
    style: str


@dataclass(slots=True)
class Styles:
    """The styles of a document by their ids."""

    elements: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, archive: Archive) -> Styles:
        root = archive.parse_optional("word/styles.xml", "styles")
        return cls({one.get(f"{_W}styleId", ""): one for one in root if one.tag == f"{_W}style"})

    def name(self, style: str) -> str:
        """Return the name of a style in lower case; empty if there is no such style."""
        return (child_value(self.elements.get(style), "name") or "").lower()

    def chain(self, style: str) -> Iterator[Any]:
        """Yield a style and the styles that it is based on."""
        for _ in range(_MAX_DEPTH):
            element = self.elements.get(style)
            if element is None:
                return
            yield element
            style = child_value(element, "basedOn") or ""

    def find_value(self, style: str, *path: str) -> str | None:
        """Return the value of a property in the first style of `chain` that states it; ``None`` if none does."""
        values = (child_value(element, *path) for element in self.chain(style))
        return next((value for value in values if value is not None), None)

    def is_bold(self, style: str) -> bool:
        return is_on(self.find_value(style, "rPr", "b"))


def is_on(value: str | None) -> bool:
    """Return whether a property is on, given the result of `child_value`.

    A property is on if its element has no value, but not if its element is missing.
    """
    return value is not None and value not in ("0", "false", "off", "none")


class Numbering:
    """Count the numbered paragraphs of a document; call `next_number` for each of them in order."""

    def __init__(self, archive: Archive, styles: Styles) -> None:
        self._styles = styles
        self._lists: dict[str, dict[int, _Level]] = {}
        self._abstract: dict[str, str] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._counters: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()
        root = archive.parse_optional("word/numbering.xml", "numbering")
        abstract = {one.get(f"{_W}abstractNumId"): one for one in root.iter(f"{_W}abstractNum")}
        for one in root.iter(f"{_W}num"):
            number, name = one.get(f"{_W}numId", ""), child_value(one, "abstractNumId") or ""
            self._abstract[number] = name
            if name in abstract:
                self._lists.setdefault(
                    name, {_read_depth(level): _read_level(level) for level in abstract[name].iter(f"{_W}lvl")}
                )
            for override in one.iter(f"{_W}lvlOverride"):
                if start := child_value(override, "startOverride"):
                    self._starts[number, _read_depth(override)] = read_integer(start)

    def next_number(self, properties: Any, style: str) -> tuple[str, int] | None:
        """Count the next paragraph, and return its number or bullet, and its level; ``None`` if it has neither."""
        number = child_value(properties, "numPr", "numId")
        place = child_value(properties, "numPr", "ilvl")
        if number is None:
            number = self._styles.find_value(style, "pPr", "numPr", "numId")
            place = place or self._styles.find_value(style, "pPr", "numPr", "ilvl")
        name = self._abstract.get(number or "", "")
        levels = self._lists.get(name)
        if not levels or number is None:
            return None
        depth = read_integer(place) if place else _find_depth(levels, style)
        level = levels.get(depth)
        if level is None or level.kind == "none":
            return None
        if level.kind == "bullet":
            return "•", depth
        counters = self._counters.setdefault(name, {})
        if number not in self._begun:
            self._begun.add(number)
            for (owner, at), start in self._starts.items():
                if owner == number:
                    counters[at] = start - 1
        counters[depth] = counters.get(depth, level.start - 1) + 1
        for deeper in [other for other in counters if other > depth]:
            del counters[deeper]
        return _write_number(level, levels, counters), depth


def _find_depth(levels: dict[int, _Level], style: str) -> int:
    """Return the depth of the level of a paragraph style, by default 0."""
    return next((depth for depth, level in levels.items() if level.style == style), 0)


def _write_number(level: _Level, levels: dict[int, _Level], counters: dict[int, int]) -> str:
    """Return the number of a paragraph as text, such as "2.1".

    ``levels`` and ``counters`` are those of all levels of the list.
    """

    def write(match: re.Match[str]) -> str:
        depth = int(match[1]) - 1
        other = levels.get(depth, level)
        return write_count(counters.get(depth, other.start), other.kind)

    return re.sub(r"%(\d)", write, level.text).strip()


def _read_depth(element: Any) -> int:
    return read_integer(element.get(f"{_W}ilvl"))


def _read_level(element: Any) -> _Level:
    return _Level(
        child_value(element, "numFmt") or "decimal",
        child_value(element, "lvlText") or "",
        read_integer(child_value(element, "start"), 1),
        child_value(element, "pStyle") or "",
    )


def write_count(count: int, kind: str) -> str:
    """Return a number as text in a format of Word, such as "lowerRoman"; in digits for an unknown format."""
    if kind in ("upperLetter", "lowerLetter") and 0 < count <= _MAX_LETTERED:
        letters = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
        return letters.upper() if kind == "upperLetter" else letters
    if kind in ("upperRoman", "lowerRoman") and 0 < count < 4000:
        roman = ""
        for value, sign in _ROMAN:
            roman += sign * (count // value)
            count %= value
        return roman.upper() if kind == "upperRoman" else roman
    return f"{count:02d}" if kind == "decimalZero" else str(count)
