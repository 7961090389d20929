"""Cross-validation of the query adapter over documents, and the decision whether to use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from rag_core.answering.search import Searcher
from rag_core.embedding.query_adapter import QueryAdapter
from rag_core.evaluation.intervals import compute_mean_interval, compute_paired_difference
from rag_core.evaluation.ranking_metrics import compute_ranking_metrics, list_found_pages, list_ranked_pages
from rag_core.research.learning.examples import Example, TrainingQuestion
from rag_core.research.learning.fitting import FitConfig, fit_matrix
from rag_core.types.conversations import Scope
from rag_core.types.documents import PageKey
from rag_core.types.learning import HeldOutFigure
from rag_core.types.protocols import ModelIdentity
from rag_core.types.retrieval import RetrievalConfig, Timer

# Number of groups of documents in the cross-validation, and number of groups into which the training documents are
# divided, so that one group is used for validation.
FOLDS, VALIDATION_FOLDS = 5, 5
# Number of passages in a ranking that is measured.
DEPTH = 100
STAGES: tuple[Literal["dense", "pipeline"], ...] = ("dense", "pipeline")
METRICS = ("recall@1", "mrr@10")
_FIT = FitConfig()

# The ranked pages of each stage for a question, best first, by the name of the stage.
Rankings = Mapping[str, list[PageKey]]


def split_documents(document_ids: Sequence[str], folds: int) -> list[frozenset[str]]:
    """Divide documents into groups with about equal numbers of questions.

    Parameters
    ----------
    document_ids : sequence of str
        The document of each question.
    folds : int
        Number of groups; at most the number of documents.
    """
    groups: list[list[str]] = [[] for _ in range(min(folds, len(set(document_ids))))]
    sizes = [0] * len(groups)
    counts = Counter(document_ids)
    for document_id in sorted(counts, key=lambda one: (-counts[one], one)):
        smallest = sizes.index(min(sizes))
        groups[smallest].append(document_id)
        sizes[smallest] += counts[document_id]
    return [frozenset(group) for group in groups]


def fit_adapter(examples: Sequence[Example], held_out: frozenset[str], identity: ModelIdentity) -> QueryAdapter | None:
    """Return an adapter that is fitted without questions and passages of the held-out documents.

    One of `VALIDATION_FOLDS` groups of the other documents is used for validation: the fit ends when the loss of this
    group no longer falls. Return ``None`` if there are too few documents, or if no examples are left for training or
    for validation.
    """
    others = split_documents([one.document_id for one in examples if one.document_id not in held_out], VALIDATION_FOLDS)
    if len(others) < 2:
        return None
    kept = [one for example in examples if (one := example.without(held_out)) is not None]
    validation = [one for one in kept if one.document_id in others[0]]
    training = [one for example in kept if (one := example.without(others[0])) is not None]
    if not validation or not training:
        return None
    dense_size = training[0].dense.vectors.shape[1]
    dense = fit_matrix([one.dense for one in training], [one.dense for one in validation], dense_size, _FIT)
    token_training, token_validation = (
        [one.tokens for one in part if one.tokens is not None] for part in (training, validation)
    )
    tokens = np.zeros((0, 0), np.float32)
    if token_training and token_validation:
        token_size = token_training[0].vectors.shape[1]
        tokens = fit_matrix(token_training, token_validation, token_size, _FIT)
    return QueryAdapter(identity.weights, identity.projection, dense, tokens)


def rank_pages(searcher: Searcher, question: TrainingQuestion, adapter: QueryAdapter | None) -> Rankings:
    """Return the pages for a question by dense retrieval alone and by the ranking in use, both with ``adapter``.

    ``None`` stands for no adapter, even if one is switched on.
    """
    query = searcher.build_query(question.text, Scope(), configuration=RetrievalConfig(adapter=False))
    query = replace(query, adapter=adapter, depth=DEPTH, gated=False)
    ranked = searcher.rank(query, Timer())
    passages = searcher.apply_gate(query, ranked).passages
    rows = [ranked.rows[one] for one in ranked.ranking.scores["dense"] if one in ranked.rows]
    return {
        "dense": list_ranked_pages((row.document_id, row.page_index, row.page_index_end) for row in rows),
        "pipeline": list_found_pages(passages, question.relevant),
    }


def compute_figures(
    questions: Sequence[TrainingQuestion], before: Sequence[Rankings], after: Sequence[Rankings]
) -> tuple[HeldOutFigure, ...]:
    """Return the metrics of each stage without (``before``) and with the adapter (``after``), with 95 % intervals."""
    relevant = {str(number): one.relevant for number, one in enumerate(questions)}
    figures = []
    for stage in STAGES:
        sides = [
            compute_ranking_metrics({str(number): one[stage] for number, one in enumerate(side)}, relevant)
            for side in (before, after)
        ]
        for metric in METRICS:
            first, second = ([side[one][metric] for one in relevant] for side in sides)
            difference, p_value = compute_paired_difference(first, second)
            means = compute_mean_interval(first), compute_mean_interval(second)
            figures.append(HeldOutFigure(stage, metric, *means, difference, p_value, len(questions)))
    return tuple(figures)


def explain_rejection(figures: Sequence[HeldOutFigure]) -> str:
    """Return why an adapter must not be used; empty if the held-out figures are better with the adapter.

    In the ranking in use, the 95 % interval of the difference in MRR must be above 0, and recall@1 must not fall.
    """
    by_name = {(one.stage, one.metric): one for one in figures}
    mrr, recall = by_name["pipeline", "mrr@10"], by_name["pipeline", "recall@1"]
    if mrr.difference.low > 0 and recall.difference.value >= 0:
        return ""
    return " ".join(
        [
            f"On {mrr.n:,} held-out questions, the ranking in use did not become better: {_describe_figure(mrr)};",
            f"{_describe_figure(recall)}.",
            "The adapter is used only if the interval of the difference in MRR is above 0 and recall@1 does not fall.",
        ]
    )


def _describe_figure(figure: HeldOutFigure) -> str:
    difference = figure.difference
    return (
        f"{figure.metric} {figure.before.value:.3f} before and {figure.after.value:.3f} after (difference "
        f"{difference.value:+.3f}, 95 % interval {difference.low:+.3f} to {difference.high:+.3f})"
    )
