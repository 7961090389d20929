"""Rankings of pages against the pages that answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from rag_core.types import PageKey, Passage

# The names are those of the literature; the definitions, those of trec_eval through ir_measures.
RECALL_LEVELS = tuple(level / 10 for level in range(11))


def counted_spans(passage: Passage, relevant: Collection[PageKey]) -> list[tuple[str, int, int]]:
    """Where a passage counts as lying, as (document id, first page_index, last page_index).

    What nearly repeats it was left out for it: a label may name the page of a copy just as well.
    """
    own = (passage.document_id, passage.page_index, passage.page_index_end)
    copies = [one.key for one in passage.duplicates if one.key in relevant]
    pages = {(passage.document_id, page) for page in range(passage.page_index, passage.page_index_end + 1)}
    spans = [(document_id, page, page) for document_id, page in copies]
    return spans if spans and pages.isdisjoint(relevant) else [own, *spans]


def ranked_pages(spans: Iterable[tuple[str, int, int]]) -> list[PageKey]:
    """Pages in the order of the passages that lie on them, each once.

    Parameters
    ----------
    spans : iterable of (document id, first page_index, last page_index)
        Of the passages, best first; one that lies on two pages gives both.
    """
    pages = [(document_id, page) for document_id, first, last in spans for page in range(first, last + 1)]
    return list(dict.fromkeys(pages))


def first_rank(ranking: Sequence[PageKey], relevant: Iterable[PageKey]) -> int | None:
    """Rank of the first page that answers, from 1; ``None`` where there is none."""
    wanted = set(relevant)
    return next((rank for rank, page in enumerate(ranking, 1) if page in wanted), None)


def compute_ranking_metrics(
    rankings: Mapping[str, Sequence[PageKey]], relevant: Mapping[str, Iterable[PageKey]]
) -> dict[str, dict[str, float]]:
    """Values of each question, by metric.

    Recall, precision, reciprocal rank (Voorhees, TREC-8 1999), average precision and interpolated
    precision at 11 levels of recall (Manning, Raghavan and Schütze, "Introduction to Information
    Retrieval", 2008, chapter 8), and nDCG (Järvelin and Kekäläinen, TOIS 2002). Their means over
    questions are mean recall, MRR, MAP and so on. A page answers or does not; there are no grades.

    Parameters
    ----------
    rankings : mapping of question id to pages, best first, each once
    relevant : mapping of the same ids to the pages that answer, at least one
    """
    import ir_measures
    from ir_measures import AP, RR, IPrec, P, R, nDCG

    metrics = {R @ 1: "recall@1", R @ 5: "recall@5", R @ 10: "recall@10", P @ 1: "precision@1", P @ 5: "precision@5"}
    metrics |= {RR @ 10: "mrr@10", AP: "map", nDCG @ 10: "ndcg@10"}
    metrics |= {IPrec @ level: interpolated(level) for level in RECALL_LEVELS}
    values = {one: dict.fromkeys(metrics.values(), 0.0) for one in relevant}
    # Questions for which nothing was found keep 0: the library would divide by the length of nothing.
    qrels = {one: {_name(page): 1 for page in pages} for one, pages in relevant.items() if rankings[one]}
    # Reciprocal ranks as scores: the order is all that counts, and no two are equal.
    run = {one: {_name(page): 1 / rank for rank, page in enumerate(rankings[one], 1)} for one in qrels}
    for found in ir_measures.iter_calc(list(metrics), qrels, run):
        values[found.query_id][metrics[found.measure]] = float(found.value)
    return values


def interpolated(level: float) -> str:
    """The name of interpolated precision at a level of recall."""
    return f"precision at recall {level:.1f}"


def _name(page: PageKey) -> str:
    return f"{page[0]} {page[1]}"
