"""The extractive reader: the sentences that answer, verbatim, each with its citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.answering.clauses import announces, is_item, is_row, refers_back
from rag_core.answering.scoring import Evidence, Scoring, Sentence
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
# What a sentence announces is quoted with it until it has so many words: of a long list, the beginning.
ANNOUNCED_WORDS = 40
# White space that may part the two.
MOST_BETWEEN = 3
LEFT_OUT = "…"


@dataclass(frozen=True, slots=True)
class _Quote:
    """A span of a passage, and whether it begins or ends within a sentence."""

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
        stands where a sentence was cut. Empty when no passage holds a sentence.
    citations : tuple of Citation
        One a quote, in the order of the text.
    """
    scoring = Scoring(question, weights)
    sentences = [sentence for one in evidence for sentence in scoring.sentences(one)]
    if not sentences:
        return "", ()
    best = max(sentences, key=scoring.lead)
    page = [one for one in sentences if _same_page(one, best)]
    chosen = _with_announced(_with_others(best, page, scoring), page)
    quotes = _joined([_quote(one, scoring) for one in sorted(chosen, key=lambda one: one.place)])
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
    return chosen


def _with_announced(chosen: Sequence[Sentence], page: Sequence[Sentence]) -> list[Sentence]:
    """The chosen sentences, each with what it announces: "The command is:" and the command."""
    whole = list(chosen)
    for one in chosen:
        words = 0
        following = _following(one, page) if announces(one.text) else None
        while following is not None and words < ANNOUNCED_WORDS:
            if not any(_overlap(following, other) for other in whole):
                whole.append(following)
            words += len(following.text.split())
            following = _following(following, page)
            # Prose after a list is no part of it.
            if following is not None and not is_item(following.text) and following.text.endswith((".", "!", "?")):
                break
    return whole


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


def _quote(sentence: Sentence, scoring: Scoring) -> _Quote:
    cut = scoring.cut(sentence)
    return _Quote(cut.passage, cut.start, cut.end, cut.start > sentence.start, cut.end < sentence.end)


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
