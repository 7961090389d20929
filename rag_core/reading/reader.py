"""The extractive reader: quotes the sentences that answer a question, each with its citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.reading.clauses import (
    MAX_LIST_WORDS,
    has_back_reference,
    has_more_items,
    is_introduction,
    is_list_continuation,
    is_list_start,
    is_question,
)
from rag_core.reading.sentence_scoring import Sentence, SentenceScorer
from rag_core.text.tables import is_table_row
from rag_core.types import Citation, Passage

MAX_SENTENCES = 3
# A further sentence is quoted only if its score is at most this much lower than that of the best sentence.
MARGIN = 0.1
# Longest preceding sentence that is quoted with a sentence that refers back to it.
MAX_ANTECEDENT_WORDS = 25
# A table row is quoted with its column header, which is the line above it that adds most to the row's coverage of the
# question. The line is quoted only if it adds at least this much.
MIN_GAIN = 0.05
# Most characters of white space between a sentence and the next sentence of the page.
MAX_GAP_CHARS = 3
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class _Quote:
    """A quoted span; ``cut_before`` and ``cut_after`` are true if its sentence or list begins earlier or ends later."""

    passage: Passage
    start: int
    end: int
    cut_before: bool
    cut_after: bool


def quote_sentences(scoring: SentenceScorer) -> tuple[str, tuple[Citation, ...]]:
    """Quote one to three sentences from the page that answers best.

    The best sentence is chosen first. Other sentences of its page are quoted if they score about as well, or if the
    best sentence needs them: the sentence that its pronoun refers to, the text that its colon announces, and the
    column header of a table row. Sentences of other pages are not quoted, because they are often irrelevant. Clauses
    that do not help to answer are omitted from long sentences, and adjacent quotes are joined.

    Parameters
    ----------
    scoring : SentenceScorer

    Returns
    -------
    text : str
        The quotes in reading order, white space collapsed, each followed by its ``[n]``; an ellipsis marks the cut
        of a sentence or list. Empty if no passage contains a sentence.
    citations : tuple of Citation
        One per quote, in the order of the text.
    """
    best = scoring.best
    if best is None:
        return "", ()
    page = [sentence for sentence in scoring.sentences if _is_same_page(sentence, best)]
    chosen, unfinished = _add_announced(_select_sentences(best, page, scoring), page)
    ordered = sorted(chosen, key=lambda sentence: sentence.place)
    quotes = _join_quotes([_create_quote(sentence, scoring, sentence in unfinished) for sentence in ordered])
    citations = tuple(Citation.of(quote.passage, quote.start, quote.end) for quote in quotes)
    return " ".join(
        _format_quote(quote, citation) for quote, citation in zip(quotes, citations, strict=True)
    ), citations


def _select_sentences(best: Sentence, page: Sequence[Sentence], scoring: SentenceScorer) -> list[Sentence]:
    """Return the best sentence, the sentences that it needs, and sentences of its page that score about as well."""
    chosen = [best]
    needed = _find_needed(best, scoring)
    least = scoring.score_support(best) - MARGIN
    close = sorted(
        (sentence for sentence in page if scoring.score_support(sentence) >= least),
        key=scoring.score_support,
        reverse=True,
    )
    for sentence in [*needed, *close]:
        if len(chosen) < MAX_SENTENCES and not any(_is_overlap(sentence, other) for other in chosen):
            chosen.append(sentence)
    # Figures of a table row are meaningless without their years.
    for years in [sentence.years for sentence in chosen]:
        if years is not None and not any(_is_overlap(years, other) for other in chosen):
            chosen.append(years)
    return chosen


def _add_announced(chosen: Sequence[Sentence], page: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """Return the chosen sentences with the text that they announce, and sentences after which list items are omitted.

    A sentence such as "The command is:" needs the command, and a question needs its answer. If list items are omitted,
    the quote must show the omission, because the list would otherwise look complete.
    """
    whole, unfinished = list(chosen), []
    for sentence in chosen:
        if not is_list_start(sentence.text) and not is_question(sentence.text):
            continue
        last, following = sentence, _find_next(sentence, page)
        words, more = 0, following is not None and _is_announced(following.text, sentence.text)
        while following is not None and more and words < MAX_LIST_WORDS:
            if not any(_is_overlap(following, other) for other in whole):
                whole.append(following)
            words += len(following.text.split())
            last, following = following, _find_next(following, page)
            more = following is not None and is_list_continuation(following.text, last.text)
        if more or has_more_items(last.text):
            unfinished.append(last)
    return whole, unfinished


def _is_announced(text: str, before: str) -> bool:
    """Return whether the sentence ``before`` announces ``text``, or is a question that ``text`` may answer."""
    if is_question(before):
        # Consecutive questions, as in a table of contents, do not answer each other.
        return not is_question(text)
    return is_introduction(before) or is_list_continuation(text, before)


def _find_next(sentence: Sentence, page: Sequence[Sentence]) -> Sentence | None:
    """Return the next sentence on the page, preferably from the same passage."""
    end = sentence.place[1]
    near = [other for other in page if 0 <= other.place[0] - end <= MAX_GAP_CHARS]
    return min(near, key=lambda other: (other.place[0], other.passage is not sentence.passage), default=None)


def _find_needed(best: Sentence, scoring: SentenceScorer) -> list[Sentence]:
    """Return the sentence that the best sentence needs to be understood: its antecedent or its column header."""
    before = best.before
    if before is not None and has_back_reference(best.text) and len(before.text.split()) <= MAX_ANTECEDENT_WORDS:
        return [before]
    if not is_table_row(best.text):
        return []
    above = [] if best.head is None else [best.head]
    while before is not None:
        above.append(before)
        before = before.before
    head = max(above, key=lambda line: scoring.compute_gain(best, line), default=None)
    return [head] if head is not None and scoring.compute_gain(best, head) >= MIN_GAIN else []


def _create_quote(sentence: Sentence, scoring: SentenceScorer, unfinished: bool) -> _Quote:
    cut = scoring.shorten(sentence)
    broken_off = unfinished or cut.end < sentence.end
    return _Quote(cut.passage, cut.start, cut.end, cut.start > sentence.start, broken_off)


def _join_quotes(quotes: Sequence[_Quote]) -> list[_Quote]:
    """Join quotes that only white space separates."""
    joined: list[_Quote] = []
    for quote in quotes:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.passage is quote.passage
            and not quote.passage.text[last.end : quote.start].strip()
        ):
            joined[-1] = _Quote(quote.passage, last.start, quote.end, last.cut_before, quote.cut_after)
        else:
            joined.append(quote)
    return joined


def _format_quote(quote: _Quote, citation: Citation) -> str:
    words = [ELLIPSIS] * quote.cut_before + citation.quote.split() + [ELLIPSIS] * quote.cut_after
    return f"{' '.join(words)} [{citation.marker}]"


def _is_same_page(sentence: Sentence, other: Sentence) -> bool:
    return sentence.passage.page_key == other.passage.page_key


def _is_overlap(sentence: Sentence, other: Sentence) -> bool:
    """Return whether two sentences overlap on their page, since overlapping chunks may contain the same sentence."""
    (first, first_end), (second, second_end) = sentence.place, other.place
    return first < second_end and second < first_end
