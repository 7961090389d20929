"""Which sentences of a passage a statement can rest on, and where exactly they say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Protocol

import numpy as np
from rapidfuzz import fuzz

from rag_core.answering.facts import Reading
from rag_core.answering.numbers import equal, table_scales
from rag_core.answering.wording import PRONOUNS, squeezed, words
from rag_core.sentences import sentence_spans
from rag_core.types import PAGE_BREAK, FloatArray, IntArray, Passage

# What a word counts: figures and names say which fact it is, other words what kind of fact.
_FACT_WEIGHT = 2.0
# A statement that differs in one character of ten from its source is that source, misspelt.
_FUZZY_SCORE = 90.0
_SHORTEST_FUZZY = 20
# Two words of the same meaning in the same context; those of different ones stay below.
_SAME_MEANING = 0.7
# Only of sentences that share this much are the words compared by meaning, which takes time.
_RELATED = 0.3
_PRONOUN_REACH = 3
# A pronoun stands for a name or a noun with its adjective, not for all that was said before; and what
# stands around it must itself say as much.
_MOST_LENT = 2.0
_MOST_CANDIDATES = 3


class TokenVectors(Protocol):
    """Gives a text's token vectors, unit length, shape (n, dimension), and their spans in it, (n, 2)."""

    def __call__(self, text: str) -> tuple[FloatArray, IntArray]: ...


@dataclass(frozen=True)
class Candidate:
    """Sentences of a passage that may support a statement.

    Attributes
    ----------
    start, end : int
        What to quote, as offsets into the passage's text, on its first page.
    source : Reading
        The sentences, whole.
    context : Reading
        What stands before them in the passage.
    title : Reading
        The document's name and the passage's heading, which say what all of it is about.
    coverage : float
        Share of the statement's words that they hold, by weight, in 0..1.
    """

    start: int
    end: int
    source: Reading
    context: Reading
    title: Reading
    coverage: float


class Source:
    """A passage, taken apart once for all statements that cite it."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self._text = passage.text.replace(PAGE_BREAK, " ")
        self._title = Reading(re.sub(r"[\W_]+", " ", passage.document) + "\n" + passage.heading)
        self._first_page = len(passage.first_page_text)
        # A citation has one page: a sentence that begins on the next one cannot be quoted.
        self._spans = [span for span in _whole_sentences(self._text) if span[0] < self._first_page]

    @cached_property
    def _squeezed(self) -> tuple[str, list[int]]:
        return squeezed(self._text)

    def candidates(self, statement: Reading, vectors: TokenVectors | None) -> Iterator[Candidate]:
        """Places that may support a statement, those that fit best first.

        Where it stands word for word, then where it stands but for a few characters, then the
        sentences, alone and with the next, that hold most of its words; with ``vectors``, words of
        the same meaning count as the same.
        """
        yield from self._verbatim(statement)
        alike = list(self._by_words(statement))
        yield from alike
        for one in alike if vectors else []:
            if _RELATED <= one.coverage < 1.0:
                yield replace(one, coverage=_coverage(statement, one.source, one.context, self._title, vectors))

    def _verbatim(self, statement: Reading) -> Iterator[Candidate]:
        wanted = squeezed(statement.text)[0].strip().rstrip(".!?;:,")
        text, offsets = self._squeezed
        if len(statement.content) < 2:
            return
        at = text.find(wanted)
        found = (at, at + len(wanted)) if at >= 0 else None
        if found is None and len(wanted) >= _SHORTEST_FUZZY and len(wanted) <= len(text):
            aligned = fuzz.partial_ratio_alignment(wanted, text, score_cutoff=_FUZZY_SCORE)
            found = (aligned.dest_start, aligned.dest_end) if aligned else None
        if found is None or found[0] >= found[1]:
            return
        start, end = self._whole_words(offsets[found[0]], offsets[found[1] - 1] + 1)
        touched = [span for span in self._spans if span[0] < end and start < span[1]]
        if touched:
            yield self._candidate(statement, touched[0][0], touched[-1][1], start, end)

    def _whole_words(self, start: int, end: int) -> tuple[int, int]:
        text = self._text
        while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
            start -= 1
        while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
            end += 1
        if text[end : end + 1] in (".", "!", "?", "。"):
            end += 1
        return start, end

    def _by_words(self, statement: Reading) -> Iterator[Candidate]:
        spans = self._spans
        alone = [self._candidate(statement, *span, *span) for span in spans]
        best = sorted(alone, key=lambda one: -one.coverage)[:_MOST_CANDIDATES]
        yield from best
        joined = [
            self._candidate(statement, first[0], second[1], first[0], second[1])
            for at, (first, second) in enumerate(pairwise(spans))
            if second[1] <= self._first_page and _complementary(statement, alone[at].source, alone[at + 1].source)
        ]
        yield from sorted(joined, key=lambda one: -one.coverage)[:_MOST_CANDIDATES]

    def _candidate(self, statement: Reading, begin: int, finish: int, start: int, end: int) -> Candidate:
        source = _reading(self._text[begin:finish])
        before = [span for span in self._spans if span[1] <= begin][-_PRONOUN_REACH:]
        earlier = self._text[before[0][0] : before[-1][1]] if before else ""
        context = _reading(earlier)
        coverage = _coverage(statement, source, context, self._title, None)
        return Candidate(start, min(end, self._first_page), source, context, self._title, coverage)


def _whole_sentences(text: str) -> list[tuple[int, int]]:
    """Sentences, with those put together again that were taken for rows of a table."""
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        if spans and _goes_on(text[slice(*spans[-1])], text[start:end]):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _goes_on(line: str, following: str) -> bool:
    if line[-1] in ".!?:;":
        return False
    last = words(line)[-1:]
    return following[0].islower() or line[-1] == "," or any(not word.content and word.text.islower() for word in last)


def _complementary(statement: Reading, first: Reading, second: Reading) -> bool:
    """Whether each of two sentences holds words of the statement, beyond names, that the other does not."""
    wanted = {word.stem for word in statement.content if word.text[0].islower()}
    return bool(wanted & first.stems - second.stems) and bool(wanted & second.stems - first.stems)


def _coverage(
    statement: Reading, source: Reading, context: Reading, title: Reading, vectors: TokenVectors | None
) -> float:
    scales = table_scales(f"{title.text}\n{context.text}") | table_scales(source.text)
    figures = [any(equal(number, one, scales) for one in source.numbers) for number in statement.numbers]
    total, held = _FACT_WEIGHT * len(figures), _FACT_WEIGHT * sum(figures)
    names = {word.start for word in statement.names if not statement.begins_sentence(word)}
    lent, missing = 0.0, []
    refers = bool(source.folded & PRONOUNS)
    for word in statement.content:
        if any(number.start <= word.start < number.end for number in statement.numbers):
            continue
        weight = _FACT_WEIGHT if word.start in names else 1.0
        total += weight
        if word.stem in source.stems:
            held += weight
        elif word.stem in title.stems or (refers and word.stem in context.stems):
            lent += weight
        elif word.start not in names:
            missing.append(word)
    held += min(lent, _MOST_LENT, held)
    if vectors is not None and missing:
        held += sum(_alike(statement.text, [(word.start, word.end) for word in missing], source.text, vectors))
    return held / total if total else 0.0


def _alike(text: str, spans: list[tuple[int, int]], source: str, vectors: TokenVectors) -> Iterator[float]:
    """1 for each span of the text with a token of like meaning in the source, by cosine, else 0."""
    said, said_spans = vectors(text)
    there, _ = vectors(source)
    if not len(said) or not len(there):
        return
    best = (said @ there.T).max(axis=1)
    for start, end in spans:
        inside = np.flatnonzero((said_spans[:, 0] < end) & (said_spans[:, 1] > start))
        yield float(len(inside) > 0 and best[inside].mean() >= _SAME_MEANING)


@lru_cache(maxsize=2000)
def _reading(text: str) -> Reading:
    return Reading(text)
