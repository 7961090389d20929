"""Trees of nodes, which the browser renders with ``textContent`` only.

Text of a document or of a model cannot become markup: no node exists for HTML, links or images, so
such text is shown as characters.

A node is ``{"t": kind, ...}``. Blocks: ``p h ul ol li quote pre hr table row scores``, with
children under ``c``. Inlines: ``text b i s code mark br cite doubt verdict``, text under ``s``, number
under ``n``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from rag_core.types.answers import MARKER

Node = dict[str, Any]


def build_marked_text(text: str, spans: Iterable[tuple[int, int]]) -> list[Node]:
    """Return text with the given ``(start, end)`` spans marked; overlapping spans are merged."""
    nodes: list[Node] = []
    position = 0
    for start, end in sorted(spans):
        start, end = max(start, position), min(end, len(text))
        if start >= end:
            continue
        if start > position:
            nodes.append(text_node(text[position:start]))
        nodes.append({"t": "mark", "s": text[start:end]})
        position = end
    if position < len(text):
        nodes.append(text_node(text[position:]))
    return [{"t": "p", "c": nodes}]


def build_cited_text(text: str, markers: Collection[int]) -> list[Node]:
    """Return text with each ``[n]`` as a citation if ``n`` is one of the markers."""
    nodes: list[Node] = []
    position = 0
    for match in MARKER.finditer(text):
        if int(match[1]) not in markers:
            continue
        if match.start() > position:
            nodes.append(text_node(text[position : match.start()]))
        nodes.append({"t": "cite", "n": int(match[1])})
        position = match.end()
    if position < len(text):
        nodes.append(text_node(text[position:]))
    return nodes


def text_node(text: str) -> Node:
    """Return a node of plain text."""
    return {"t": "text", "s": text}
