"""Convert answers to trees of nodes. Quotes are read as plain text, and a model's text is read as Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from pages.shared.markdown import parse_markdown
from pages.shared.nodes import Node, build_cited_text, text_node
from rag_core.types import Answer, Claim

# Stands for an opening bracket in a quote. It is a Unicode noncharacter, which does not occur in text.
_BRACKET = "\ufdd0"


def build_answer_blocks(answer: Answer, markers: Collection[int]) -> list[Node]:
    """Return the blocks of an answer, with its citations and with the verification marks of its statements.

    Only text that a model wrote is parsed as Markdown.
    """
    if answer.generator == "extractive":
        blocks = build_quoted_text(answer.text, markers, answer.statements)
        return (
            _embolden_start(blocks, answer.short) if answer.opens_with_short else [*build_short_answer(answer), *blocks]
        )
    end = len(answer.text) if answer.quotes_start is None else answer.quotes_start
    model = [one for one in answer.statements if one.start < end]
    quotes = [replace(one, start=one.start - end, end=one.end - end) for one in answer.statements if one.start >= end]
    written = parse_markdown(answer.text[:end], markers, model)
    blocks = _embolden_first(written, answer.short) if answer.short else written
    return [*blocks, *build_quoted_text(answer.text[end:], markers, quotes)]


def build_quoted_text(text: str, markers: Collection[int], statements: Iterable[Claim] = ()) -> list[Node]:
    """Return text as paragraphs, in which each ``[n]`` outside a statement is a citation.

    A ``[n]`` inside a statement is part of the text that is quoted from the document, as in "see [3]".
    """
    for one in statements:
        quote = text[one.start : one.end].replace("[", _BRACKET)
        text = text[: one.start] + quote + text[one.end :]
    paragraphs = [part.strip("\n") for part in re.split(r"\n\s*\n", text)]
    nodes: list[Node] = [{"t": "p", "c": build_cited_text(part, markers)} for part in paragraphs if part.strip()]
    for node in nodes:
        node["c"] = [{**one, "s": one["s"].replace(_BRACKET, "[")} if "s" in one else one for one in node["c"]]
    return nodes


def _embolden_start(blocks: list[Node], text: str) -> list[Node]:
    """Return the blocks with a text, with which the first one begins, in bold."""
    first, *others = blocks[0]["c"]
    bold = {"t": "b", "c": [text_node(text)]}
    return [{**blocks[0], "c": [bold, {**first, "s": first["s"][len(text) :]}, *others]}, *blocks[1:]]


def _embolden_first(nodes: list[Node], text: str) -> list[Node]:
    """Return the nodes with the first occurrence of a text in bold, unless it is in bold already or in no text node."""
    for position, node in enumerate(nodes):
        if node["t"] == "text" and text in node["s"]:
            before, _, after = node["s"].partition(text)
            pieces: list[Node] = [text_node(before), {"t": "b", "c": [text_node(text)]}, text_node(after)]
            changed = [piece for piece in pieces if piece.get("s") != ""]
        elif node["t"] != "b" and (inner := _embolden_first(node.get("c", []), text)) != node.get("c", []):
            changed = [{**node, "c": inner}]
        else:
            continue
        return [*nodes[:position], *changed, *nodes[position + 1 :]]
    return nodes


def build_short_answer(answer: Answer) -> list[Node]:
    """Return a paragraph with the short answer in bold and its citation; an empty list if there is no short answer."""
    if answer.short_marker is None:
        return []
    return [
        {
            "t": "p",
            "c": [{"t": "b", "c": [text_node(answer.short)]}, text_node(" "), {"t": "cite", "n": answer.short_marker}],
        }
    ]
