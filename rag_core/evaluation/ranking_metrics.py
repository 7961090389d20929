"""Metrics of page rankings, given the relevant pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Passage

# Levels of recall at which precision is interpolated.
RECALL_LEVELS = tuple(level / 10 for level in range(11))


def find_relevant_pages(passage: Passage, relevant: Collection[PageKey]) -> set[PageKey]:
    """Return the relevant pages that contain the passage or one of its near duplicates, which a search omits."""
    pages = {(passage.document_id, page) for page in passage.page_indices} | {one.key for one in passage.duplicates}
    return pages.intersection(relevant)


def list_found_pages(passages: Sequence[Passage], relevant: Collection[PageKey]) -> list[PageKey]:
    """Return the pages of ranked passages, without duplicates.

    Near duplicates of a passage, which a search omits, count as found if they are on relevant pages. These pages follow
    the pages of the passage; if no page of the passage is relevant, the pages of the duplicates replace its pages.
    """
    spans: list[tuple[str, int, int]] = []
    for passage in passages:
        copies = [one.key for one in passage.duplicates if one.key in relevant]
        pages = {(passage.document_id, page) for page in passage.page_indices}
        if not copies or not pages.isdisjoint(relevant):
            spans.append((passage.document_id, passage.page_index, passage.page_index_end))
        spans += [(document_id, page, page) for document_id, page in copies]
    return list_ranked_pages(spans)


def list_ranked_pages(spans: Iterable[tuple[str, int, int]]) -> list[PageKey]:
    """Return the pages of passages in the order of the passages, without duplicates.

    Parameters
    ----------
    spans : iterable of (document id, first page_index, last page_index)
        The pages of each passage, best passage first; a passage on two pages adds both pages.
    """
    pages = [(document_id, page) for document_id, first, last in spans for page in range(first, last + 1)]
    return list(dict.fromkeys(pages))


def find_first_rank(ranking: Sequence[PageKey], relevant: Iterable[PageKey]) -> int | None:
    """Return the rank, from 1, of the first relevant page; ``None`` if no relevant page is ranked."""
    relevant_pages = set(relevant)
    return next((rank for rank, page in enumerate(ranking, 1) if page in relevant_pages), None)


def compute_ranking_metrics(
    rankings: Mapping[str, Sequence[PageKey]], relevant: Mapping[str, Iterable[PageKey]]
) -> dict[str, dict[str, float]]:
    """Return the values of the metrics of each question: by question id, and then by the name of the metric.

    The metrics are recall, precision, reciprocal rank (Voorhees, TREC-8 1999), average precision and interpolated
    precision at 11 levels of recall (Manning, Raghavan and Schütze, "Introduction to Information Retrieval", 2008,
    chapter 8), and nDCG (Järvelin and Kekäläinen, TOIS 2002), as trec_eval computes them. Their means over questions
    are mean recall, MRR, MAP and so on. Relevance is binary.

    Parameters
    ----------
    rankings : mapping of question id to pages, best first, without duplicates
    relevant : mapping of the same ids to the relevant pages, at least one
    """
    import ir_measures
    from ir_measures import AP, RR, IPrec, P, R, nDCG

    metrics = {R @ 1: "recall@1", R @ 5: "recall@5", R @ 10: "recall@10", P @ 1: "precision@1", P @ 5: "precision@5"}
    metrics |= {RR @ 10: "mrr@10", AP: "map", nDCG @ 10: "ndcg@10"}
    metrics |= {IPrec @ level: name_interpolated_precision(level) for level in RECALL_LEVELS}
    values = {one: dict.fromkeys(metrics.values(), 0.0) for one in relevant}
    # Leave out questions with an empty ranking, whose values stay 0: ir_measures would divide by zero.
    qrels = {one: {_name_page(page): 1 for page in pages} for one, pages in relevant.items() if rankings[one]}
    # Use the reciprocal rank as score: only the order of scores matters.
    run = {one: {_name_page(page): 1 / rank for rank, page in enumerate(rankings[one], 1)} for one in qrels}
    for value in ir_measures.iter_calc(list(metrics), qrels, run):
        values[value.query_id][metrics[value.measure]] = float(value.value)
    return values


def name_interpolated_precision(level: float) -> str:
    """Return the name of interpolated precision at a recall level."""
    return f"precision at recall {level:.1f}"


def _name_page(page: PageKey) -> str:
    return f"{page[0]} {page[1]}"
