"""Search for the sentences of a passage that may support a statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from rapidfuzz import fuzz

from rag_core.text.annotated import AnnotatedText
from rag_core.text.contradictions import contains_expansion, find_antonyms
from rag_core.text.languages import detect_language
from rag_core.text.normalize import normalize_with_offsets
from rag_core.text.numbers import find_table_scales, numbers_equal
from rag_core.text.sentences import find_sentence_spans
from rag_core.text.tables import FigureRow, parse_rows
from rag_core.text.words import PRONOUNS, tokenize
from rag_core.types import PAGE_BREAK, Passage
from rag_core.types.protocols import TextEncoder
from rag_core.verification.table_claims import find_row_scales

# Weight of figures and names, which identify a fact. Other words, which only describe the kind of fact, have weight 1.
_FACT_WEIGHT = 2.0
# Least fuzzy ratio at which a statement counts as a copy of the source: one character in ten may differ.
_MIN_FUZZY_RATIO = 90.0
_MIN_FUZZY_CHARS = 20
# Least cosine of token vectors at which two words have the same meaning.
_MIN_COSINE = 0.7
# Evidence with a lower coverage is not compared by meaning, because that comparison is slow.
_MIN_COVERAGE = 0.3
_CONTEXT_SENTENCES = 3
# Most weight of the words that only the title contains or, if the source has a pronoun, only the context. A pronoun
# replaces a short noun phrase, not all earlier text. The words in the source itself must have at least the same weight.
_MAX_CONTEXT_WEIGHT = 2.0
_MAX_CANDIDATES = 3
_MAX_ROWS = 4


@dataclass(frozen=True)
class EvidenceSpan:
    """Sentences of a passage that may support a statement.

    Attributes
    ----------
    spans : tuple of (int, int)
        Spans to quote, all on the first page of the passage, as offsets into the passage's text.
    source : AnnotatedText
        The whole sentences that contain the spans.
    context : AnnotatedText
        The sentences before the evidence in the passage.
    title : AnnotatedText
        The document's name and the passage's heading.
    coverage : float
        Weighted share of the statement's words that the sentences contain, 0..1.
    rows : tuple of FigureRow
        The table rows among the sentences.
    rest : AnnotatedText
        The sentences without the figures and the year headers of the table rows.
    """

    spans: tuple[tuple[int, int], ...]
    source: AnnotatedText
    context: AnnotatedText
    title: AnnotatedText
    coverage: float
    rows: tuple[FigureRow, ...]
    rest: AnnotatedText

    @property
    def quotes(self) -> list[tuple[int, int]]:
        """The spans to quote. A table row is quoted as a whole, and its header of years before it."""
        heads, widened = set(), []
        for start, end in self.spans:
            inside = [row for row in self.rows if row.start < end and start < row.end]
            start, end = min([start, *(row.start for row in inside)]), max([end, *(row.end for row in inside)])
            heads |= {(row.head.start, row.head.end) for row in inside if row.head and row.head.end <= start}
            widened.append((start, end))
        return [*sorted(heads), *widened]

    @cached_property
    def around(self) -> AnnotatedText:
        """The sentences with the lines above their table rows, which describe the figures."""
        above = [line for row in self.rows for line in row.above]
        return _annotate("\n".join([*above, self.source.text]), self.source.language)


def merge_evidence(parts: Sequence[EvidenceSpan]) -> EvidenceSpan:
    """Return the evidence of several passages as one; it has no span to quote."""
    source, context, rest = (
        AnnotatedText("\n".join(texts), parts[0].source.language)
        for texts in zip(*((part.source.text, part.context.text, part.rest.text) for part in parts), strict=True)
    )
    rows = tuple(row for part in parts for row in part.rows)
    return EvidenceSpan((), source, context, parts[0].title, 0.0, rows, rest)


class SourcePassage:
    """A passage that is split into sentences once, for all statements that cite it."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self._text = passage.text.replace(PAGE_BREAK, " ")
        self._language = detect_language(self._text)
        self._title = AnnotatedText(re.sub(r"[\W_]+", " ", passage.document) + "\n" + passage.heading)
        self._first_page = len(passage.first_page_text)
        # A citation refers to one page, so a sentence that begins on the next page cannot be quoted.
        self.rows = parse_rows(passage.first_page_text)
        self._spans = [span for span in _split_sentences(self._text) if span[0] < self._first_page]

    @cached_property
    def _normalized(self) -> tuple[str, list[int]]:
        return normalize_with_offsets(self._text)

    def find_evidence(self, statement: AnnotatedText, vectors: TextEncoder | None) -> Iterator[EvidenceSpan]:
        """Yield the evidence that may support a statement, best kinds of match first.

        Verbatim or nearly verbatim copies of the statement come first, then the single sentences and pairs of adjacent
        sentences with most of the statement's words, then table rows. With ``vectors``, the sentences and rows follow
        again, with words of the same meaning counted as equal.
        """
        yield from self._find_verbatim(statement)
        alike = [*self._find_by_words(statement), *self._find_by_rows(statement)]
        yield from alike
        for candidate in alike if vectors else []:
            if _MIN_COVERAGE <= candidate.coverage < 1.0:
                yield replace(candidate, coverage=_compute_coverage(statement, candidate, vectors))

    def _find_verbatim(self, statement: AnnotatedText) -> Iterator[EvidenceSpan]:
        wanted = normalize_with_offsets(statement.text)[0].strip().rstrip(".!?;:,")
        text, offsets = self._normalized
        if len(statement.content) < 2:
            return
        at = text.find(wanted)
        span = (at, at + len(wanted)) if at >= 0 else None
        if span is None and len(wanted) >= _MIN_FUZZY_CHARS and len(wanted) <= len(text):
            aligned = fuzz.partial_ratio_alignment(wanted, text, score_cutoff=_MIN_FUZZY_RATIO)
            span = (aligned.dest_start, aligned.dest_end) if aligned else None
        if span is None or span[0] >= span[1]:
            return
        start, end = self._expand_to_words(offsets[span[0]], offsets[span[1] - 1] + 1)
        touched = [span for span in self._spans if span[0] < end and start < span[1]]
        if touched:
            yield self._create_evidence(statement, touched[0][0], touched[-1][1], start, end)

    def _expand_to_words(self, start: int, end: int) -> tuple[int, int]:
        text = self._text
        start += len(text[start:end]) - len(text[start:end].lstrip())
        while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
            start -= 1
        while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
            end += 1
        if text[end : end + 1] in (".", "!", "?", "。"):
            end += 1
        return start, end

    def _find_by_words(self, statement: AnnotatedText) -> Iterator[EvidenceSpan]:
        spans = self._spans
        alone = [self._create_evidence(statement, *span, *span) for span in spans]
        best = sorted(alone, key=lambda candidate: -candidate.coverage)[:_MAX_CANDIDATES]
        yield from best
        joined = [
            self._create_evidence(statement, first[0], second[1], first[0], second[1])
            for at, (first, second) in enumerate(pairwise(spans))
            if second[1] <= self._first_page and _is_complementary(statement, alone[at].source, alone[at + 1].source)
        ]
        yield from sorted(joined, key=lambda candidate: -candidate.coverage)[:_MAX_CANDIDATES]

    def _create_evidence(self, statement: AnnotatedText, begin: int, finish: int, start: int, end: int) -> EvidenceSpan:
        source = _annotate(self._text[begin:finish], self._language)
        before = [span for span in self._spans if span[1] <= begin][-_CONTEXT_SENTENCES:]
        earlier = self._text[before[0][0] : before[-1][1]] if before else ""
        rows = tuple(row for row in self.rows if row.start < finish and begin < row.end)
        rest = _annotate(_remove_figures(self._text, begin, finish, rows), self._language) if rows else source
        end = min(end, self._first_page)
        evidence = EvidenceSpan(
            ((start, end),), source, _annotate(earlier, self._language), self._title, 0.0, rows, rest
        )
        return replace(evidence, coverage=_compute_coverage(statement, evidence, None))

    def _find_by_rows(self, statement: AnnotatedText) -> Iterator[EvidenceSpan]:
        """Yield one `EvidenceSpan` with all table rows whose figures a statement gives, if there are several rows."""
        rows = tuple(
            row
            for row in self.rows
            if row.stems & statement.stems
            and any(
                numbers_equal(number, value, find_row_scales(row, self._title))
                for number in statement.numbers
                for value in row.values
                if value
            )
        )
        if 1 < len(rows) <= _MAX_ROWS:
            source = _annotate("\n".join(self._text[row.start : row.end] for row in rows), self._language)
            rest = _annotate("\n".join(row.label for row in rows), self._language)
            spans = tuple((row.start, row.end) for row in rows)
            evidence = EvidenceSpan(spans, source, _annotate("", self._language), self._title, 0.0, rows, rest)
            yield replace(evidence, coverage=_compute_coverage(statement, evidence, None))


def _split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences, without splitting a sentence into lines as if it were a table."""
    spans: list[tuple[int, int]] = []
    for start, end in find_sentence_spans(text):
        if spans and _is_continued(text[slice(*spans[-1])], text[start:end]):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _is_continued(line: str, following: str) -> bool:
    if line[-1] in ".!?:;":
        return False
    last = tokenize(line)[-1:]
    return following[0].islower() or line[-1] == "," or any(not word.content and word.text.islower() for word in last)


def _is_complementary(statement: AnnotatedText, first: AnnotatedText, second: AnnotatedText) -> bool:
    """Return whether each of two sentences has a lower-case word of the statement that the other sentence lacks."""
    # If one sentence has an antonym of a word in the statement, the sentences are about different things.
    if any(find_antonyms(statement, first)) or any(find_antonyms(statement, second)):
        return False
    wanted = {word.stem for word in statement.content if word.text[0].islower()}
    return bool(wanted & first.stems - second.stems) and bool(wanted & second.stems - first.stems)


def _remove_figures(text: str, begin: int, finish: int, rows: Sequence[FigureRow]) -> str:
    """Return ``text[begin:finish]`` without the figures and the year headers of its table rows."""
    kept, position = [], begin
    heads = {(row.head.start, row.head.end) for row in rows if row.head}
    for start, end in sorted([*heads, *((row.figures, row.end) for row in rows)]):
        kept.append(text[position : max(position, min(start, finish))])
        position = min(max(position, end), finish)
    return "\n".join([*kept, text[position:finish]])


def _compute_coverage(statement: AnnotatedText, candidate: EvidenceSpan, vectors: TextEncoder | None) -> float:
    source, context, title = candidate.source, candidate.context, candidate.title
    powers = find_table_scales(f"{title.text}\n{context.text}") | find_table_scales(source.text)
    source_numbers = candidate.around.possible_numbers if candidate.rows else source.numbers
    powers |= {power for row in candidate.rows for power in find_row_scales(row, title)}
    figures = [any(numbers_equal(number, other, powers) for other in source_numbers) for number in statement.numbers]
    total, matched = _FACT_WEIGHT * len(figures), _FACT_WEIGHT * sum(figures)
    names = {word.start for word in statement.names if not statement.begins_sentence(word)}
    from_context, missing = 0.0, []
    refers = bool(source.folded & PRONOUNS)
    for word in statement.content:
        if any(number.start <= word.start < number.end for number in statement.numbers):
            continue
        weight = _FACT_WEIGHT if word.start in names else 1.0
        total += weight
        if word.stem in candidate.around.stems or contains_expansion(source, word):
            matched += weight
        elif word.stem in title.stems or (refers and word.stem in context.stems):
            from_context += weight
        elif word.start not in names:
            missing.append(word)
    matched += min(from_context, _MAX_CONTEXT_WEIGHT, matched)
    if vectors is not None and missing:
        matched += sum(
            _match_by_meaning(statement.text, [(word.start, word.end) for word in missing], source.text, vectors)
        )
    return matched / total if total else 0.0


def _match_by_meaning(text: str, spans: list[tuple[int, int]], source: str, vectors: TextEncoder) -> Iterator[float]:
    """Yield 1 for each span of the text that has the same meaning as tokens of the source, by cosine, else 0."""
    text_vectors, said_spans = vectors(text)
    source_vectors, _ = vectors(source)
    if not len(text_vectors) or not len(source_vectors):
        return
    best = (text_vectors @ source_vectors.T).max(axis=1)
    for start, end in spans:
        inside = np.flatnonzero((said_spans[:, 0] < end) & (said_spans[:, 1] > start))
        yield float(len(inside) > 0 and best[inside].mean() >= _MIN_COSINE)


@lru_cache(maxsize=2000)
def _annotate(text: str, language: str) -> AnnotatedText:
    return AnnotatedText(text, language)
