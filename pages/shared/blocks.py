"""Answers as trees of nodes: quotes as they are written, a model's text as Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from pages.shared.markdown import written
from pages.shared.nodes import Node, cited, text_node
from rag_core.types import Answer, Claim

# Stands for a bracket of the document's own; no text holds this character, which Unicode assigns to none.
_BRACKET = "\ufdd0"


def answer_blocks(answer: Answer, markers: Collection[int]) -> list[Node]:
    """Blocks of an answer with its citations and marks; only what a language model wrote is read as Markdown."""
    if answer.generator == "extractive":
        return [*short_of(answer), *quoted(answer.text, markers, answer.statements)]
    end = len(answer.text) if answer.quotes_start is None else answer.quotes_start
    model = [one for one in answer.statements if one.start < end]
    quotes = [replace(one, start=one.start - end, end=one.end - end) for one in answer.statements if one.start >= end]
    return [*written(answer.text[:end], markers, model), *quoted(answer.text[end:], markers, quotes)]


def quoted(text: str, markers: Collection[int], statements: Iterable[Claim] = ()) -> list[Node]:
    """Text as written, paragraph by paragraph, with ``[n]`` made citations, save within a statement.

    What stands in brackets within a quoted statement is the document's own, as in "see [3]".
    """
    for one in statements:
        own = text[one.start : one.end].replace("[", _BRACKET)
        text = text[: one.start] + own + text[one.end :]
    paragraphs = [part.strip("\n") for part in re.split(r"\n\s*\n", text)]
    nodes: list[Node] = [{"t": "p", "c": cited(part, markers)} for part in paragraphs if part.strip()]
    for node in nodes:
        node["c"] = [{**one, "s": one["s"].replace(_BRACKET, "[")} if "s" in one else one for one in node["c"]]
    return nodes


def short_of(answer: Answer) -> list[Node]:
    """The short answer in bold with its source, as a paragraph of its own; nothing where there is none."""
    if answer.short_marker is None:
        return []
    return [
        {
            "t": "p",
            "c": [{"t": "b", "c": [text_node(answer.short)]}, text_node(" "), {"t": "cite", "n": answer.short_marker}],
        }
    ]
