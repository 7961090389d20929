"""Read the sentences of chunks with their vectors, and write texts of cited sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rag_core.answering.answer_builder import AnswerBuilder
from rag_core.reading.key_sentences import is_complete_sentence
from rag_core.retrieval.chunk_data import load_passage_tokens
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.stores import Stores
from rag_core.text.sentences import find_sentence_spans
from rag_core.types.answers import Citation
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import ChunkRow
from rag_core.types.retrieval import Passage
from rag_core.types.searches import PassageTokens
from rag_core.types.tables import Span


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a chunk.

    Attributes
    ----------
    row : ChunkRow
        The chunk.
    start, end : int
        Offsets of the sentence in the text of the chunk.
    tokens : FloatArray
        The vectors of the tokens of the sentence, shape (n, dimension), each of about unit length.
    vector : FloatArray
        The mean of ``tokens``, of unit length.
    """

    row: ChunkRow
    start: int
    end: int
    tokens: FloatArray
    vector: FloatArray

    @property
    def text(self) -> str:
        """The sentence without line breaks."""
        return " ".join(self.row.text[self.start : self.end].split())

    @property
    def page_span(self) -> Span:
        """Offsets of the sentence in the text of its page."""
        return self.row.start + self.start, self.row.start + self.end


class SentenceReader:
    """Reads sentences of chunks with the vectors of their tokens.

    Parameters
    ----------
    stores : Stores
    generations : IndexGenerations
    """

    def __init__(self, stores: Stores, generations: IndexGenerations) -> None:
        self._stores = stores
        self._generations = generations

    def read_whole(self, rows: Sequence[ChunkRow]) -> list[Sentence]:
        """Return the distinct complete sentences of chunks, without sentences in tables.

        Chunks without token vectors, and the text that a chunk has on its second page, are not read.
        """
        tokens = self._load_tokens(rows)
        tables = self._stores.documents.tables([(row.version_id, row.page_index) for row in rows])
        found: dict[str, Sentence] = {}
        for row in (one for one in rows if one.id in tokens):
            passage = build_passage(0, row, {})
            inside = [(one.start - row.start, one.end - row.start) for one in tables.get(passage.page_key, ())]
            for start, end in find_sentence_spans(passage.first_page_text):
                text = " ".join(row.text[start:end].split())
                if not is_complete_sentence(text) or text in found:
                    continue
                if any(first < end and start < last for first, last in inside):
                    continue
                if (sentence := _build_sentence(row, start, end, tokens[row.id])) is not None:
                    found[text] = sentence
        return list(found.values())

    def read_spans(self, spans: Iterable[tuple[ChunkRow, int, int]]) -> list[Sentence | None]:
        """Return the sentence of each span, a chunk and two offsets in its text; ``None`` without token vectors."""
        spans = list(spans)
        tokens = self._load_tokens(list({row.id: row for row, _, _ in spans}.values()))
        return [
            _build_sentence(row, start, end, tokens[row.id]) if row.id in tokens else None for row, start, end in spans
        ]

    def _load_tokens(self, rows: Sequence[ChunkRow]) -> Mapping[int, PassageTokens]:
        vectors = self._stores.embeddings.read_tokens([row.id for row in rows])
        return load_passage_tokens(rows, vectors, self._generations.active().embedder)


def _build_sentence(row: ChunkRow, start: int, end: int, tokens: PassageTokens) -> Sentence | None:
    covered = (tokens.offsets[:, 0] >= start) & (tokens.offsets[:, 1] <= end)
    if not covered.any():
        return None
    vectors = tokens.vectors.to_float()[covered]
    mean = vectors.mean(axis=0)
    return Sentence(row, start, end, vectors, mean / max(float(np.linalg.norm(mean)), 1e-6))


@dataclass(slots=True)
class CitedText(AnswerBuilder):
    """Builds a text of sentences from documents; ``passages`` are the passages that the text cites."""

    passages: list[Passage] = field(default_factory=list)

    def begin(self, title: str) -> None:
        """Begin a part of the text with a title."""
        self.text += f"\n\n{title}\n\n" if self.text else f"{title}\n\n"

    def begin_paragraph(self) -> None:
        """Begin a paragraph, unless the text is empty."""
        self.text += "\n\n" if self.text else ""

    def add(self, row: ChunkRow, start: int, end: int) -> None:
        """Add the text between two offsets of a chunk, with its citation."""
        self.add_claim(" ".join(row.text[start:end].split()), [(row, start, end)])

    def add_claim(self, text: str, spans: Iterable[tuple[ChunkRow, int, int]]) -> None:
        """Add a statement, with a citation of each span that supports it: a chunk and two offsets in its text."""
        self.text += "" if not self.text or self.text.endswith("\n") else " "
        self.add_statement(text)
        for row, start, end in spans:
            self.cite(Citation.of(self.find_passage(row), start, end))

    def find_passage(self, row: ChunkRow) -> Passage:
        """Return the passage of a chunk from ``passages``; add the passage if it is missing there."""
        passage = next((one for one in self.passages if one.chunk_id == str(row.id)), None)
        if passage is None:
            passage = build_passage(len(self.passages) + 1, row, {})
            self.passages.append(passage)
        return passage
