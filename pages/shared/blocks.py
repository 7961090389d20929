"""Text as a tree of our own nodes, for the browser to build with ``textContent`` alone.

Nothing in a document or in a model's answer can become markup: the tree has no node for HTML, for
a link or for an image, so such text stays the characters it is.

A node is ``{"t": kind, ...}``. Blocks: ``p h ul ol li quote pre hr table row scores``, with
children under ``c``. Inlines: ``text b i s code mark br cite doubt verdict``, text under ``s``, number
under ``n``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from rag_core.types import Answer, Statement

Node = dict[str, Any]

# Stand around a statement while Markdown is parsed: punctuation, so that emphasis beside them works.
_FROM, _TO = "\u2e22", "\u2e23"
_LIKE_THEM = str.maketrans({_FROM: "\u231c", _TO: "\u231d"})
_EDGES = re.compile(f"([{_FROM}{_TO}])")
# Stands for a bracket of the document's own; no text holds this character, which Unicode assigns to none.
_BRACKET = "\ufdd0"
_MARKER = re.compile(r"\[(\d{1,6})\]")
_BLOCKS = {
    "paragraph": "p",
    "heading": "h",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "quote",
    "table": "table",
    "tr": "row",
    "strong": "b",
    "em": "i",
    "s": "s",
}
# Rules that would load something or take the reader away, and rules that would swallow characters:
# LaTeX is full of backslashes, reports of "&" and of lines that look like rules.
_LOADING = ["link", "image", "autolink", "reference", "html_block", "html_inline"]
_SWALLOWING = ["escape", "entity", "code", "lheading"]
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable([*_LOADING, *_SWALLOWING])
)


def answer_blocks(answer: Answer, markers: Collection[int]) -> list[Node]:
    """Blocks of an answer with its citations and marks; only what a language model wrote is read as Markdown."""
    if answer.generator == "extractive":
        return [*short_of(answer), *quoted(answer.text, markers, answer.statements)]
    end = len(answer.text) if answer.quotes_start is None else answer.quotes_start
    model = [one for one in answer.statements if one.start < end]
    quotes = [replace(one, start=one.start - end, end=one.end - end) for one in answer.statements if one.start >= end]
    return [*written(answer.text[:end], markers, model), *quoted(answer.text[end:], markers, quotes)]


def quoted(text: str, markers: Collection[int], statements: Iterable[Statement] = ()) -> list[Node]:
    """Text as written, paragraph by paragraph, with ``[n]`` made citations, save within a statement.

    What stands in brackets within a quoted statement is the document's own, as in "see [3]".
    """
    for one in statements:
        own = text[one.start : one.end].replace("[", _BRACKET)
        text = text[: one.start] + own + text[one.end :]
    paragraphs = [part.strip("\n") for part in re.split(r"\n\s*\n", text)]
    nodes: list[Node] = [{"t": "p", "c": _cited(part, markers)} for part in paragraphs if part.strip()]
    for node in nodes:
        node["c"] = [{**one, "s": one["s"].replace(_BRACKET, "[")} if "s" in one else one for one in node["c"]]
    return nodes


def short_of(answer: Answer) -> list[Node]:
    """The short answer in bold with its source, as a paragraph of its own; nothing where there is none."""
    if answer.short_marker is None:
        return []
    return [
        {"t": "p", "c": [{"t": "b", "c": [_text(answer.short)]}, _text(" "), {"t": "cite", "n": answer.short_marker}]}
    ]


def written(text: str, markers: Collection[int], statements: Iterable[Statement] = ()) -> list[Node]:
    """Markdown as a language model writes it, with ``[n]`` made citations and the marks of its statements."""
    doubtful = [one for one in statements if one.mark]
    if doubtful:
        text = text.translate(_LIKE_THEM)
    for one in reversed(doubtful):
        text = f"{text[: one.start]}{_FROM}{text[one.start : one.end]}{_TO}{text[one.end :]}"
    tokens: Sequence[Token] = _MARKDOWN.parse(text)
    nodes = _convert(SyntaxTreeNode(tokens).children, markers)
    return list(_with_marks(nodes, list(doubtful), [])) if doubtful else nodes


def _with_marks(nodes: Iterable[Node], statements: list[Statement], within: list[bool]) -> Iterator[Node]:
    """Nodes with the text between two edges in nodes of their own; ``within`` is not empty between them."""
    for node in nodes:
        if "c" in node:
            yield {**node, "c": list(_with_marks(node["c"], statements, within))}
            continue
        pieces = _EDGES.split(node.get("s", ""))
        if len(pieces) == 1:
            yield {**node, "t": "doubt"} if within and node["t"] == "text" else node
            continue
        plain = node["t"] == "text"
        if not plain:
            yield {**node, "s": "".join(pieces[::2])}
        for piece in pieces:
            if piece == _FROM:
                within.append(True)
            elif piece == _TO:
                within.clear()
                if statements:
                    statement = statements.pop(0)
                    yield {"t": "verdict", "s": statement.mark_text, "n": statement.compared_rank}
            elif piece and plain:
                yield {"t": "doubt" if within else "text", "s": piece}


def marked(text: str, spans: Iterable[tuple[int, int]]) -> list[Node]:
    """Text as written, with the given ``(start, end)`` spans marked; overlaps are merged."""
    nodes: list[Node] = []
    position = 0
    for start, end in sorted(spans):
        start, end = max(start, position), min(end, len(text))
        if start >= end:
            continue
        if start > position:
            nodes.append(_text(text[position:start]))
        nodes.append({"t": "mark", "s": text[start:end]})
        position = end
    if position < len(text):
        nodes.append(_text(text[position:]))
    return [{"t": "p", "c": nodes}]


def _convert(nodes: Iterable[SyntaxTreeNode], markers: Collection[int]) -> list[Node]:
    return [made for node in nodes for made in _node(node, markers)]


def _node(node: SyntaxTreeNode, markers: Collection[int]) -> list[Node]:
    kind = node.type
    if kind == "text":
        return _cited(node.content, markers)
    if kind in ("softbreak", "hardbreak"):
        return [_text(" ")] if kind == "softbreak" else [{"t": "br"}]
    if kind == "code_inline":
        return [{"t": "code", "s": node.content}]
    if kind == "fence":
        return [{"t": "pre", "s": node.content.rstrip("\n")}]
    if kind == "hr":
        return [{"t": "hr"}]
    if kind in ("inline", "thead", "tbody"):
        return _convert(node.children, markers)
    children = _convert(node.children, markers)
    if kind in ("th", "td"):
        return [{"t": kind, "c": children}]
    if kind == "ordered_list":
        return [{"t": "ol", "n": int(node.attrs.get("start", 1)), "c": children}]
    if kind in _BLOCKS:
        return [{"t": _BLOCKS[kind], "c": children}]
    # A kind we do not know keeps its text and loses its form.
    return children or ([_text(node.content)] if node.content else [])


def _cited(text: str, markers: Collection[int]) -> list[Node]:
    nodes: list[Node] = []
    position = 0
    for found in _MARKER.finditer(text):
        if int(found[1]) not in markers:
            continue
        if found.start() > position:
            nodes.append(_text(text[position : found.start()]))
        nodes.append({"t": "cite", "n": int(found[1])})
        position = found.end()
    if position < len(text):
        nodes.append(_text(text[position:]))
    return nodes


def _text(text: str) -> Node:
    return {"t": "text", "s": text}
