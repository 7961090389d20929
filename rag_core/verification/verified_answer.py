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
    """The text of an answer with its final markers, their quotes, and the verdict on each statement.

    ``short`` is the short answer in the statements of a language model; empty if none is probable enough. ``refused``
    is true if the text only says that the documents do not contain the answer. ``quotes_start`` is the offset of the
    excerpts that follow a language model's text. ``unchecked`` is true if the text is in another language than its
    sources. ``more`` contains the citations of further excerpts, which the text leaves out. ``compared`` contains for
    each statement the sentences of the sources that it was compared with, and ``contexts`` what stands above it.
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
    """Return an answer with other markers in its text and its statements; its citations stay.

    Parameters
    ----------
    answer : VerifiedAnswer
    markers : mapping of int to sequence of int
        The numbers of the markers that replace a marker; a marker that is missing here stays.
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


def cite_statement(answer: VerifiedAnswer, position: int, citations: Sequence[Citation]) -> VerifiedAnswer:
    """Return an answer that also has some citations for the statement at a position, before its other markers."""
    statement = answer.statements[position]
    own = _MARKERS_AFTER.match(answer.text, statement.end)
    given = parse_markers(own[0]) if own else []
    markers = "".join(f"[{rank}]" for rank in dict.fromkeys(one.marker for one in citations) if rank not in given)
    if markers:
        place = own.start("markers") if own else find_marker_place(answer.text, statement.start, statement.end)
        answer = _insert_text(answer, place, markers if own else f" {markers}")
    known = {(one.marker, one.start, one.end) for one in answer.citations}
    new = [replace(one, added=True) for one in citations if (one.marker, one.start, one.end) not in known]
    ordered = sorted((*answer.citations, *new), key=lambda one: answer.text.find(f"[{one.marker}]"))
    return replace(answer, citations=tuple(ordered)) if new else answer


def _insert_text(answer: VerifiedAnswer, place: int, added: str) -> VerifiedAnswer:
    """Return an answer with a text inserted; a statement that contains the place ends before the inserted text."""
    statements = (
        replace(one, start=one.start + len(added), end=one.end + len(added))
        if one.start >= place
        else replace(one, end=min(one.end, place))
        for one in answer.statements
    )
    return replace(answer, text=answer.text[:place] + added + answer.text[place:], statements=tuple(statements))


def append_quotes(written: VerifiedAnswer, quotes: VerifiedAnswer) -> VerifiedAnswer:
    """Return an answer that is followed by quotes."""
    start = len(written.text) + 2
    statements = [replace(one, start=one.start + start, end=one.end + start) for one in quotes.statements]
    return replace(
        written,
        text=f"{written.text}\n\n{quotes.text}",
        citations=(*written.citations, *(one for one in quotes.citations if one not in written.citations)),
        statements=(*written.statements, *statements),
        quotes_start=start,
    )
