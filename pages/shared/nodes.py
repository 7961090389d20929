"""Trees of nodes, which the browser renders with ``textContent`` only.

Text of a document or of a model cannot become markup. There are no nodes for HTML, links or images, so the
browser shows such markup as plain characters.

A node is a dictionary ``{"t": kind, ...}``. The kinds of blocks are ``p h ul ol li quote pre hr caption table row th
td scores fold toggle``. The kinds of inline nodes are ``text b i s code mark br cite doubt verdict``. A node has its
children under ``c``, its text under ``s``, and its number under ``n``. ``s`` of a table is its accessible name, and
``s`` of a citation is what its button shows instead of ``[n]``. A cell may have the number of its columns under
``span``, its level of indentation under ``indent``, and the flags ``right`` and ``marked``. A ``fold`` shows the first
of its two children until the reader asks for the second, and a ``toggle`` is a button that tells the page its number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from rag_core.types.answers import MARKER
from rag_core.types.documents import STRUCK

Node = dict[str, Any]


def build_marked_text(text: str, spans: Iterable[tuple[int, int]]) -> list[Node]:
    """Return a list with one paragraph: the text with the given ``(start, end)`` spans marked, which may overlap."""
    nodes: list[Node] = []
    position = 0
    for start, end in sorted(spans):
        start, end = max(start, position), min(end, len(text))
        if start >= end:
            continue
        if start > position:
            nodes += _build_struck_nodes(text[position:start])
        nodes.append({"t": "mark", "s": text[start:end]})
        position = end
    if position < len(text):
        nodes += _build_struck_nodes(text[position:])
    return [{"t": "p", "c": nodes}]


def build_cited_text(text: str, markers: Collection[int]) -> list[Node]:
    """Return the nodes of a text, in which each ``[n]`` is a citation if ``n`` is in ``markers``."""
    nodes: list[Node] = []
    position = 0
    for match in MARKER.finditer(text):
        if int(match[1]) not in markers:
            continue
        if match.start() > position:
            nodes.append(build_text_node(text[position : match.start()]))
        nodes.append({"t": "cite", "n": int(match[1])})
        position = match.end()
    if position < len(text):
        nodes.append(build_text_node(text[position:]))
    return nodes


def _build_struck_nodes(text: str) -> Iterator[Node]:
    """Yield the nodes of a text of a document, in which struck words are struck through."""
    for number, part in enumerate(STRUCK.split(text)):
        if part:
            yield {"t": "s", "c": [build_text_node(part)]} if number % 2 else build_text_node(part)


def build_text_node(text: str) -> Node:
    """Return a node that contains plain text."""
    return {"t": "text", "s": text}
