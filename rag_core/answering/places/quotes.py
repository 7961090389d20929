"""Quote the text of the places that a question names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_core.answering.cited_sentences import CitedText
from rag_core.answering.excerpt_answers import write_rows
from rag_core.answering.places.restriction import has_text_of, list_rows
from rag_core.answering.sources.excerpts import MAX_ROWS, MAX_WORDS
from rag_core.answering.sources.selection import SHOWN
from rag_core.runtime.stores import Stores
from rag_core.text.sections import remove_spans
from rag_core.text.sentences import find_sentence_spans
from rag_core.text.words import count_words
from rag_core.types.answers import Citation
from rag_core.types.formatting import format_count
from rag_core.types.places import NamedPlaces, Place
from rag_core.types.retrieval import Passage
from rag_core.types.tables import Span, Table
from rag_core.verification.verified_answer import VerifiedAnswer

# A part of a page: the index of the page, the span, and the table if the part is a table; otherwise it is sentences.
_Part = tuple[int, Span, Table | None]


def quote_places(named: NamedPlaces, stores: Stores) -> tuple[VerifiedAnswer, tuple[Passage, ...]]:
    """Return the beginnings of places, each below the name of the place, and the passages that contain them.

    Of a single place, `SHOWN` parts are quoted; of several places, one part of each. Of more than `SHOWN` places, only
    the first are quoted, and the first line names up to 12 documents that contain the places.
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
    """Add the first ``most`` parts of a place to an answer."""
    rows = list_rows(place, stores)
    keys = [(place.version_id, page) for page in place.spans]
    contents, margins = stores.documents.page_contents(keys), stores.documents.page_texts(keys)
    parts = [
        part
        for key, span in zip(keys, place.spans.values(), strict=True)
        for left in remove_spans(span, margins[key][1])
        for part in _split(key[1], left, *contents[key])
    ]
    if not parts or not rows:
        answer.begin(f"{place.title} contains no text.")
        return
    shown = parts[:most]
    is_cut = len(parts) > most or any(len(table.body) > MAX_ROWS for _, _, table in shown if table)
    answer.begin(f"{'The beginning of ' * is_cut}{place.title}:")
    for number, (page, span, table) in enumerate(shown):
        part = replace(place, spans={page: span})
        row = min(rows, key=lambda one: (not has_text_of(one, part), one.page_index != page))
        quote = contents[place.version_id, page][0][slice(*span)]
        passage = answer.find_passage(row)
        citation = replace(
            Citation.of(passage, 0, 0),
            page_index=page,
            page_label=place.page_labels[page],
            quote=quote,
            start=span[0],
            end=span[1],
        )
        answer.text += "\n\n" if number else ""
        if table:
            answer.text += write_rows(table, table.body[:MAX_ROWS]) + "\n\n"
            answer.cite(citation)
        else:
            answer.add_statement(" ".join(quote.split()), citation)


def _split(page: int, span: Span, text: str, tables: Sequence[Table]) -> Iterator[_Part]:
    """Yield the tables of a span of a page, and its sentences in parts of at most `MAX_WORDS` words."""
    position, last = span[0], min(span[1], len(text))
    for table in sorted(tables, key=lambda one: one.start):
        if position <= table.start < table.end <= last:
            yield from _split_prose(page, text, position, table.start)
            yield page, (table.start, table.end), table
            position = table.end
    yield from _split_prose(page, text, position, last)


def _split_prose(page: int, text: str, first: int, last: int) -> Iterator[_Part]:
    begun, words = first, 0
    sentences = [(first + start, first + end) for start, end in find_sentence_spans(text[first:last])]
    for place, (start, end) in enumerate(sentences):
        begun, words = (begun if words else start), words + count_words(text[start:end])
        following = sentences[place + 1] if place + 1 < len(sentences) else None
        if following is None or words + count_words(text[slice(*following)]) > MAX_WORDS:
            yield page, (begun, end), None
            words = 0
