"""Summarize documents without a language model: key sentences, each cited."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence

import numpy as np

from rag_core.answering.answer_builder import WrittenSummary
from rag_core.answering.cited_sentences import CitedText, Sentence, SentenceReader
from rag_core.answering.named_documents import NamedDocuments
from rag_core.answering.places.restriction import list_rows
from rag_core.llm.context_budget import spread_evenly
from rag_core.reading.key_sentences import rank_sentences, select_sentences
from rag_core.reading.summary_requests import is_kind_of_document, parse_summary_request
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.stores import Stores
from rag_core.types.answers import Citation, Stage
from rag_core.types.conversations import Message
from rag_core.types.documents import DocumentInfo
from rag_core.types.formatting import format_count
from rag_core.types.places import Place
from rag_core.types.retrieval import Gate, Passage, SearchResult
from rag_core.types.searches import Query
from rag_core.verification.verified_answer import VerifiedAnswer

# The name of the score of a summary's gate: the share of the model's statements that the cited passages support.
SUPPORTED_SCORE = "supported"
# The threshold of this score. A summary of which the model makes up more than half is not reliable.
MIN_SUPPORTED = 0.5
# Maximum number of documents of a summary.
MAX_DOCUMENTS = 12
# Maximum number of chunks of a document that are read, evenly spread over the document.
MAX_CHUNKS = 80
# Maximum number of words for the key sentences of one document, by the number of documents in the summary.
_WORDS = {1: 110, 2: 65, 3: 50}
# The same maximum if there are more documents.
_WORDS_EACH = 32
# Factor for the rank of sentences on the first page, which states what a document is about.
_FIRST_PAGE_WEIGHT = 1.3
# Yields progress, and returns the summary, if there is one.
ExtractiveSteps = Generator[Stage, None, WrittenSummary | None]


class ExtractiveSummarizer:
    """Summarizes documents with sentences from them.

    Parameters
    ----------
    stores : Stores
    generations : IndexGenerations
    """

    def __init__(self, stores: Stores, generations: IndexGenerations) -> None:
        self._stores = stores
        self._sentences = SentenceReader(stores, generations)

    def summarize(self, query: Query, history: Sequence[Message]) -> ExtractiveSteps:
        """Yield a stage for each document; return the summary, or an explanation why there is none.

        Return ``None`` if the question is to be answered by a search instead:

        - It asks for no summary, and the strategy is not ``summary``.
        - It asks for a summary of a topic.
        - No document is in scope.
        - It names places without whole sentences.
        - The documents have no whole sentences, and the strategy is ``summary``.
        """
        words = parse_summary_request(query.text)
        if words is None and query.configuration.strategy != "summary":
            return None
        if query.places is not None:
            return (yield from self._summarize_places(query, query.places.places[:MAX_DOCUMENTS]))
        documents = self._select_documents(words or [], query, history)
        if not documents:
            return None
        if len(documents) > MAX_DOCUMENTS:
            text = (
                f"{len(documents):,} documents are in scope, and a summary covers up to {MAX_DOCUMENTS}. Choose the "
                f"documents beside the input, or name one, as in “Summarise {documents[0].name}”."
            )
            return WrittenSummary(_build_result(query, [], answerable=False), VerifiedAnswer(text, refused=True))
        summary = CitedText()
        for document in documents:
            label = f"Reading {document.name}"
            yield Stage(document.document_id, label)
            rows = self._stores.documents.chunk_rows(document.version_id)
            [numbers] = spread_evenly([len(rows)], MAX_CHUNKS)
            sentences = self._sentences.read_whole([rows[number] for number in numbers])
            summary.begin(f"{document.name} ({format_count(document.pages, 'page')})")
            _add_sentences(summary, sentences, len(documents), first_page=0)
            yield Stage(document.document_id, label, done=True)
        if summary.citations:
            return WrittenSummary(_build_result(query, summary.passages, answerable=True), summary.build())
        if query.configuration.strategy == "summary":
            return None
        names = ", ".join(one.name for one in documents)
        text = f"No whole sentences were found in {names}, of which a summary without a language model consists."
        return WrittenSummary(_build_result(query, [], answerable=False), VerifiedAnswer(text, refused=True))

    def _select_documents(self, words: Sequence[str], query: Query, history: Sequence[Message]) -> list[DocumentInfo]:
        """Return the documents to summarize, given the words of a request after "summarize".

        The list is empty if the words name a topic and no documents. Without a name, a request means all documents in
        scope. If the scope is not limited, "this" and "it" mean those that the last answer cites, if any.
        """
        known = NamedDocuments(self._stores, query.documents, as_of=query.as_of)
        if named := known.find_by_file_name(query.text) or known.find_by_title_words(words):
            return named
        if any(not is_kind_of_document(one) and not one.isdigit() for one in words):
            return []
        if query.documents is None and re.search(r"\b(?:this|it)\b", query.text, re.IGNORECASE):
            cited = {one.document_id for one in _find_last_citations(history)}
            return [one for one in known.documents if one.document_id in cited] or known.documents
        return known.documents

    def _summarize_places(self, query: Query, places: Sequence[Place]) -> ExtractiveSteps:
        """Return the key sentences of places; ``None`` if they contain no whole sentences, so that they are quoted."""
        summary = CitedText()
        for place in places:
            label = f"Reading {place.title}"
            yield Stage(place.title, label)
            sentences = [
                one
                for one in self._sentences.read_whole(list_rows(place, self._stores)[:MAX_CHUNKS])
                if place.overlaps(one.row.version_id, one.row.page_index, *one.page_span)
            ]
            if sentences:
                summary.begin(place.title)
                _add_sentences(summary, sentences, len(places), first_page=min(place.spans))
            yield Stage(place.title, label, done=True)
        if not summary.citations:
            return None
        return WrittenSummary(_build_result(query, summary.passages, answerable=True), summary.build())


def _add_sentences(summary: CitedText, sentences: Sequence[Sentence], number: int, *, first_page: int) -> None:
    """Add the key sentences of a document or place; ``number`` is the number of documents or places in the summary."""
    if not sentences:
        summary.text += "No whole sentences were found in it."
        return
    vectors = np.stack([one.vector for one in sentences])
    weights = [_FIRST_PAGE_WEIGHT if one.row.page_index == first_page else 1.0 for one in sentences]
    ranks = rank_sentences(vectors) * np.array(weights, np.float32)
    words = [len(one.text.split()) for one in sentences]
    for position in select_sentences(vectors, ranks, words, _WORDS.get(number, _WORDS_EACH)):
        one = sentences[position]
        summary.add(one.row, one.start, one.end)


def _find_last_citations(history: Sequence[Message]) -> Sequence[Citation]:
    """Return the citations of the last answer; only the first if it consists of excerpts from different places."""
    answers = [message.answer for message in history if message.answer is not None]
    if not answers:
        return ()
    return answers[-1].citations[:1] if answers[-1].consists_of_excerpts else answers[-1].citations


def _build_result(query: Query, passages: Sequence[Passage], *, answerable: bool) -> SearchResult:
    gate = Gate(SUPPORTED_SCORE, float(answerable), MIN_SUPPORTED, answerable)
    return SearchResult(query.text, tuple(passages), gate, {}, as_of=query.as_of_label)
