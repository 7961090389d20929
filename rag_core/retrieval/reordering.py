"""Reorder a ranking by the document names in the question, and by the age of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rag_core.retrieval.passage_weights import freshness
from rag_core.text.names import find_names_in_title
from rag_core.text.normalize import normalize
from rag_core.types.retrieval import NAMED_SCORE, Ranking


def prefer_named_documents(
    ranking: Ranking, names: Sequence[str], documents: Mapping[int, str], texts: Mapping[int, str], kept: int = 0
) -> Ranking:
    """Move chunks that match a document name in the question before all others.

    The annual reports of two companies are similar: in "where does Acme operate", only the name tells them apart.
    A document matches a name if one of the words of its label starts or ends with it (AMERICANEXPRESS_2022 for
    "American Express"). Names that match all documents of the ranking, or none, are ignored. A chunk of another
    document matches if its text contains one of the names. If the order changes, the score ``named`` is 1 for matching
    chunks and 0 for others.

    Parameters
    ----------
    ranking : Ranking
    names : sequence of str
        In lower case, without accents.
    documents : mapping of chunk id to str
        Labels of the chunks' documents; a chunk without one matches by its text only.
    texts : mapping of chunk id to str
    kept : int
        Number of top chunks that keep their ranks; used for lower-case words, which may not be names.
    """
    labels = set(documents.values())
    names_of = {label: find_names_in_title(label, names) for label in labels}
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


def prefer_recent_documents(ranking: Ranking, score_name: str, ages_days: Mapping[int, float], decay: float) -> Ranking:
    """Order chunks by ``score + λ · freshness``; the scores do not change.

    See `passage_weights.freshness` for the source. Chunks without that score keep their places after the others,
    since different scores are not comparable.

    Parameters
    ----------
    ranking : Ranking
    score_name : str
        The score that orders the ranking.
    ages_days : mapping of chunk id to float
        Days since the chunk's document was added; a missing chunk counts as infinitely old.
    decay : float
        λ, in units of the score: the largest difference in score that a new document can make up for.
    """
    scores = ranking.scores[score_name]
    scored = [chunk_id for chunk_id in ranking.order if chunk_id in scores]
    fresh = freshness([ages_days.get(chunk_id, np.inf) for chunk_id in scored])
    adjusted = np.array([scores[chunk_id] for chunk_id in scored], np.float64) + decay * fresh
    order = [scored[position] for position in np.argsort(-adjusted, kind="stable")]
    return replace(ranking, order=tuple(dict.fromkeys([*order, *ranking.order])))
