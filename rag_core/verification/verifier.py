"""Verification of each statement of an answer against its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from rag_core.text.annotated import AnnotatedText
from rag_core.text.languages import INTERJECTION, detect_language
from rag_core.text.tables import FigureRow
from rag_core.types import REFUSAL, Citation, Claim, Passage
from rag_core.types.protocols import TextEncoder
from rag_core.verification.citation_markers import normalize_markers, parse_markers, remove_spans, strip_source_list
from rag_core.verification.claims import ClaimSpan, split_claims
from rag_core.verification.differences import find_differences, find_number_errors
from rag_core.verification.evidence import EvidenceSpan, SourcePassage, merge_evidence
from rag_core.verification.refusals import contains_refusal
from rag_core.verification.substitutions import find_substitutions
from rag_core.verification.table_claims import check_direction, check_table_claim, find_row_scales

# Least share of a statement's words that its source must contain. With a smaller share, the statement says something
# else, even if its figures match.
MIN_COVERAGE = 0.6
# Below this coverage, a source is about something else and its differences are not reported.
_MIN_RELATED_COVERAGE = 0.3
_COVERAGE_MARGIN = 0.15
NOT_CITED = "The statement cites no source."
NOT_SUPPORTED = "No cited passage supports the statement."


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """The text of an answer with its final markers, their quotes, and the verdict on each statement.

    ``short`` is the short answer in the quotes, the table row or the statements; empty if none is probable enough.
    ``refused`` is true if the text only says that the documents do not contain the answer. ``quotes_start`` is the
    offset of the quotes that follow a language model's text. ``unchecked`` is true if the text is in another language
    than its sources.
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
    """Compare each statement of a generated text with the passages that it cites.

    A statement is supported if sentences of a cited passage contain most of its words and all of its numbers, dates,
    names and negations. Matching is verbatim first, then fuzzy, then by words, and last, with ``vectors``, by
    meaning. If no single passage suffices, the cited passages are combined.

    Parameters
    ----------
    text : str
        Generated text, with markers in any form that `citation_markers.normalize_markers` accepts.
    passages : sequence of Passage
        The passages in the prompt. The number in a marker is the rank of a passage.
    vectors : TextEncoder, optional
        Encoder for the comparison of words by meaning.

    Returns
    -------
    VerifiedAnswer
        The text keeps only the markers whose passages support their statements. Citations are in order of
        appearance, one per marker and quote; a quote is the supporting span on the passage's first page.
    """
    sources = {passage.rank: SourcePassage(passage) for passage in passages}
    text = strip_source_list(normalize_markers(text, sorted(sources)), {passage.document for passage in passages})
    while True:
        verdicts = [_verify_statement(text, claim, sources, vectors) for claim in _select_statements(text)]
        wrong = [span for verdict in verdicts for span in _find_unsupported_markers(verdict)]
        kept, removed = remove_spans(text, wrong)
        gone = len(wrong)
        if len(parse_markers(kept)) == len(parse_markers(text)) - gone:
            return _create_answer(text, kept, removed, verdicts)
        # Removing a marker has created another one, as in "[[2]1]".
        text = normalize_markers(kept, sorted(sources))


def _select_statements(text: str) -> list[ClaimSpan]:
    """Return the statements of a text, without a bare "Yes." or "No." that accompanies other statements."""
    claims = split_claims(text)
    statements = [
        claim for claim in claims if claim.markers or not INTERJECTION.fullmatch(text, claim.start, claim.end)
    ]
    return statements or claims


def _verify_statement(
    text: str, claim: ClaimSpan, sources: dict[int, SourcePassage], vectors: TextEncoder | None
) -> _Verdict:
    ranks = list(dict.fromkeys(rank for rank in claim.ranks if rank in sources))
    if not ranks:
        return _Verdict(claim, (), NOT_CITED)
    said = text[claim.start : claim.end]
    # The source of "No, it ends in May" need not contain "no".
    opening = INTERJECTION.match(said)
    said = said[opening.end() :] if opening and opening.end() < len(said) else said
    statement = AnnotatedText(said, detect_language(said))
    support = {rank: _find_support(statement, sources[rank], vectors) for rank in ranks}
    quotes = tuple(
        quote for rank, (span, _) in support.items() if span for quote in _create_quotes(sources[rank], span)
    )
    if not quotes and len(ranks) > 1:
        quotes = _combine_passages(statement, [sources[rank] for rank in ranks])
    if quotes:
        return _Verdict(claim, quotes, "")
    reason = next((reason for _, reason in support.values() if reason), "")
    return _Verdict(claim, (), f"In passage {ranks[0]}, {reason}." if reason else NOT_SUPPORTED)


def _find_support(
    statement: AnnotatedText, source: SourcePassage, vectors: TextEncoder | None
) -> tuple[EvidenceSpan | None, str]:
    """Return the evidence that supports a statement, if any, and the first difference from the closest evidence.

    Only evidence whose coverage is close to the best coverage counts. If the closest evidence contradicts the
    statement, evidence with a much lower coverage is not support, even if it contains no contradiction.
    """
    best, reason = _MIN_RELATED_COVERAGE, ""
    seen: list[tuple[EvidenceSpan, str]] = []
    for candidate in source.find_evidence(statement, vectors):
        difference = _find_difference(statement, candidate, source.rows)
        seen.append((candidate, difference))
        if candidate.coverage > best:
            best, reason = candidate.coverage, difference
        if not difference and candidate.coverage == 1.0:
            break
    least = max(MIN_COVERAGE, best - _COVERAGE_MARGIN)
    return next((span for span, difference in seen if not difference and span.coverage >= least), None), reason


def _find_difference(statement: AnnotatedText, candidate: EvidenceSpan, table: Sequence[FigureRow]) -> str:
    source, title = candidate.source, candidate.title
    figures = check_table_claim(statement, candidate.rows, table, candidate.rest, title) if candidate.rows else None
    if figures is None:
        powers = frozenset[int]().union(*(find_row_scales(row, title) for row in candidate.rows))
        figures = [
            *find_number_errors(statement, source, f"{title.text}\n{candidate.context.text}", powers),
            *find_substitutions(statement, source),
            *check_direction(statement),
        ]
    differences = [*figures, *find_differences(statement, source, candidate.around, candidate.context, title)]
    return differences[0] if differences else ""


def _combine_passages(statement: AnnotatedText, sources: Sequence[SourcePassage]) -> tuple[Citation, ...]:
    """Return quotes from several passages that support a statement only together; empty if they do not."""
    parts = []
    for source in sources:
        best = max(
            islice(source.find_evidence(statement, None), 4), key=lambda evidence: evidence.coverage, default=None
        )
        if best is not None and best.coverage >= _MIN_RELATED_COVERAGE:
            parts.append((source, best))
    if len(parts) < 2:
        return ()
    whole = merge_evidence([evidence for _, evidence in parts])
    matched = [word for word in statement.content if word.stem in whole.around.stems]
    table = [row for source, _ in parts for row in source.rows]
    if len(matched) < MIN_COVERAGE * len(statement.content) or _find_difference(statement, whole, table):
        return ()
    return tuple(quote for source, span in parts for quote in _create_quotes(source, span))


def _create_quotes(source: SourcePassage, candidate: EvidenceSpan) -> list[Citation]:
    return [Citation.of(source.passage, start, end) for start, end in candidate.quotes]


def _find_unsupported_markers(verdict: _Verdict) -> list[tuple[int, int]]:
    backed = {quote.marker for quote in verdict.quotes}
    return [(start, end) for start, end, rank in verdict.claim.markers if rank not in backed]


def _create_answer(
    written: str, text: str, removed: Sequence[tuple[int, int]], verdicts: Sequence[_Verdict]
) -> VerifiedAnswer:
    def moved(offset: int) -> int:
        return offset - sum(min(end, max(offset, start)) - start for start, end in removed)

    citations: dict[tuple[int, int, int], Citation] = {}
    statements = []
    for verdict in verdicts:
        claim = verdict.claim
        # A source cannot support the statement that the sources lack a fact, so it is not reported as unsupported.
        if claim.start < claim.end and (verdict.quotes or not contains_refusal(written[claim.start : claim.end])):
            start, end = moved(claim.start), moved(claim.end)
            statements.append(Claim(start, end, bool(verdict.quotes), verdict.reason))
        for quote in verdict.quotes:
            citations.setdefault((quote.marker, quote.start, quote.end), quote)
    return VerifiedAnswer(text, tuple(citations.values()), tuple(statements))
