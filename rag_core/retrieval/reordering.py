"""Reorder a ranking: documents that the question names first, and newer documents before older ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rag_core.retrieval.passage_weights import freshness
from rag_core.text.names import names_in_title
from rag_core.text.normalize import normalize
from rag_core.types.retrieval import NAMED, Ranking


def prefer_named_documents(
    ranking: Ranking, names: Sequence[str], documents: Mapping[int, str], texts: Mapping[int, str], kept: int = 0
) -> Ranking:
    """Order chunks that have to do with a document the question names before all that have not.

    Annual reports read alike: of all words in "where does Acme operate", only one tells the passage of another
    company from the right one. A document is named where one of its words begins or ends with a name
    (AMERICANEXPRESS_2022 for "American Express"); names that all documents found have, or none, tell nothing.
    A chunk of another document counts as well if its text has one of the names. Where any is moved, its score
    ``named`` says so: 1, or 0 for what comes last.

    Parameters
    ----------
    ranking : Ranking
    names : sequence of str
        In small letters, without accents.
    documents : mapping of chunk id to str
        What the chunk's document is called; a chunk without counts as any other document's.
    texts : mapping of chunk id to str
    kept : int
        Number of top chunks that keep their place, because lower-case words may not be names.
    """
    labels = set(documents.values())
    calls = {label: names_in_title(label, names) for label in labels}
    telling = [name for name in names if 0 < sum(name in own for own in calls.values()) < len(labels)]
    named = {label for label, own in calls.items() if not own.isdisjoint(telling)}

    def is_meant(chunk_id: int) -> bool:
        if documents.get(chunk_id) in named:
            return True
        text = normalize(texts.get(chunk_id, ""))
        return any(name in text for name in telling)

    scores = {chunk_id: float(is_meant(chunk_id)) for chunk_id in ranking.order} if telling else {}
    first, rest = ranking.order[:kept], ranking.order[kept:]
    order = (*first, *sorted(rest, key=lambda chunk_id: -scores.get(chunk_id, 0.0)))
    if order == ranking.order:
        return replace(ranking, scores={**ranking.scores, NAMED: {}})
    return Ranking(order, {**ranking.scores, NAMED: {chunk_id: scores[chunk_id] for chunk_id in order}})


def prefer_recent_documents(ranking: Ranking, score_name: str, ages_days: Mapping[int, float], decay: float) -> Ranking:
    """Order chunks by ``score + λ · freshness``; scores themselves stay as they are.

    See `passage_weights.freshness` for its source. Chunks without that score, which follow those with
    it, keep their places: scores of different names are never compared.

    Parameters
    ----------
    ranking : Ranking
    score_name : str
        The score that ordered it.
    ages_days : mapping of chunk id to float
        How long ago its document was added; a chunk that is not in it counts as infinitely old.
    decay : float
        λ, in units of the score: a new document's chunk overtakes an old one's that is up to so much
        better.
    """
    scores = ranking.scores[score_name]
    scored = [chunk_id for chunk_id in ranking.order if chunk_id in scores]
    fresh = freshness([ages_days.get(chunk_id, np.inf) for chunk_id in scored])
    adjusted = np.array([scores[chunk_id] for chunk_id in scored], np.float64) + decay * fresh
    order = [scored[position] for position in np.argsort(-adjusted, kind="stable")]
    return replace(ranking, order=tuple(dict.fromkeys([*order, *ranking.order])))
