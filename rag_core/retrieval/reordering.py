"""Reorder a ranking by document names, codes or dates in the question, or by the age of the documents."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rag_core.retrieval.passage_weights import compute_freshness
from rag_core.text.calendar_dates import states_date
from rag_core.text.identifiers import contains_identifier, find_identifiers
from rag_core.text.names import contains_document_name
from rag_core.text.normalize import normalize
from rag_core.types.chunks import ChunkRow
from rag_core.types.dates import AskedDates
from rag_core.types.retrieval import NAMED_SCORE, Ranking

# Maximum number of chunks that are moved because of a code or a date. A code in more chunks is that of a document.
MAX_IDENTIFIED = 5
_SEPARATORS = re.compile(r"[\W_]")


def prefer_named_documents(
    ranking: Ranking, names: Sequence[str], documents: Mapping[int, str], texts: Mapping[int, str], kept: int = 0
) -> Ranking:
    """Move chunks that match a document name in the question before all other chunks.

    The annual reports of two companies are similar. For the question "where does Acme operate", only the name "Acme"
    shows which report is meant.

    - A document matches a name if its label contains the name; see `contains_document_name`.
    - Names that match all documents of the ranking, or none, are ignored.
    - A chunk matches if its document matches one of the remaining names, or if its text contains one of them.
    - If the order changes, the score ``named`` is 1 for chunks that match and 0 for other chunks.

    Parameters
    ----------
    ranking : Ranking
    names : sequence of str
        The names in the question, in lower case, without accents.
    documents : mapping of chunk id to str
        Labels of the documents of the chunks. A chunk without a label can match only by its text.
    texts : mapping of chunk id to str
        Texts of the chunks.
    kept : int
        Number of top chunks that keep their ranks. Set it if ``names`` are words in lower case, which may be no names.
    """
    labels = set(documents.values())
    names_of = {label: {name for name in names if contains_document_name(label, name)} for label in labels}
    distinctive = [name for name in names if 0 < sum(name in matched for matched in names_of.values()) < len(labels)]
    named_labels = {label for label, matched in names_of.items() if not matched.isdisjoint(distinctive)}

    def is_named(chunk_id: int) -> bool:
        if documents.get(chunk_id) in named_labels:
            return True
        text = normalize(texts.get(chunk_id, ""))
        return any(name in text for name in distinctive)

    scores = {chunk_id: float(is_named(chunk_id)) for chunk_id in ranking.order} if distinctive else {}
    first, rest = ranking.order[:kept], ranking.order[kept:]
    order = (*first, *sorted(rest, key=lambda chunk_id: -scores.get(chunk_id, 0.0)))
    if order == ranking.order:
        return replace(ranking, scores={**ranking.scores, NAMED_SCORE: {}})
    return Ranking(order, {**ranking.scores, NAMED_SCORE: {chunk_id: scores[chunk_id] for chunk_id in order}})


def prefer_identified_chunks(
    ranking: Ranking, question: str, documents: Mapping[int, str], texts: Mapping[int, str]
) -> Ranking:
    """Move chunks that contain a code or long number of the question before all other chunks.

    The reranker cannot distinguish part numbers, whose token vectors are similar. Codes in the labels of documents,
    such as versions, are ignored. The ranking does not change if no chunk, or more than `MAX_IDENTIFIED` chunks,
    contain a code of the question. Otherwise, the score ``named`` of chunks with such a code is increased by 1.

    Parameters
    ----------
    ranking : Ranking
    question : str
    documents : mapping of chunk id to str
        Labels of the documents of the chunks.
    texts : mapping of chunk id to str
        Texts of the chunks.
    """
    labels = {_SEPARATORS.sub("", label).casefold() for label in set(documents.values())}
    identifiers = {one for one in find_identifiers(question) if not any(one in label for label in labels)}
    found = {one for one in ranking.order if identifiers and contains_identifier(texts.get(one, ""), identifiers)}
    if not 0 < len(found) <= MAX_IDENTIFIED:
        return ranking
    order = sorted(ranking.order, key=lambda chunk_id: chunk_id not in found)
    named = ranking.scores.get(NAMED_SCORE, {})
    scores = {chunk_id: named.get(chunk_id, 0.0) + (chunk_id in found) for chunk_id in order}
    return Ranking(tuple(order), {**ranking.scores, NAMED_SCORE: scores})


def prefer_dated_chunks(ranking: Ranking, dates: AskedDates, rows: Mapping[int, ChunkRow]) -> Ranking:
    """Move chunks whose text or title states a date of the question before all other chunks.

    The ranking does not change if no chunk, or more than `MAX_IDENTIFIED` chunks, state a date of the question.
    """
    found = {
        chunk_id
        for chunk_id in ranking.order
        if dates.dates
        and (row := rows.get(chunk_id))
        and any(
            states_date(dates.days_of(row.version_id), text, row.prefix_text) for text in (row.text, row.prefix_text)
        )
    }
    if not 0 < len(found) <= MAX_IDENTIFIED:
        return ranking
    return replace(ranking, order=tuple(sorted(ranking.order, key=lambda chunk_id: chunk_id not in found)))


def prefer_recent_documents(
    ranking: Ranking, score_name: str, ages_days: Mapping[int, float], freshness_weight: float
) -> Ranking:
    """Order chunks by ``score + λ · freshness`` (see `compute_freshness`). The scores do not change.

    Chunks without the score ``score_name`` come last, in their previous order.

    Parameters
    ----------
    ranking : Ranking
    score_name : str
        Name of the score that determines the order of the ranking.
    ages_days : mapping of chunk id to float
        Number of days since the document of each chunk was added. A chunk that is missing is infinitely old.
    freshness_weight : float
        The factor λ. A chunk of a new document can overtake a chunk of an old document whose score is higher by less
        than λ.
    """
    scores = ranking.scores[score_name]
    scored = [chunk_id for chunk_id in ranking.order if chunk_id in scores]
    fresh = compute_freshness([ages_days.get(chunk_id, np.inf) for chunk_id in scored])
    adjusted = np.array([scores[chunk_id] for chunk_id in scored], np.float64) + freshness_weight * fresh
    order = [scored[position] for position in np.argsort(-adjusted, kind="stable")]
    return replace(ranking, order=tuple(dict.fromkeys([*order, *ranking.order])))
