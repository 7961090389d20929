"""The extractive reader: quotes the sentences that answer a question, each with its citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.reading.clauses import (
    LONGEST_LIST_WORDS,
    announces,
    asks,
    continues_list,
    goes_on,
    opens_list,
    refers_back,
)
from rag_core.reading.sentence_scoring import Evidence, Scoring, Sentence
from rag_core.text.tables import is_row
from rag_core.types import Citation, FloatArray, Passage, Question

__all__ = ["Evidence", "read"]

MAX_SENTENCES = 3
# A further sentence is quoted only if it is about as close to the question as the best one.
MARGIN = 0.1
# Longest preceding sentence that is quoted with a sentence that refers back to it.
SHORT_WORDS = 25
# A table row is quoted with the line above it that covers most of the rest of the question, which is the column
# header, if the gain is at least this much.
LEAST_GAIN = 0.05
# Most white space, in characters, between a sentence and the next one.
MOST_BETWEEN = 3
LEFT_OUT = "…"


@dataclass(frozen=True, slots=True)
class _Quote:
    """A span of a passage; ``begun`` and ``broken_off`` mark a cut in a sentence or list before and after it."""

    passage: Passage
    start: int
    end: int
    begun: bool
    broken_off: bool


def read(question: Question, weights: FloatArray, evidence: Sequence[Evidence]) -> tuple[str, tuple[Citation, ...]]:
    """Quote one to three sentences from the page that answers best.

    The best sentence is chosen first. Other sentences of its page are quoted if they score about as well, or if the
    best sentence needs them: the sentence that its pronoun refers to, the text that its colon announces, and the
    column header of a table row. Sentences of other pages are not quoted, because they are often irrelevant. Long
    sentences are cut to the clauses that answer, and adjacent quotes are joined.

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        Weights of the question's tokens.
    evidence : sequence of Evidence
        Best passage first.

    Returns
    -------
    text : str
        The quotes in reading order, white space collapsed, each followed by its ``[n]``; an ellipsis marks the cut
        of a sentence or list. Empty if no passage contains a sentence.
    citations : tuple of Citation
        One per quote, in the order of the text.
    """
    scoring = Scoring(question, weights)
    sentences = [sentence for source in evidence for sentence in scoring.sentences(source)]
    if not sentences:
        return "", ()
    best = max(sentences, key=scoring.lead)
    page = [sentence for sentence in sentences if _same_page(sentence, best)]
    chosen, unfinished = _with_announced(_with_others(best, page, scoring), page)
    ordered = sorted(chosen, key=lambda sentence: sentence.place)
    quotes = _joined([_quote(sentence, scoring, sentence in unfinished) for sentence in ordered])
    citations = tuple(Citation.of(quote.passage, quote.start, quote.end) for quote in quotes)
    return " ".join(_shown(quote, citation) for quote, citation in zip(quotes, citations, strict=True)), citations


def _with_others(best: Sentence, page: Sequence[Sentence], scoring: Scoring) -> list[Sentence]:
    """Return the best sentence, the sentences it needs, and those of its page that score about as well."""
    chosen = [best]
    needed = _needed(best, scoring)
    least = scoring.support(best) - MARGIN
    close = sorted(
        (sentence for sentence in page if scoring.support(sentence) >= least), key=scoring.support, reverse=True
    )
    for sentence in [*needed, *close]:
        if len(chosen) < MAX_SENTENCES and not any(_overlap(sentence, other) for other in chosen):
            chosen.append(sentence)
    # Figures of a table row are meaningless without their years.
    for years in [sentence.years for sentence in chosen]:
        if years is not None and not any(_overlap(years, other) for other in chosen):
            chosen.append(years)
    return chosen


def _with_announced(chosen: Sequence[Sentence], page: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """Return the chosen sentences with the text that they announce, and those after which list items are omitted.

    "The command is:" needs the command, a question needs its answer, and an incomplete list would look complete.
    """
    whole, unfinished = list(chosen), []
    for sentence in chosen:
        if not opens_list(sentence.text) and not asks(sentence.text):
            continue
        last, following = sentence, _following(sentence, page)
        words, more = 0, following is not None and _is_announced(following.text, sentence.text)
        while following is not None and more and words < LONGEST_LIST_WORDS:
            if not any(_overlap(following, other) for other in whole):
                whole.append(following)
            words += len(following.text.split())
            last, following = following, _following(following, page)
            more = following is not None and continues_list(following.text, last.text)
        if more or goes_on(last.text):
            unfinished.append(last)
    return whole, unfinished


def _is_announced(text: str, before: str) -> bool:
    """Return whether the sentence before this one announces it or asks for it."""
    if asks(before):
        # Consecutive questions, as in a table of contents, do not answer each other.
        return not asks(text)
    return announces(before) or continues_list(text, before)


def _following(sentence: Sentence, page: Sequence[Sentence]) -> Sentence | None:
    """Return the next sentence on the page, preferably from the same passage."""
    end = sentence.place[1]
    near = [other for other in page if 0 <= other.place[0] - end <= MOST_BETWEEN]
    return min(near, key=lambda other: (other.place[0], other.passage is not sentence.passage), default=None)


def _needed(best: Sentence, scoring: Scoring) -> list[Sentence]:
    """Return the sentence that the best one needs: its antecedent or column header."""
    before = best.before
    if before is not None and refers_back(best.text) and len(before.text.split()) <= SHORT_WORDS:
        return [before]
    if not is_row(best.text):
        return []
    above = [] if best.head is None else [best.head]
    while before is not None:
        above.append(before)
        before = before.before
    head = max(above, key=lambda line: scoring.gain(best, line), default=None)
    return [head] if head is not None and scoring.gain(best, head) >= LEAST_GAIN else []


def _quote(sentence: Sentence, scoring: Scoring, unfinished: bool) -> _Quote:
    cut = scoring.cut(sentence)
    broken_off = unfinished or cut.end < sentence.end
    return _Quote(cut.passage, cut.start, cut.end, cut.start > sentence.start, broken_off)


def _joined(quotes: Sequence[_Quote]) -> list[_Quote]:
    """Join quotes that only white space separates."""
    joined: list[_Quote] = []
    for quote in quotes:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.passage is quote.passage
            and not quote.passage.text[last.end : quote.start].strip()
        ):
            joined[-1] = _Quote(quote.passage, last.start, quote.end, last.begun, quote.broken_off)
        else:
            joined.append(quote)
    return joined


def _shown(quote: _Quote, citation: Citation) -> str:
    words = [LEFT_OUT] * quote.begun + citation.quote.split() + [LEFT_OUT] * quote.broken_off
    return f"{' '.join(words)} [{citation.marker}]"


def _same_page(sentence: Sentence, other: Sentence) -> bool:
    first, second = sentence.passage, other.passage
    return (first.version_id, first.page_index) == (second.version_id, second.page_index)


def _overlap(sentence: Sentence, other: Sentence) -> bool:
    """Return whether two sentences overlap on their page, since chunks that overlap contain the same sentence."""
    (first, first_end), (second, second_end) = sentence.place, other.place
    return first < second_end and second < first_end
