"""Check the notes for a summary against the passages, and renumber the cited passages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag_core.llm.context_budget import NOTE_TOKENS, count_tokens
from rag_core.llm.prompts import MAX_NOTES
from rag_core.text.annotated import AnnotatedText
from rag_core.text.numbers import contains_number
from rag_core.text.scales import find_table_scales
from rag_core.types.answers import MARKER, strip_markers
from rag_core.types.protocols import TextEncoder
from rag_core.types.retrieval import Passage
from rag_core.verification.attribution import attribute_claims
from rag_core.verification.citation_markers import normalize_markers, parse_markers
from rag_core.verification.refusals import is_refusal
from rag_core.verification.verified_answer import VerifiedAnswer, replace_markers

# The markers after a statement, and the punctuation before them.
_MARKERS = re.compile(r"[.!?;:,]*\s*((?:\[\d+\]\s*)+)")


def select_supported_notes(verified: VerifiedAnswer) -> list[str]:
    """Return notes: lines with a supported statement and its citation markers.

    Only notes among the first `MAX_NOTES` are returned, and only those that fit into `NOTE_TOKENS` tokens together.
    A statement without markers is joined with the next statement, whose markers then apply to both.
    """
    notes: list[str] = []
    pending: list[str] = []
    for statement in verified.statements:
        if not statement.supported:
            pending = []
            continue
        pending.append(" ".join(verified.text[statement.start : statement.end].split()))
        if markers := _MARKERS.match(verified.text, statement.end):
            notes.append(f"- {' '.join(pending)} {''.join(markers[1].split())}")
            pending = []
    kept: list[str] = []
    for note in notes[:MAX_NOTES]:
        if sum(count_tokens(one) for one in (*kept, note)) <= NOTE_TOKENS:
            kept.append(note)
    return kept


def parse_distinct_markers(texts: Sequence[str]) -> list[int]:
    """Return the distinct numbers of the citation markers in texts, in order of appearance."""
    return list(dict.fromkeys(marker for text in texts for marker in parse_markers(text)))


class NoteChecker:
    """Compares a model's notes with the passages, and counts how many statements the passages support.

    Parameters
    ----------
    request : str
        The question or request for a summary. Statements may contain its numbers.
    passages : sequence of Passage
    encode : TextEncoder
        Returns the token vectors of a text.
    """

    def __init__(self, request: str, passages: Sequence[Passage], encode: TextEncoder) -> None:
        self._request = request
        self._encode = encode
        self._passages = {one.rank: one for one in passages}
        self._supported = self._statements = 0

    @property
    def share(self) -> float:
        """Share of supported statements among all statements so far; 0 if there are none."""
        return self._supported / self._statements if self._statements else 0.0

    def check_notes(self, reply: str) -> list[str]:
        """Return the supported statements of a reply, as lines with their citation markers; none for a refusal.

        Statements are compared with the passages that the reply cites, or with all passages if the reply cites none, as
        often with small models. A statement is not supported if it contains a number that is neither in these passages
        nor in the request. This rule does not apply to replies in another language.
        """
        if is_refusal(reply):
            return []
        text = normalize_markers(reply, sorted(self._passages))
        cited = [self._passages[rank] for rank in parse_distinct_markers([text])] or list(self._passages.values())
        verified = attribute_claims(text, self._request, cited, self._encode)
        if not verified.unchecked:
            sources = [(AnnotatedText(self._request), frozenset[int]()), *map(_read_source, cited)]
            statements = (
                replace(
                    one,
                    supported=one.supported
                    and _contain_numbers(sources, AnnotatedText(strip_markers(verified.text[one.start : one.end]))),
                )
                for one in verified.statements
            )
            verified = replace(verified, statements=tuple(statements))
        self._statements += len(verified.statements)
        self._supported += sum(one.supported for one in verified.statements)
        return select_supported_notes(verified)


def _read_source(passage: Passage) -> tuple[AnnotatedText, frozenset[int]]:
    """Return a text with the document name, the heading and the text of a passage, and the scales of its tables."""
    text = "\n".join([re.sub(r"[\W_]+", " ", passage.document), passage.heading, passage.text])
    return AnnotatedText(text), find_table_scales(text)


def _contain_numbers(sources: Sequence[tuple[AnnotatedText, frozenset[int]]], statement: AnnotatedText) -> bool:
    """Return whether sources contain all numbers of a statement."""
    return all(
        any(contains_number(source.possible_numbers, number, scales) for source, scales in sources)
        for number in statement.numbers
    )


def renumber_passages(passages: Sequence[Passage], texts: Sequence[str]) -> tuple[list[Passage], list[str]]:
    """Return the cited passages, numbered from 1 in order of appearance, and the texts with the new numbers."""
    kept, numbers = _number_passages(passages, parse_distinct_markers(texts))
    return kept, [_replace_numbers(text, numbers) for text in texts]


def renumber_answer(passages: Sequence[Passage], answer: VerifiedAnswer) -> tuple[list[Passage], VerifiedAnswer]:
    """Return the passages that an answer cites or was compared with, and the answer, both numbered from 1."""
    compared = [one.compared_rank for one in answer.statements if one.mark]
    ranks = [*parse_distinct_markers([answer.text]), *(one.marker for one in answer.citations), *compared]
    kept, numbers = _number_passages(passages, ranks)
    citations = tuple(
        replace(one, marker=numbers[one.marker], passage_rank=numbers[one.passage_rank]) for one in answer.citations
    )
    changed = replace_markers(answer, {old: [new] for old, new in numbers.items()})
    return kept, replace(changed, citations=citations)


def _number_passages(passages: Sequence[Passage], ranks: Sequence[int]) -> tuple[list[Passage], dict[int, int]]:
    """Return the passages with the given ranks, numbered from 1 in that order, and the new numbers by rank."""
    known = {one.rank: one for one in passages}
    numbers = {old: new for new, old in enumerate(dict.fromkeys(one for one in ranks if one in known), 1)}
    return [replace(known[old], rank=new) for old, new in numbers.items()], numbers


def describe_range(passages: Sequence[Passage]) -> str:
    """Return the documents and pages that consecutive passages cover, in words."""
    first, last = passages[0], passages[-1]
    if first.document != last.document:
        return f"{first.document} page {first.page_label} to {last.document} page {last.page_label}"
    if first.page_label == last.page_label:
        return f"{first.document} page {first.page_label}"
    return f"{first.document} pages {first.page_label} to {last.page_label}"


def _replace_numbers(text: str, numbers: Mapping[int, int]) -> str:
    return MARKER.sub(lambda match: f"[{numbers[int(match[1])]}]" if int(match[1]) in numbers else "", text)
