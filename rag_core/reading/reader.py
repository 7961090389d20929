"""The extractive reader: the sentences that answer, verbatim, each with its citation."""

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
# A predecessor up to this long is quoted with a sentence that refers back to it.
SHORT_WORDS = 25
# A row of a table is quoted with the line above it that names most of the rest of the question,
# which is its column's head, if it names so much at all.
LEAST_GAIN = 0.05
# White space that may part the two.
MOST_BETWEEN = 3
LEFT_OUT = "…"


@dataclass(frozen=True, slots=True)
class _Quote:
    """A span of a passage, and whether it begins or ends within a sentence or a list."""

    passage: Passage
    start: int
    end: int
    begun: bool
    broken_off: bool


def read(question: Question, weights: FloatArray, evidence: Sequence[Evidence]) -> tuple[str, tuple[Citation, ...]]:
    """Quote one to three sentences from the page that answers best.

    The sentence that meets the question best leads; others of the same page are quoted where they
    are about as close, or where the first is not understood without them: what a pronoun at its
    beginning stands for, what a colon at its end announces, and the head of the column for a row of a
    table. One page, because a
    second page's sentence is more often beside the point than not (on 300 questions: 0.89 of
    sentences on the right page, against 0.77). Long sentences are cut to the clauses that answer,
    and neighbours are joined to one quote.

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        How much each of the question's tokens counts.
    evidence : sequence of Evidence
        Best passage first.

    Returns
    -------
    text : str
        The quotes in reading order, white space folded, each followed by its ``[n]``; an ellipsis
        stands where a sentence or a list was cut. Empty when no passage holds a sentence.
    citations : tuple of Citation
        One a quote, in the order of the text.
    """
    scoring = Scoring(question, weights)
    sentences = [sentence for one in evidence for sentence in scoring.sentences(one)]
    if not sentences:
        return "", ()
    best = max(sentences, key=scoring.lead)
    page = [one for one in sentences if _same_page(one, best)]
    chosen, unfinished = _with_announced(_with_others(best, page, scoring), page)
    ordered = sorted(chosen, key=lambda one: one.place)
    quotes = _joined([_quote(one, scoring, one in unfinished) for one in ordered])
    citations = tuple(Citation.of(quote.passage, quote.start, quote.end) for quote in quotes)
    return " ".join(_shown(quote, citation) for quote, citation in zip(quotes, citations, strict=True)), citations


def _with_others(best: Sentence, page: Sequence[Sentence], scoring: Scoring) -> list[Sentence]:
    """The best sentence, what it needs, and what of its page is about as close to the question."""
    chosen = [best]
    needed = _needed(best, scoring)
    least = scoring.support(best) - MARGIN
    close = sorted((one for one in page if scoring.support(one) >= least), key=scoring.support, reverse=True)
    for one in [*needed, *close]:
        if len(chosen) < MAX_SENTENCES and not any(_overlap(one, other) for other in chosen):
            chosen.append(one)
    # A row of figures says nothing without the years that they are of.
    for years in [one.years for one in chosen]:
        if years is not None and not any(_overlap(years, other) for other in chosen):
            chosen.append(years)
    return chosen


def _with_announced(chosen: Sequence[Sentence], page: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """The chosen sentences, each with what it announces, and those of them behind which more of a list is left out.

    "The command is:" is nothing without the command, a question nothing without its answer, and a list of which a
    part is missing looks whole.
    """
    whole, unfinished = list(chosen), []
    for one in chosen:
        if not opens_list(one.text) and not asks(one.text):
            continue
        last, following = one, _following(one, page)
        words, more = 0, following is not None and _is_announced(following.text, one.text)
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
    """Whether a sentence is what the one before it announces or asks for."""
    if asks(before):
        # The next of several questions, as a list of contents has them.
        return not asks(text)
    return announces(before) or continues_list(text, before)


def _following(one: Sentence, page: Sequence[Sentence]) -> Sentence | None:
    """The sentence after one on its page, from the same passage if it has it."""
    end = one.place[1]
    near = [other for other in page if 0 <= other.place[0] - end <= MOST_BETWEEN]
    return min(near, key=lambda other: (other.place[0], other.passage is not one.passage), default=None)


def _needed(best: Sentence, scoring: Scoring) -> list[Sentence]:
    """What a sentence is not understood without."""
    before = best.before
    if before is not None and refers_back(best.text) and len(before.text.split()) <= SHORT_WORDS:
        return [before]
    if not is_row(best.text):
        return []
    above = [] if best.head is None else [best.head]
    while before is not None:
        above.append(before)
        before = before.before
    head = max(above, key=lambda one: scoring.gain(best, one), default=None)
    return [head] if head is not None and scoring.gain(best, head) >= LEAST_GAIN else []


def _quote(sentence: Sentence, scoring: Scoring, unfinished: bool) -> _Quote:
    cut = scoring.cut(sentence)
    broken_off = unfinished or cut.end < sentence.end
    return _Quote(cut.passage, cut.start, cut.end, cut.start > sentence.start, broken_off)


def _joined(quotes: Sequence[_Quote]) -> list[_Quote]:
    """Quotes with those that only white space parts made one."""
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


def _same_page(one: Sentence, other: Sentence) -> bool:
    first, second = one.passage, other.passage
    return (first.version_id, first.page_index) == (second.version_id, second.page_index)


def _overlap(one: Sentence, other: Sentence) -> bool:
    """Overlapping chunks hold the same sentence twice."""
    (first, first_end), (second, second_end) = one.place, other.place
    return first < second_end and second < first_end
