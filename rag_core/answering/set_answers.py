"""Answer questions for all things of a kind: quote them in spite of the gate, and say if some may be missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_core.answering.sources.candidates import Candidate, Quote
from rag_core.reading.set_questions import SetQuestion, parse_set_question
from rag_core.text.place_requests import find_asked_kind, find_place_topic
from rag_core.text.words import find_content_stems
from rag_core.types.answers import INCOMPLETE, INTRODUCTION, SOME_OF
from rag_core.types.chunks import ChunkRow
from rag_core.types.retrieval import Passage
from rag_core.types.searches import SearchOutcome

# Maximum number of rows of a table that is listed whole.
MAX_ROWS = 30
UNREAD = "The model read {read} of {number} pages that may answer; there may be more."


def find_stems_to_quote(
    outcome: SearchOutcome, candidates: Iterable[Candidate] = (), *, has_model: bool
) -> frozenset[str]:
    """Return the stems that an excerpt must contain to be quoted although the gate refuses; empty for most questions.

    The gate looks for a single passage that answers, so its score means little for two kinds of questions:

    - a question for all things of a kind or for their number, if several passages or a table are about these things;
    - a question for the place of a topic, if a passage mentions the topic.

    Questions with a superlative, such as "the oldest house", are included only with ``has_model``, because only a
    language model can compare the things.
    """
    question = outcome.result.question
    if any(one.lacks_name for one in outcome.passages):
        return frozenset()
    if find_asked_kind(question):
        topic = find_place_topic(question)
        is_covered = topic and any(topic <= find_content_stems(row.text) for row in outcome.ranked.rows.values())
        return topic if is_covered else frozenset()
    asked = parse_set_question(question)
    if asked is None or (asked.kind == "most" and not has_model):
        return frozenset()
    # The heading of a chunk may have what its sentences leave out, as in "Visits to schools".
    texts = (f"{one.prefix}\n{one.text}" for one in outcome.ranked.rows.values())
    is_covered = asked.is_covered(texts) or any(_is_listed(asked, one) for one in candidates)
    return frozenset([asked.noun]) if is_covered else frozenset()


def describe_table(candidate: Candidate) -> str:
    """Return the heading of a candidate's passage, and the caption and column headers of its table.

    The text is empty if the candidate has no table.
    """
    if candidate.table is None:
        return ""
    # In a table without figures, no row is recognized as a header.
    headers = (cell.text for row in candidate.table.headers or candidate.table.body[:1] for cell in row.cells)
    return "\n".join((candidate.passage.heading, *candidate.table.caption, *headers))


def add_other_rows(outcome: SearchOutcome, candidate: Candidate) -> Candidate:
    """Return a candidate with all rows of its table if the question asks for all of them.

    A table with more than `MAX_ROWS` rows is not completed.
    """
    asked, table = parse_set_question(outcome.result.question), candidate.table
    if asked is None or table is None or outcome.places or not _is_listed(asked, candidate):
        return candidate
    places = {
        Quote(min(one.start for one in cells), max(one.end for one in cells)): row
        for row in table.body
        if (cells := [cell for cell in row.cells if cell.spans]) and not row.is_section
    }
    if len(places) > MAX_ROWS:
        return candidate
    unit, own = candidate.quotes[: -len(candidate.rows)], candidate.quotes[-len(candidate.rows) :]
    known = {quote.start: quote for quote in own}
    quotes = tuple(known.get(one.start, one) for one in places)
    return replace(candidate, quotes=(*unit, *quotes), rows=tuple(places.values()))


def _is_listed(asked: SetQuestion, candidate: Candidate) -> bool:
    """Return whether the table of a candidate lists the things that a question asks for."""
    table = candidate.table
    if table is None or len(table.rows) < 3 or asked.noun not in asked.topic or asked.kind == "most":
        return False
    return asked.topic <= find_content_stems(describe_table(candidate))


def introduce_excerpts(outcome: SearchOutcome, shown: int, best: Candidate, text: str) -> str:
    """Return the line above excerpts, which says if they are probably only a part of the answer.

    ``shown`` is the number of excerpts that are shown, and ``text`` the text of the ``best`` excerpt.
    """
    asked = parse_set_question(outcome.result.question)
    if asked is not None and best.table is not None:
        is_part = _is_listed(asked, best) and len(best.rows) < sum(not row.is_section for row in best.table.body)
        return INCOMPLETE if is_part else INTRODUCTION
    if asked is None or asked.is_stated(text):
        return INTRODUCTION
    number = len(_find_related(asked, outcome))
    if number > shown:
        return SOME_OF.format(shown=shown, number=number)
    return INTRODUCTION if asked.kind == "count" else INCOMPLETE


def describe_unread(outcome: SearchOutcome, sources: Sequence[Passage]) -> str:
    """Return a notice if the model did not read all pages that may answer a question for all things of a kind.

    The text is empty if the model read them all, or for other questions.
    """
    asked = parse_set_question(outcome.result.question)
    if asked is None:
        return ""
    pages = {(row.version_id, row.page_index) for row in _find_related(asked, outcome)}
    read = pages & {one.page_key for one in sources}
    return UNREAD.format(read=len(read), number=len(pages)) if len(read) < len(pages) else ""


def _find_related(asked: SetQuestion, outcome: SearchOutcome) -> list[ChunkRow]:
    """Return the chunks of a ranking that are about the things that a question asks for."""
    rows = outcome.ranked.rows.values()
    return [row for row in rows if asked.is_related(f"{row.prefix}\n{row.text}")]
