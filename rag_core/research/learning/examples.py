"""Training examples of the query adapter, from labelled questions and from pseudo-questions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag_core.answering.search import Searcher
from rag_core.research.learning.alignment import align_tokens
from rag_core.research.learning.answer_spans import ScoreSpan, find_answer_spans, score_passage
from rag_core.research.learning.inverse_cloze import PseudoQuestion
from rag_core.research.learning.objective import MappedExample
from rag_core.retrieval.late_interaction import select_compared_tokens
from rag_core.runtime.index_generations import IndexGeneration
from rag_core.runtime.stores import Stores
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import ChunkRow, ChunkVectors, build_embedded_text
from rag_core.types.conversations import Scope
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import RetrievalConfig, Timer
from rag_core.types.searches import RankedChunks

# Number of hard negatives from each of two rankings: the word search (Karpukhin et al. 2020) and the reranked order
# (Xiong et al., "Approximate nearest neighbor negative contrastive learning for dense text retrieval", ICLR 2021).
HARD_NEGATIVES = 16
# Number of other questions whose relevant passages are negatives too.
OTHER_QUESTIONS = 12
# Number of the best passages of each retriever over which the answer is marginalized.
MARGINAL_PASSAGES = 20
# If a label names no page: most passages with the answer that count as relevant, among the `GUIDED_DEPTH` best ones.
GUIDED_PASSAGES, GUIDED_DEPTH = 3, 20
# The search for training passages, which fuses word search and dense retrieval and reranks the result.
_RANKING = RetrievalConfig("rerank", adapter=False)


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question with the pages that answer it.

    Attributes
    ----------
    document_id : str
        The document of the first relevant page. All questions of a document belong to the same fold.
    relevant : frozenset of PageKey
    is_guided : bool
        Whether the label names no page; then the pages of passages that contain the answer are the relevant ones.
    """

    text: str
    answers: tuple[str, ...]
    document_id: str
    relevant: frozenset[PageKey]
    is_guided: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A question and its candidates, for the fit of the matrices for dense vectors and for token vectors.

    Attributes
    ----------
    document_id : str
        The document of the question.
    documents : tuple of str
        The document of each candidate.
    dense : MappedExample
    tokens : MappedExample or None
        ``None`` if the embedder computes no token vectors.
    """

    document_id: str
    documents: tuple[str, ...]
    dense: MappedExample
    tokens: MappedExample | None

    def without(self, documents: Collection[str]) -> Example | None:
        """Return the example without candidates of these documents.

        Return ``None`` if no candidate with the answer is left, or if the question is about one of these documents.
        """
        kept = np.array([one not in documents for one in self.documents])
        if self.document_id in documents or not np.isfinite(self.dense.log_likelihood[kept]).any():
            return None
        tokens = None if self.tokens is None else _select_candidates(self.tokens, kept)
        left = tuple(one for one in self.documents if one not in documents)
        return replace(self, documents=left, dense=_select_candidates(self.dense, kept), tokens=tokens)


class ExampleBuilder:
    """Searches for the candidates of questions, and builds training examples from the candidates.

    Parameters
    ----------
    stores : Stores
    searcher : Searcher
    generation : IndexGeneration
        The active generation of the index.
    score_span : callable
        The reader, which computes probabilities for the marginal likelihood.
    """

    def __init__(self, stores: Stores, searcher: Searcher, generation: IndexGeneration, score_span: ScoreSpan) -> None:
        self._stores = stores
        self._searcher = searcher
        self._generation = generation
        self._score_span = score_span

    def find_guided_question(self, text: str, answers: Sequence[str]) -> TrainingQuestion | None:
        """Return a question whose relevant pages are those of the best passages that contain an answer.

        Return ``None`` if none of the `GUIDED_DEPTH` best passages contains an answer.

        This is relevance-guided supervision (Khattab, Potts and Zaharia, "Relevance-guided supervision for OpenQA with
        ColBERT", TACL 2021).
        """
        ranked = self._rank(text)
        best = [ranked.rows[one] for one in ranked.ranking.order[:GUIDED_DEPTH] if one in ranked.rows]
        found = [row for row in best if find_answer_spans(row.text, answers)][:GUIDED_PASSAGES]
        if not found:
            return None
        pages = frozenset(key for row in found for key in list_page_keys(row))
        return TrainingQuestion(text, tuple(answers), found[0].document_id, pages, is_guided=True)

    def build_contrastive(self, questions: Sequence[TrainingQuestion]) -> Iterator[Example | None]:
        """Yield an example for each question: passages of the relevant pages, and negatives from other pages.

        The negatives are the best passages by BM25, the best passages of the reranked order, and relevant passages of
        other questions, drawn at random. Yield ``None`` for a question if no passage of its relevant pages has an
        embedding.
        """
        relevant = [self._find_relevant_chunks(one) for one in questions]
        random = np.random.default_rng(0)
        for question, rows in zip(questions, relevant, strict=True):
            others = random.choice(len(questions), min(OTHER_QUESTIONS, len(questions)), replace=False)
            ranked = self._rank(question.text)
            negatives = [*_find_hard_negatives(ranked), *(row for other in others for row in relevant[other])]
            negatives = [row for row in negatives if question.relevant.isdisjoint(list_page_keys(row))]
            yield self._build_example(question.document_id, ranked, rows, negatives)

    def build_marginal(self, questions: Sequence[TrainingQuestion]) -> Iterator[Example | None]:
        """Yield an example for each question: its best passages, with the reader's probability of the answer in each.

        Yield ``None`` for a question if no passage contains the answer. The relevant pages are not used.
        """
        for question in questions:
            ranked = self._rank(question.text)
            dense, words = (list(ranked.ranking.scores[name]) for name in ("dense", "bm25"))
            ids = dict.fromkeys([*dense[:MARGINAL_PASSAGES], *words[:MARGINAL_PASSAGES]])
            rows = [ranked.rows[one] for one in ids if one in ranked.rows]
            scores = {
                row.id: score_passage(question.text, row.text, question.answers, self._score_span) for row in rows
            }
            found = max(scores, key=lambda one: scores[one], default=None)
            if found is None or scores[found] == -math.inf:
                yield None
                continue
            yield self._build_example(ranked.rows[found].document_id, ranked, rows, (), scores)

    def build_inverse_cloze(self, questions: Sequence[PseudoQuestion]) -> Iterator[Example | None]:
        """Yield an example for each pseudo-question: its passage without the sentence, and negatives.

        Yield ``None`` for a question if its sentence is the whole passage.
        """
        random = np.random.default_rng(0)
        for question in questions:
            rest = question.passage_without_sentence
            if not rest:
                yield None
                continue
            others = random.choice(len(questions), min(OTHER_QUESTIONS, len(questions)), replace=False)
            ranked = self._rank(question.question)
            negatives = [*_find_hard_negatives(ranked), *(questions[other].row for other in others)]
            pages = set(list_page_keys(question.row))
            negatives = [row for row in negatives if pages.isdisjoint(list_page_keys(row))]
            (embedding,) = self._generation.embedder.embed([build_embedded_text(question.row.prefix, rest)])
            vectors = ChunkVectors(embedding.tokens, embedding.scales, np.zeros(1, np.int32))
            passage = question.row.id, embedding.dense, vectors
            yield self._build_example(question.row.document_id, ranked, [question.row], negatives, replaced=passage)

    def _rank(self, text: str) -> RankedChunks:
        return self._searcher.rank(self._searcher.build_query(text, Scope(), configuration=_RANKING), Timer())

    def _find_relevant_chunks(self, question: TrainingQuestion) -> list[ChunkRow]:
        """Return the chunks on the relevant pages that contain an answer or, if there are none, all on these pages."""
        documents = self._stores.documents
        versions = {
            one.document_id: one.version_id
            for one in documents.documents(sorted({document_id for document_id, _ in question.relevant}))
        }
        rows = {
            row.id: row
            for document_id, page in sorted(question.relevant)
            if document_id in versions
            for row in documents.chunk_rows(versions[document_id], page)
        }
        with_answer = [row for row in rows.values() if find_answer_spans(row.text, question.answers)]
        return with_answer or list(rows.values())

    def _build_example(
        self,
        document_id: str,
        ranked: RankedChunks,
        relevant: Sequence[ChunkRow],
        negatives: Sequence[ChunkRow],
        log_likelihood: dict[int, float] | None = None,
        replaced: tuple[int, FloatArray, ChunkVectors] | None = None,
    ) -> Example | None:
        """Return an example; ``None`` if no relevant chunk has an embedding.

        ``log_likelihood`` maps chunk ids to the logarithm of the probability of the answer; default: 0 for relevant
        chunks. ``replaced`` contains the id of a chunk, and the dense vector and the token vectors to use instead of
        the stored vectors.
        """
        rows = {row.id: row for row in (*relevant, *negatives)}
        dense = self._stores.embeddings.read_dense_of_chunks(list(rows))
        tokens = dict(self._stores.embeddings.read_tokens(list(rows)))
        if replaced is not None:
            dense[replaced[0]], tokens[replaced[0]] = replaced[1:]
        ids = [one for one in rows if one in dense]
        likelihoods = dict.fromkeys((row.id for row in relevant), 0.0) if log_likelihood is None else log_likelihood
        values = np.array([likelihoods.get(one, -math.inf) for one in ids], np.float32)
        if not np.isfinite(values).any():
            return None
        question = ranked.question
        mapped = MappedExample(question.dense[np.newaxis], np.stack([dense[one] for one in ids])[:, np.newaxis], values)
        aligned = None
        if len(question.tokens) and all(len(tokens[one].scales) for one in ids):
            places = select_compared_tokens(ranked.token_weights)
            compared, weights = question.tokens[places], ranked.token_weights[places]
            targets = np.stack([align_tokens(compared, tokens[one], weights) for one in ids])
            aligned = MappedExample(compared, targets, values)
        return Example(document_id, tuple(rows[one].document_id for one in ids), mapped, aligned)


def list_page_keys(row: ChunkRow) -> list[PageKey]:
    """Return the pages of a chunk, as (document id, page_index)."""
    return [(row.document_id, page) for page in row.page_indices]


def _find_hard_negatives(ranked: RankedChunks) -> list[ChunkRow]:
    words, order = list(ranked.ranking.scores["bm25"]), ranked.ranking.order
    ids = dict.fromkeys([*words[:HARD_NEGATIVES], *order[:HARD_NEGATIVES]])
    return [ranked.rows[one] for one in ids if one in ranked.rows]


def _select_candidates(example: MappedExample, kept: np.ndarray) -> MappedExample:
    return replace(example, targets=example.targets[kept], log_likelihood=example.log_likelihood[kept])
