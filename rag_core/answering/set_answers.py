"""Say that an answer may be incomplete if its question asks for all things of a kind."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.reading.set_questions import SetQuestion, parse_set_question
from rag_core.text.place_requests import find_asked_kind, find_place_topic
from rag_core.text.words import find_content_stems
from rag_core.types.chunks import ChunkRow
from rag_core.types.retrieval import Passage
from rag_core.types.searches import SearchOutcome

INTRODUCTION = "These passages may answer your question."
INCOMPLETE = "These passages may answer your question; there may be more."
SOME_OF = "These are {shown} of {number} passages that may answer; there may be more."
UNREAD = "The model read {read} of {number} pages that may answer; there may be more."


def find_required_stems(outcome: SearchOutcome, *, has_model: bool) -> frozenset[str]:
    """Return the words that excerpts must contain if a question is answered whatever the score of the gate.

    The gate looks for a single passage that answers. Its score says little about a question for all of some things, or
    their number, if several passages are about them, and about one for the place of what a passage mentions. Only a
    model can compare the things to find the most of them. The set is empty for all other questions.
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
    return frozenset([asked.noun]) if asked.is_covered(texts) else frozenset()


def introduce_excerpts(outcome: SearchOutcome, shown: int, best: str) -> str:
    """Return the line above excerpts; it says so if they can hardly be everything that is asked for.

    ``best`` is the text of the best excerpt; it is empty if that consists of rows of a table.
    """
    asked = parse_set_question(outcome.result.question)
    if asked is None or not best or asked.is_stated(best):
        return INTRODUCTION
    number = len(_find_related(asked, outcome))
    if number > shown:
        return SOME_OF.format(shown=shown, number=number)
    return INTRODUCTION if asked.kind == "count" else INCOMPLETE


def describe_unread(outcome: SearchOutcome, sources: Sequence[Passage]) -> str:
    """Return a notice if a model did not read all pages that may answer a question for all of some things."""
    asked = parse_set_question(outcome.result.question)
    if asked is None:
        return ""
    pages = {(row.version_id, row.page_index) for row in _find_related(asked, outcome)}
    read = pages & {one.page_key for one in sources}
    return UNREAD.format(read=len(read), number=len(pages)) if len(read) < len(pages) else ""


def _find_related(asked: SetQuestion, outcome: SearchOutcome) -> list[ChunkRow]:
    rows = outcome.ranked.rows.values()
    return [row for row in rows if asked.is_related(f"{row.prefix}\n{row.text}")]
