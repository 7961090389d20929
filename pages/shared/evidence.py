"""The evidence of an answer: passages, citations, highlights and scores."""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared.nodes import Node
from pages.shared.text import format_score, order_scores
from rag_core.types import Answer, AnswerState, Citation, Gate, Passage, remove_formatting

# Scores that are from 0 to 1 by definition. The bar of any other score is relative to the best passage's score.
_BOUNDED = frozenset("answerable on_topic rerank statement named cross_encoder sentence topic reading dense".split())


def name_sources(answer: Answer) -> dict[int, str]:
    """Return a source such as ``report.pdf, page 57`` for each ``n`` that can occur in the answer as ``[n]``."""
    names = {passage.rank: f"{passage.document}, page {passage.page_label}" for passage in answer.passages}
    cited = {one.marker: f"{one.document}, page {one.page_label}" for one in answer.citations}
    return names | cited


def format_for_copy(answer: Answer) -> str:
    """Return an answer with its cited sources as plain text; an empty string for a refusal."""
    if answer.state is AnswerState.ABSTAINED:
        return ""
    listed = "\n".join(f"[{rank}] {name}" for rank, name in name_sources(answer).items() if f"[{rank}]" in answer.text)
    return "\n\n".join(
        part
        for part in ("" if answer.opens_with_short else answer.short, remove_formatting(answer.marked_text), listed)
        if part
    )


def find_linked_sources(answer: Answer) -> dict[int, str]:
    """Return the entries of `name_sources` that the answer cites or that a marked statement was compared with."""
    compared = {one.compared_rank for one in answer.statements if one.mark}
    names = name_sources(answer)
    return {rank: name for rank, name in names.items() if f"[{rank}]" in answer.text or rank in compared}


def find_citations(answer: Answer, passage: Passage) -> list[Citation]:
    """Return the citations of an answer, and of its further excerpts, that quote the passage."""
    return [one for one in (*answer.citations, *answer.more) if one.chunk_id == passage.chunk_id]


def find_passage(answer: Answer, marker: int) -> Passage | None:
    """Return the passage that ``[marker]`` refers to, if there is one."""
    chunks = [one.chunk_id for one in answer.citations if one.marker == marker]
    for passage in answer.passages:
        if passage.chunk_id in chunks or (not chunks and passage.rank == marker):
            return passage
    return None


def find_highlights(answer: Answer, passage: Passage, page_index: int) -> list[tuple[int, int]]:
    """Return the ``(start, end)`` offsets to highlight on a page.

    If the answer cites the passage, these are the cited cells and quotes on the page; otherwise the passage's text on
    the page.
    """
    cited = find_citations(answer, passage)
    if cited:
        return [span for one in cited if one.page_index == page_index for span in answer.find_cited_spans(one)]
    if page_index == passage.page_index:
        return [(passage.start, passage.start + len(passage.first_page_text))]
    if page_index == passage.page_index_end:
        return [(0, passage.end)]
    return []


def find_quotes(answer: Answer, passage: Passage) -> list[tuple[int, int]]:
    """Return the cited cells and quotes on the passage's first page, as ``(start, end)`` offsets into its text."""
    return [
        (start - passage.start, end - passage.start)
        for one in find_citations(answer, passage)
        if one.page_index == passage.page_index
        for start, end in answer.find_cited_spans(one)
        if start >= passage.start
    ]


def build_score_bars(passage: Passage, passages: Sequence[Passage], gate: Gate) -> Node:
    """Return a node that shows the scores of a passage as bars, each with a note that explains its scale."""
    rows = []
    for name, value in order_scores(passage.scores):
        best = max((one.scores.get(name) or 0.0 for one in passages), default=0.0)
        scale = 1.0 if name in _BOUNDED else best
        decides = name == gate.score_name
        note = f"threshold {gate.threshold:.{gate.decimals}f}" if decides else "of 1"
        if name not in _BOUNDED:
            note = f"best here {format_score(name, best)}"
        rows.append(
            {
                "name": name,
                "text": format_score(name, value, gate.decimals if decides else 2),
                "share": min(1.0, max(0.0, value / scale)) if scale > 0 else 0.0,
                "tick": min(1.0, max(0.0, gate.threshold)) if decides else None,
                "note": note,
            }
        )
    return {"t": "scores", "rows": rows}
