"""An answer with its citations, and the verdict on each of its statements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag_core.types.answers import MARKER, REFUSAL, Citation, Claim
from rag_core.verification.citation_markers import find_marker_place, parse_markers
from rag_core.verification.claims import Context

# The markers of a statement, from its end.
_MARKERS_AFTER = re.compile(rf"[ \t*_~`]*(?P<markers>{MARKER.pattern}(?:[ \t]*{MARKER.pattern})*)")


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """The text of an answer with its final markers, its citations, and the verdict on each statement.

    ``compared`` and ``contexts`` are set by `SourceComparison.attribute` and have no items for appended quotes.

    Attributes
    ----------
    text : str
    citations : tuple of Citation
        The quotes to which the markers refer.
    statements : tuple of Claim
    short : str
        The short answer in the statements of a language model; empty if none is probable enough.
    refused : bool
        Whether the text only says that the documents do not contain the answer.
    quotes_start : int or None
        Offset in ``text`` of the excerpts that follow a language model's text; ``None`` without such excerpts.
    unchecked : bool
        Whether the text is in another language than its sources, so that only its values were checked.
    more : tuple of Citation
        Citations of further excerpts, which the text leaves out.
    compared : tuple of tuple of Citation
        For each statement, the sentences of the sources that the statement was compared with.
    contexts : tuple of Introduction, TableHeader or None
        For each statement, the introduction of its list or the header of its table.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    statements: tuple[Claim, ...] = ()
    short: str = ""
    refused: bool = False
    quotes_start: int | None = None
    unchecked: bool = False
    more: tuple[Citation, ...] = ()
    compared: tuple[tuple[Citation, ...], ...] = ()
    contexts: tuple[Context | None, ...] = ()


REFUSED = VerifiedAnswer(REFUSAL, refused=True)


def replace_markers(answer: VerifiedAnswer, markers: Mapping[int, Sequence[int]]) -> VerifiedAnswer:
    """Return an answer with other markers in its text.

    The spans and the compared ranks of its statements are adapted. Its citations do not change.

    Parameters
    ----------
    answer : VerifiedAnswer
    markers : mapping of int to sequence of int
        For the number of a marker, the numbers of the markers that replace it. Markers without an entry stay.
    """

    def write(match: re.Match[str]) -> str:
        return "".join(f"[{number}]" for number in markers.get(int(match[1]), [int(match[1])]))

    growth = [(match.start(), len(write(match)) - len(match[0])) for match in MARKER.finditer(answer.text)]

    def move(offset: int) -> int:
        return offset + sum(length for place, length in growth if place < offset)

    statements = (
        replace(
            one,
            start=move(one.start),
            end=move(one.end),
            compared_rank=markers.get(one.compared_rank, [one.compared_rank])[0],
        )
        for one in answer.statements
    )
    return replace(answer, text=MARKER.sub(write, answer.text), statements=tuple(statements))


def cite_statement(
    answer: VerifiedAnswer, position: int, citations: Sequence[Citation], *, without: int = 0
) -> VerifiedAnswer:
    """Return an answer in which a statement has further citations, whose markers precede its present markers.

    Parameters
    ----------
    answer : VerifiedAnswer
    position : int
        Index of the statement.
    citations : sequence of Citation
    without : int
        Marker to remove from the statement; 0 for none. It stays if one of ``citations`` has it, or if another
        statement of the paragraph has no markers of its own and may rely on it. Its citations are removed from the
        answer if no statement has the marker any more.
    """
    statement = answer.statements[position]
    own = _MARKERS_AFTER.match(answer.text, statement.end)
    given = parse_markers(own[0]) if own else []
    cited = [one.marker for one in citations]
    if without and _lacks_markers_beside(answer, position):
        without = 0
    kept = [rank for rank in given if rank != without or rank in cited]
    ranks = dict.fromkeys([*(rank for rank in cited if rank not in given), *kept])
    if [*ranks] != given:
        place = own.span("markers") if own else (find_marker_place(answer.text, statement.start, statement.end),) * 2
        markers = "".join(f"[{rank}]" for rank in ranks)
        answer = _replace_span(answer, *place, markers if own else f" {markers}")
    known = {(one.marker, one.start, one.end) for one in answer.citations}
    new = [replace(one, added=True) for one in citations if (one.marker, one.start, one.end) not in known]
    places = {one.marker: answer.text.find(f"[{one.marker}]") for one in (*answer.citations, *new)}
    left = [one for one in (*answer.citations, *new) if one.marker != without or places[without] >= 0]
    return replace(answer, citations=tuple(sorted(left, key=lambda one: places[one.marker]) if new else left))


def _lacks_markers_beside(answer: VerifiedAnswer, position: int) -> bool:
    """Return whether another statement in the same line, or above it in the paragraph, has no markers of its own.

    A statement without markers shares those of the next statement with markers in its paragraph.
    """
    start = answer.text.rfind("\n\n", 0, answer.statements[position].start)
    end = answer.text.find("\n", answer.statements[position].end)
    return any(
        start < one.start and (one.start < end or end < 0) and not _MARKERS_AFTER.match(answer.text, one.end)
        for number, one in enumerate(answer.statements)
        if number != position
    )


def _replace_span(answer: VerifiedAnswer, start: int, end: int, text: str) -> VerifiedAnswer:
    """Return an answer with another text in a span; a statement that contains the span ends before it."""
    growth = len(text) - (end - start)
    statements = (
        replace(one, start=one.start + growth, end=one.end + growth)
        if one.start >= end
        else replace(one, end=min(one.end, start))
        for one in answer.statements
    )
    return replace(answer, text=answer.text[:start] + text + answer.text[end:], statements=tuple(statements))


def append_quotes(written: VerifiedAnswer, quotes: VerifiedAnswer) -> VerifiedAnswer:
    """Return an answer followed by the text, the citations and the statements of quotes."""
    start = len(written.text) + 2
    statements = [replace(one, start=one.start + start, end=one.end + start) for one in quotes.statements]
    return replace(
        written,
        text=f"{written.text}\n\n{quotes.text}",
        citations=(*written.citations, *(one for one in quotes.citations if one not in written.citations)),
        statements=(*written.statements, *statements),
        quotes_start=start,
    )
