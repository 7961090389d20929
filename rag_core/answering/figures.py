"""Answer questions for figures of annual statements from the tables of the document that the question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_core.answering.answer_text import cite_span, write_pieces
from rag_core.answering.page_reading import PageReader
from rag_core.finance.computed_figures import ComputedFigure, Piece, compute_figure
from rag_core.finance.figure_questions import FigureRequest, parse_figure_question
from rag_core.finance.relevance import names_document
from rag_core.finance.statements import Statements
from rag_core.retrieval.passages import build_passage
from rag_core.types import Passage, SearchResult
from rag_core.types.searches import SearchOutcome
from rag_core.verification.verifier import VerifiedAnswer

# Most documents whose statements are read for a question.
_MAX_DOCUMENTS = 3


def answer_with_figure(
    asked: str, outcome: SearchOutcome, reader: PageReader
) -> tuple[VerifiedAnswer, SearchResult] | None:
    """Return the figure that a question asks for, and the result with the passages it cites; ``None`` without one.

    The statements are those of one document, whose name or cover has all names of the question. If several documents
    have them, those that end with the last year of the question come first. The gate does not decide, because it
    judges the passages. But if a line of the figure is missing, an answer needs passages that pass it.

    Parameters
    ----------
    asked : str
        The whole question; empty if it is that of the result.
    outcome : SearchOutcome
    reader : PageReader
    """
    request = parse_figure_question(asked or outcome.result.question) if reader.computes_figures else None
    if request is None:
        return None
    documents = _select_documents(request, outcome, reader)
    if request.others:
        return _answer_for_years([request, *request.others], documents, outcome, reader)
    found = _find_figure(request, documents, reader)
    if found is None or not (found[1].short or outcome.result.gate.answerable):
        return None
    passage, computed = found
    return _write(computed.short, [(computed.pieces, passage)], outcome, reader)


def _answer_for_years(
    requests: Sequence[FigureRequest], documents: Sequence[Passage], outcome: SearchOutcome, reader: PageReader
) -> tuple[VerifiedAnswer, SearchResult] | None:
    """Return a figure for each of several years; ``None`` if one of them cannot be computed."""
    parts: list[tuple[Sequence[Piece], Passage]] = []
    shorts = []
    for request in requests:
        found = _find_figure(request, documents, reader)
        if found is None or not found[1].short:
            return None
        passage, computed = found
        shorts.append(f"{computed.short} ({request.years[-1]})")
        parts.append(((Piece("\n\n" if parts else ""), *computed.pieces), passage))
    short = "; ".join(shorts)
    return _write(short, [((Piece(f"{short}\n\n"),), parts[0][1]), *parts], outcome, reader)


def _find_figure(
    request: FigureRequest, documents: Sequence[Passage], reader: PageReader
) -> tuple[Passage, ComputedFigure] | None:
    """Return the figure and the passage of its document, of documents that are each given by a passage."""
    best: tuple[Passage, ComputedFigure] | None = None
    year = str(request.years[-1])
    for passage in sorted(documents, key=lambda one: year not in one.document)[:_MAX_DOCUMENTS]:
        statements = Statements(reader.read_texts(passage.version_id), reader.create_table_loader(passage.version_id))
        computed = compute_figure(request, statements, passage.document)
        if computed is None:
            continue
        if computed.short and max(statements.years) == request.years[-1]:
            return passage, computed
        if best is None or (computed.short and not best[1].short):
            best = passage, computed
    return best


def _select_documents(request: FigureRequest, outcome: SearchOutcome, reader: PageReader) -> list[Passage]:
    """Return the best passage of each document that the question may be about, in the order of the search."""
    first: dict[str, Passage] = {}
    for passage in outcome.passages:
        first.setdefault(passage.version_id, passage)
    for row in outcome.ranked.rows.values():
        if row.version_id not in first:
            first[row.version_id] = build_passage(0, row, {})
    only = len(first) == 1
    return [
        passage
        for passage in first.values()
        if names_document(request.subject, passage.document, reader.read_cover(passage.version_id), only=only)
    ]


def _write(
    short: str, parts: Sequence[tuple[Sequence[Piece], Passage]], outcome: SearchOutcome, reader: PageReader
) -> tuple[VerifiedAnswer, SearchResult]:
    """Return the pieces of documents, each document with its best passage, as an answer that cites the figures."""
    for pieces, passage in parts:
        figures = [piece.figure for piece in pieces if piece.figure is not None]
        outcome = reader.add_places(outcome, passage, [(one.page_index, one.start, one.end) for one in figures])
    result = outcome.result
    written = []
    for piece, version_id in ((piece, passage.version_id) for pieces, passage in parts for piece in pieces):
        figure = piece.figure
        citation = None
        if figure is not None:
            citation = cite_span((version_id, figure.page_index), figure.start, figure.end, result.passages)
        written.append((piece.text, [citation] if citation is not None else []))
    # Rows without the value itself are shown only if the gate lets the question through.
    gate = result.gate.overrule() if short else result.gate
    return write_pieces(written, short), replace(result, gate=gate)
