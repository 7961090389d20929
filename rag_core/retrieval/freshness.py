"""Newer documents first, where passages are about equally good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rag_core.retrieval.passage_weights import freshness
from rag_core.types.retrieval import Ranking


def fresher_first(ranking: Ranking, score_name: str, ages_days: Mapping[int, float], decay: float) -> Ranking:
    """Order chunks by ``score + λ · freshness``; scores themselves stay as they are.

    See `weights.freshness` for where it comes from. Chunks without that score, which follow those with
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
