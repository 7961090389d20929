"""Quote the text of the places that a question names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.cited_sentences import CitedText
from rag_core.answering.excerpt_answers import write_rows
from rag_core.answering.places.restriction import list_rows
from rag_core.answering.sources.excerpts import MAX_ROWS, MAX_WORDS
from rag_core.answering.sources.selection import SHOWN
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.stores import Stores
from rag_core.text.sections import remove_spans
from rag_core.text.sentences import find_sentence_spans
from rag_core.types.answers import Citation
from rag_core.types.chunks import ChunkRow
from rag_core.types.formatting import format_count
from rag_core.types.places import NamedPlaces, Place
from rag_core.types.retrieval import Passage
from rag_core.types.tables import Span, Table
from rag_core.verification.verified_answer import VerifiedAnswer


@dataclass(frozen=True, slots=True)
class _Part:
    """Some sentences of a place, or the first rows of a table."""

    page: int
    start: int
    end: int
    table: Table | None = None
    is_cut: bool = False


def quote_places(named: NamedPlaces, stores: Stores) -> tuple[VerifiedAnswer, tuple[Passage, ...]]:
    """Return the beginning of the text of places, each below its name, and the passages that contain it.

    If there are several places, each has one part; if there are more than are shown, the first line names their
    documents.
    """
    answer = CitedText()
    places = named.places
    if len(places) > SHOWN:
        documents = dict.fromkeys(one.document for one in places)
        listed = ", ".join(list(documents)[:12])
        answer.text = (
            f"{len(places)} places have this name, in {format_count(len(documents), 'document')} ({listed}). The first "
            f"{SHOWN} are shown; name a document to read another."
        )
    for place in places[:SHOWN]:
        _quote_place(answer, place, SHOWN if len(places) == 1 else 1, stores)
    return answer.build(), tuple(answer.passages)


def _quote_place(answer: CitedText, place: Place, most: int, stores: Stores) -> None:
    rows = list_rows(place, stores)
    keys = [(place.version_id, page) for page in place.spans]
    contents, margins = stores.documents.page_contents(keys), stores.documents.page_texts(keys)
    parts = [
        part
        for page, span in place.spans.items()
        for left in remove_spans(span, margins[place.version_id, page][1])
        for part in _split(page, left, *contents[place.version_id, page])
    ]
    shown = parts[:most]
    if not shown or not rows:
        answer.begin(f"{place.title} contains no text.")
        return
    is_cut = len(parts) > len(shown) or any(one.is_cut for one in shown)
    answer.begin(f"{'The beginning of ' * is_cut}{place.title}:")
    for number, part in enumerate(shown):
        text = contents[place.version_id, part.page][0]
        citation = _cite(answer, part, text, rows)
        if number:
            answer.text += "\n\n"
        if part.table is None:
            answer.add_statement(" ".join(citation.quote.split()), citation)
        else:
            first = part.table.header_rows
            answer.text += write_rows(part.table, part.table.rows[first : first + MAX_ROWS]) + "\n\n"
            answer.cite(citation)


def _split(page: int, span: Span, text: str, tables: Sequence[Table]) -> Iterator[_Part]:
    """Yield parts of a span of a page that have the usual size of excerpts, and tables."""
    position, last = span[0], min(span[1], len(text))
    for table in sorted(tables, key=lambda one: one.start):
        if position <= table.start < table.end <= last:
            yield from _split_prose(page, text, position, table.start)
            yield _Part(page, table.start, table.end, table, len(table.rows) - table.header_rows > MAX_ROWS)
            position = table.end
    yield from _split_prose(page, text, position, last)


def _split_prose(page: int, text: str, first: int, last: int) -> Iterator[_Part]:
    begun, end, words = -1, -1, 0
    for start, stop in find_sentence_spans(text[first:last]):
        count = len(text[first + start : first + stop].split())
        if begun >= 0 and words + count > MAX_WORDS:
            yield _Part(page, begun, end)
            begun, words = -1, 0
        begun = first + start if begun < 0 else begun
        end, words = first + stop, words + count
    if begun >= 0:
        yield _Part(page, begun, end)


def _cite(answer: CitedText, part: _Part, text: str, rows: list[ChunkRow]) -> Citation:
    """Return the citation of a part, with the number of the passage that contains most of it."""

    def measure_overlap(row: ChunkRow) -> int:
        passage = build_passage(0, row, {})
        if passage.page_index != part.page:
            return -1
        return min(row.start + len(passage.first_page_text), part.end) - max(row.start, part.start)

    passage = answer.find_passage(max(rows, key=measure_overlap))
    return replace(
        Citation.of(passage, 0, 0),
        page_index=part.page,
        quote=text[part.start : part.end],
        start=part.start,
        end=part.end,
    )
