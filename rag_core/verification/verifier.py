"""Whether the sources say what an answer says, statement by statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from rag_core.text.annotated import AnnotatedText
from rag_core.text.languages import INTERJECTION, detect_language
from rag_core.text.tables import TableRow
from rag_core.types import REFUSAL, Citation, Claim, Passage
from rag_core.types.protocols import TextEncoder
from rag_core.verification.citation_markers import normalize_markers, parse_markers, remove_spans, strip_source_list
from rag_core.verification.claims import ClaimSpan, split_claims
from rag_core.verification.differences import find_differences, find_number_errors
from rag_core.verification.evidence import EvidenceSpan, SourcePassage, merge_evidence
from rag_core.verification.refusals import states_no_answer
from rag_core.verification.substitutions import find_substitutions
from rag_core.verification.table_claims import check_direction, check_table_claim, row_scales

# Share of a statement's words that its source must hold; a statement with half its words from
# elsewhere says something else, whatever figures it shares.
LEAST_COVERAGE = 0.6
# A source that holds less than this of a statement is about something else, and its figures no matter.
_LEAST_RELATED = 0.3
_ABOUT_AS_WELL = 0.15
NOT_CITED = "It names no source."
NOT_SAID = "No sentence of its source says this."


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """An answer's text with its final markers, their quotes, and the verdict on each statement.

    ``short`` is what of a quoted answer was asked for, where that is clear; see `short.short_answer`. ``refused`` is
    true if the text only says that the documents do not contain the answer. ``quotes_start`` is the offset from which
    quotes follow what a language model wrote. ``unchecked`` is true if it is in another language than its sources.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    statements: tuple[Claim, ...] = ()
    short: str = ""
    refused: bool = False
    quotes_start: int | None = None
    unchecked: bool = False


REFUSED = VerifiedAnswer(REFUSAL, refused=True)


@dataclass(frozen=True, slots=True)
class _Verdict:
    claim: ClaimSpan
    quotes: tuple[Citation, ...]
    reason: str


def verify_answer(text: str, passages: Sequence[Passage], vectors: TextEncoder | None = None) -> VerifiedAnswer:
    """Hold each statement of a generated text against the passages that it cites.

    A statement is supported when sentences of a cited passage hold most of its words and all of its
    numbers, dates, names and negations. It is looked for word for word, then with a few characters
    differing, then by words, and last, with ``vectors``, by meaning. Where no single passage
    suffices, those that it cites are taken together.

    Parameters
    ----------
    text : str
        As generated, with markers in any form that `citation_markers.normalize_markers` understands.
    passages : sequence of Passage
        Those the text was generated from; a marker is a passage's rank.
    vectors : TextEncoder, optional
        Token vectors by which words of like meaning are told.

    Returns
    -------
    VerifiedAnswer
        In its text, a marker stands only behind a statement that its passage supports: one that
        numbers no passage is gone, and so is one behind a statement that was not found. Citations
        come in order of appearance, one for each marker and quote; the quote is the span of the
        passage's first page that says it.
    """
    sources = {passage.rank: SourcePassage(passage) for passage in passages}
    text = strip_source_list(normalize_markers(text, sorted(sources)), {passage.document for passage in passages})
    while True:
        verdicts = [_judge(text, claim, sources, vectors) for claim in _telling(text)]
        wrong = [span for verdict in verdicts for span in _unbacked(verdict)]
        kept, removed = remove_spans(text, wrong)
        gone = len(wrong)
        if len(parse_markers(kept)) == len(parse_markers(text)) - gone:
            return _told(text, kept, removed, verdicts)
        # Taking a marker out has left another behind, as in "[[2]1]".
        text = normalize_markers(kept, sorted(sources))


def claims_of_quotes(text: str, citations: Sequence[Citation]) -> tuple[Claim, ...]:
    """The statements of an extracted answer: each quote where it stands in the text, supported by itself."""
    statements, position = [], 0
    for citation in citations:
        quote = " ".join(citation.quote.split())
        start = text.find(quote, position)
        # Two citations may share a quote, as overlapping passages do: it is one statement.
        if start >= 0:
            position = start + len(quote)
            statements.append(Claim(start, position, True))
    return tuple(statements)


def _telling(text: str) -> list[ClaimSpan]:
    """The statements of a text, without a "Yes." or "No." that others follow."""
    found = split_claims(text)
    told = [claim for claim in found if claim.markers or not INTERJECTION.fullmatch(text, claim.start, claim.end)]
    return told or found


def _judge(text: str, claim: ClaimSpan, sources: dict[int, SourcePassage], vectors: TextEncoder | None) -> _Verdict:
    ranks = list(dict.fromkeys(rank for rank in claim.ranks if rank in sources))
    if not ranks:
        return _Verdict(claim, (), NOT_CITED)
    said = text[claim.start : claim.end]
    # "No, it ends in May": the source says when it ends, and need not say "no".
    opening = INTERJECTION.match(said)
    said = said[opening.end() :] if opening and opening.end() < len(said) else said
    statement = AnnotatedText(said, detect_language(said))
    found = {rank: _supporting(statement, sources[rank], vectors) for rank in ranks}
    quotes = tuple(quote for rank, (one, _) in found.items() if one for quote in _quotes(sources[rank], one))
    if not quotes and len(ranks) > 1:
        quotes = _together(statement, [sources[rank] for rank in ranks])
    if quotes:
        return _Verdict(claim, quotes, "")
    reason = next((reason for _, reason in found.values() if reason), "")
    return _Verdict(claim, (), f"In passage {ranks[0]}, {reason}." if reason else NOT_SAID)


def _supporting(
    statement: AnnotatedText, source: SourcePassage, vectors: TextEncoder | None
) -> tuple[EvidenceSpan | None, str]:
    """The place that supports a statement, or else what the nearest one says otherwise.

    Only the places that fit about as well as the best one count: where that one says otherwise,
    another that merely does not contradict supports nothing.
    """
    best, reason = _LEAST_RELATED, ""
    seen: list[tuple[EvidenceSpan, str]] = []
    for candidate in source.candidates(statement, vectors):
        found = _difference(statement, candidate, source.rows)
        seen.append((candidate, found))
        if candidate.coverage > best:
            best, reason = candidate.coverage, found
        if not found and candidate.coverage == 1.0:
            break
    least = max(LEAST_COVERAGE, best - _ABOUT_AS_WELL)
    return next((one for one, found in seen if not found and one.coverage >= least), None), reason


def _difference(statement: AnnotatedText, candidate: EvidenceSpan, table: Sequence[TableRow]) -> str:
    source, title = candidate.source, candidate.title
    figures = check_table_claim(statement, candidate.rows, table, candidate.rest, title) if candidate.rows else None
    if figures is None:
        powers = frozenset[int]().union(*(row_scales(row, title) for row in candidate.rows))
        figures = [
            *find_number_errors(statement, source, f"{title.text}\n{candidate.context.text}", powers),
            *find_substitutions(statement, source),
            *check_direction(statement),
        ]
    found = [*figures, *find_differences(statement, source, candidate.around, candidate.context, title)]
    return found[0] if found else ""


def _together(statement: AnnotatedText, sources: Sequence[SourcePassage]) -> tuple[Citation, ...]:
    """Quotes from several passages that support a statement only as one, each with a part of it."""
    parts = []
    for source in sources:
        best = max(islice(source.candidates(statement, None), 4), key=lambda one: one.coverage, default=None)
        if best is not None and best.coverage >= _LEAST_RELATED:
            parts.append((source, best))
    if len(parts) < 2:
        return ()
    whole = merge_evidence([one for _, one in parts])
    held = [word for word in statement.content if word.stem in whole.around.stems]
    table = [row for source, _ in parts for row in source.rows]
    if len(held) < LEAST_COVERAGE * len(statement.content) or _difference(statement, whole, table):
        return ()
    return tuple(quote for source, one in parts for quote in _quotes(source, one))


def _quotes(source: SourcePassage, candidate: EvidenceSpan) -> list[Citation]:
    return [Citation.of(source.passage, start, end) for start, end in candidate.quotes]


def _unbacked(verdict: _Verdict) -> list[tuple[int, int]]:
    backed = {quote.marker for quote in verdict.quotes}
    return [(start, end) for start, end, rank in verdict.claim.markers if rank not in backed]


def _told(written: str, text: str, removed: Sequence[tuple[int, int]], verdicts: Sequence[_Verdict]) -> VerifiedAnswer:
    def moved(offset: int) -> int:
        return offset - sum(min(end, max(offset, start)) - start for start, end in removed)

    citations: dict[tuple[int, int, int], Citation] = {}
    statements = []
    for verdict in verdicts:
        claim = verdict.claim
        # That the sources leave something open stands in none of them, and is no wrong statement.
        if claim.start < claim.end and (verdict.quotes or not states_no_answer(written[claim.start : claim.end])):
            start, end = moved(claim.start), moved(claim.end)
            statements.append(Claim(start, end, bool(verdict.quotes), verdict.reason))
        for quote in verdict.quotes:
            citations.setdefault((quote.marker, quote.start, quote.end), quote)
    return VerifiedAnswer(text, tuple(citations.values()), tuple(statements))
