"""Rank chunks for a question with abbreviations: each chunk for the form of the abbreviation that it contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_core.answering.question_mapping import apply_adapter
from rag_core.retrieval.chunk_data import ChunkLoader
from rag_core.retrieval.late_interaction import compute_token_weights, rerank_chunks
from rag_core.text.abbreviations import choose_forms
from rag_core.text.words import STOP_WORDS
from rag_core.types.arrays import FloatArray
from rag_core.types.protocols import InverseDocumentFrequency, QuestionEmbedder
from rag_core.types.retrieval import Hit, Question
from rag_core.types.searches import Query


class QuestionForms:
    """A question, and the same question with other forms of its abbreviations.

    Parameters
    ----------
    query : Query
    forms : mapping of str to sequence of str
        The other forms of each abbreviation, such as its long form, by the form in the question.
    embedder : QuestionEmbedder
    idf : callable
        Returns the inverse document frequency of a word.

    Attributes
    ----------
    chosen : dict of int to (Question, FloatArray)
        By chunk id, the question with the form that the chunk contains, and the weights of its tokens. Chunks with the
        form of the question itself are left out.
    """

    def __init__(
        self,
        query: Query,
        forms: Mapping[str, Sequence[str]],
        embedder: QuestionEmbedder,
        idf: InverseDocumentFrequency,
    ) -> None:
        self.chosen: dict[int, tuple[Question, FloatArray]] = {}
        self._query = query
        self._forms = forms
        self._embedder = embedder
        self._idf = idf
        self._embedded: dict[str, tuple[Question, FloatArray]] = {}

    def embed(self, text: str) -> tuple[Question, FloatArray]:
        """Embed a form of the question, or a hypothetical answer, once; return it and the weights of its tokens."""
        if text not in self._embedded:
            question = self._embedder.embed_question(text)
            self._embedded[text] = question, compute_token_weights(question, self._idf, STOP_WORDS)
        return self._embedded[text]

    def rerank(self, loader: ChunkLoader, chunk_ids: Sequence[int]) -> list[Hit]:
        """Return the hits of late interaction, best first, and add forms to ``chosen``.

        Each chunk is compared with the form of the question that it contains.
        """
        asked = dict.fromkeys(chunk_ids, self._query.text)
        if self._forms:
            for chunk_id, row in loader.rows(chunk_ids).items():
                asked[chunk_id] = choose_forms(self._query.text, row.embedded_text, self._forms)
        hits: list[Hit] = []
        for text in dict.fromkeys(asked.values()):
            among = [chunk_id for chunk_id in chunk_ids if asked[chunk_id] == text]
            question, weights = self.embed(text)
            hits += rerank_chunks(apply_adapter(self._query, question, self._embedder), weights, loader.vectors, among)
            if text != self._query.text:
                self.chosen |= dict.fromkeys(among, (question, weights))
        return sorted(hits, key=lambda hit: -hit.score)
