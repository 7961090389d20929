"""Convert answers to trees of nodes. Quotes are read as plain text, and a model's text is read as Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from pages.shared.excerpts import build_excerpts
from pages.shared.markdown import parse_markdown
from pages.shared.nodes import Node, build_cited_text, build_text_node
from pages.shared.page_text import Tables
from pages.shared.tables import align_figures
from pages.shared.translation import translate_message
from rag_core.types.answer_markup import Run, TextTable, parse_answer_text
from rag_core.types.answers import Answer, AnswerState, Claim

# Stand for an opening bracket in a quote, and for a bar at the beginning of a line. They are Unicode noncharacters,
# which do not occur in text.
_BRACKET, _BAR = "\ufdd0", "\ufdd2"
_RESTORED = str.maketrans({_BRACKET: "[", _BAR: "|"})


def build_answer_blocks(
    answer: Answer, markers: Collection[int], tables: Tables | None = None, opened: Collection[int] = ()
) -> list[Node]:
    """Return the blocks of an answer, with its citations and with the verification marks of its statements.

    Text that a model wrote is parsed as Markdown. In other text, only tables and bold text are recognized. A ``[n]`` is
    a citation if ``n`` is in ``markers``. ``tables`` and ``opened`` are as in `pages.shared.excerpts.build_excerpts`.
    """
    if answer.consists_of_excerpts:
        introduction = translate_message(answer.text.partition("\n\n")[0])
        excerpts = build_excerpts(answer, answer.citations, tables, opened)
        return [{"t": "p", "c": [build_text_node(introduction)]}, *excerpts]
    if answer.gate.score_name == "library":
        return _build_listing(answer.text)
    if answer.state is AnswerState.ABSTAINED:
        return build_quoted_text(translate_message(answer.text), markers)
    cited = [answer.short, *(one.quote for one in answer.citations)]
    if answer.generator == "extractive":
        blocks = build_quoted_text(answer.text, markers, answer.statements, cited)
        if not answer.opens_with_short:
            return [*build_short_answer(answer), *blocks]
        return _embolden_start(blocks, answer.short) if answer.text.startswith(answer.short) else blocks
    end = len(answer.text) if answer.quotes_start is None else answer.quotes_start
    model = [one for one in answer.statements if one.start < end]
    quotes = [replace(one, start=one.start - end, end=one.end - end) for one in answer.statements if one.start >= end]
    written = parse_markdown(answer.text[:end], markers, model)
    blocks = _embolden_first(written, answer.short) if answer.short else written
    return [*blocks, *build_quoted_text(answer.text[end:], markers, quotes, cited)]


def _build_listing(text: str) -> list[Node]:
    """Return a text as paragraphs, with the lines that begin with a hyphen as a list; Markdown is not parsed."""
    nodes: list[Node] = []
    for is_item, lines in groupby(filter(None, text.splitlines()), key=lambda line: line.startswith("- ")):
        texts = [build_text_node(translate_message(line.removeprefix("- ") if is_item else line)) for line in lines]
        if is_item:
            nodes.append({"t": "ul", "c": [{"t": "li", "c": [one]} for one in texts]})
        else:
            nodes += [{"t": "p", "c": [one]} for one in texts]
    return nodes


def build_quoted_text(
    text: str, markers: Collection[int], statements: Iterable[Claim] = (), quotes: Iterable[str] = ()
) -> list[Node]:
    """Return text as paragraphs and tables, in which each ``[n]`` outside a statement is a citation.

    Only the numbers ``n`` in ``markers`` are citations. A ``[n]`` inside a statement is part of the text that is quoted
    from the document, as in "see [3]", and lines inside a statement are no table. Asterisks in the ``quotes`` make no
    text bold.
    """
    quotes = [quote.replace("[", _BRACKET) for quote in quotes]
    for one in statements:
        quote = text[one.start : one.end].replace("[", _BRACKET).replace("\n|", f"\n{_BAR}")
        text = text[: one.start] + quote + text[one.end :]
    return [
        _build_table(block, markers)
        if isinstance(block, TextTable)
        else {"t": "p", "c": _build_runs(block.runs, markers)}
        for block in parse_answer_text(text, quotes)
    ]


def _build_runs(runs: Sequence[Run], markers: Collection[int]) -> list[Node]:
    nodes: list[Node] = []
    for run in runs:
        pieces = build_cited_text(run.text, markers)
        texts = [{**one, "s": one["s"].translate(_RESTORED)} if "s" in one else one for one in pieces]
        nodes += [{"t": "b", "c": texts}] if run.bold else texts
    return nodes


def _build_table(table: TextTable, markers: Collection[int]) -> Node:
    rows: list[Node] = []
    for number, row in enumerate(table.rows):
        cells = [{"t": "td" if number else "th", "c": _build_runs(runs, markers)} for runs in row]
        rows.append({"t": "row", "c": cells})
    return {"t": "table", "c": align_figures(rows)}


def _embolden_start(blocks: list[Node], text: str) -> list[Node]:
    """Return the blocks with ``text``, with which the first block begins, in bold."""
    first, *others = blocks[0]["c"]
    bold = {"t": "b", "c": [build_text_node(text)]}
    return [{**blocks[0], "c": [bold, {**first, "s": first["s"][len(text) :]}, *others]}, *blocks[1:]]


def _embolden_first(nodes: list[Node], text: str) -> list[Node]:
    """Return the nodes with the first occurrence of a text in bold, unless a bold node already contains the text."""
    for position, node in enumerate(nodes):
        if node["t"] == "text" and text in node["s"]:
            before, _, after = node["s"].partition(text)
            pieces: list[Node] = [
                build_text_node(before),
                {"t": "b", "c": [build_text_node(text)]},
                build_text_node(after),
            ]
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
            "c": [
                {"t": "b", "c": [build_text_node(answer.short)]},
                build_text_node(" "),
                {"t": "cite", "n": answer.short_marker},
            ],
        }
    ]
