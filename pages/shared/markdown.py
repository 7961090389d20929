"""Convert the Markdown of a language model to a tree of nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from pages.shared.nodes import Node, build_cited_text, build_text_node
from pages.shared.tables import align_figures
from pages.shared.translation import translate_message
from rag_core.types.answers import Claim

# These characters enclose a statement while the Markdown is parsed. They are punctuation, so that the parser still
# recognizes emphasis next to them.
_FROM, _TO = "\u2e22", "\u2e23"
_LIKE_THEM = str.maketrans({_FROM: "\u231c", _TO: "\u231d"})
_EDGES = re.compile(f"([{_FROM}{_TO}])")
_BLOCKS = {
    "paragraph": "p",
    "heading": "h",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "quote",
    "tr": "row",
    "strong": "b",
    "em": "i",
    "s": "s",
}
# Markdown rules that are disabled. The rules in `_LOADING` would load content or link to another site. The rules in
# `_SWALLOWING` would remove characters of ordinary text, such as backslashes in LaTeX, "&" in reports, and lines that
# look like the underline of a heading.
_LOADING = ["link", "image", "autolink", "reference", "html_block", "html_inline"]
_SWALLOWING = ["escape", "entity", "code", "lheading"]
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable([*_LOADING, *_SWALLOWING])
)


def parse_markdown(text: str, markers: Collection[int], statements: Iterable[Claim] = ()) -> list[Node]:
    """Return the nodes of Markdown text, including citations ``[n]``, and the marks and calculations of statements."""
    doubtful = [one for one in statements if one.mark or one.calculation]
    if doubtful:
        text = text.translate(_LIKE_THEM)
    for one in reversed(doubtful):
        text = f"{text[: one.start]}{_FROM}{text[one.start : one.end]}{_TO}{text[one.end :]}"
    tokens: Sequence[Token] = _MARKDOWN.parse(text)
    nodes = _convert_nodes(SyntaxTreeNode(tokens).children, markers)
    return list(_add_marks(nodes, list(doubtful), [])) if doubtful else nodes


def _add_marks(nodes: Iterable[Node], statements: list[Claim], within: list[bool]) -> Iterator[Node]:
    """Yield the nodes; the text of a marked statement becomes ``doubt`` nodes, followed by a ``verdict`` node.

    A statement with a calculation is followed by the calculation instead. All recursive calls share ``within``, which
    is not empty while the text is inside a marked statement.
    """
    for node in nodes:
        if "c" in node:
            yield {**node, "c": list(_add_marks(node["c"], statements, within))}
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
                within.extend([True] if statements and statements[0].mark else [])
            elif piece == _TO:
                within.clear()
                if statements:
                    statement = statements.pop(0)
                    if note := translate_message(statement.calculation):
                        yield {"t": "i", "c": [build_text_node(f" ({note})")]}
                        continue
                    yield {"t": "verdict", "s": translate_message(statement.mark_text), "n": statement.compared_rank}
            elif piece and plain:
                yield {"t": "doubt" if within else "text", "s": piece}


def _convert_nodes(nodes: Iterable[SyntaxTreeNode], markers: Collection[int]) -> list[Node]:
    return [made for node in nodes for made in _convert_node(node, markers)]


def _convert_node(node: SyntaxTreeNode, markers: Collection[int]) -> list[Node]:
    kind = node.type
    if kind == "text":
        return build_cited_text(node.content, markers)
    if kind in ("softbreak", "hardbreak"):
        return [build_text_node(" ")] if kind == "softbreak" else [{"t": "br"}]
    if kind == "code_inline":
        return [{"t": "code", "s": node.content}]
    if kind == "fence":
        return [{"t": "pre", "s": node.content.rstrip("\n")}]
    if kind == "hr":
        return [{"t": "hr"}]
    if kind in ("inline", "thead", "tbody"):
        return _convert_nodes(node.children, markers)
    children = _convert_nodes(node.children, markers)
    if kind in ("th", "td"):
        return [{"t": kind, "c": children}]
    if kind == "table":
        return [{"t": "table", "c": align_figures(children)}]
    if kind == "ordered_list":
        return [{"t": "ol", "n": int(node.attrs.get("start", 1)), "c": children}]
    if kind in _BLOCKS:
        return [{"t": _BLOCKS[kind], "c": children}]
    # Keep the text of an unknown kind of node, without its formatting.
    return children or ([build_text_node(node.content)] if node.content else [])
