"""The strategy ``compare``: search for each part of a comparison separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from rag_core.answering.call_budget import CallBudget
from rag_core.answering.search import Searcher
from rag_core.answering.steps import run_plan, run_search, run_step
from rag_core.answering.strategies.base import ModelStrategy, Steps
from rag_core.answering.trace import AnswerTrace
from rag_core.llm.query_planning import decompose_question
from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.types.retrieval import Passage
from rag_core.types.searches import Query, SearchOutcome

# Maximum number of parts into which the model may split a question.
MAX_PARTS = 4
# Maximum number of documents in the prompt. If the scope has more, the prompt lists only those that the search for the
# whole question finds.
MAX_LISTED = 20


class Comparison(ModelStrategy):
    """Searches for each part of a comparison separately, and merges the outcomes.

    Parameters
    ----------
    stores : Stores
    searcher : Searcher
    models : LanguageModels
    """

    name = "compare"
    label = "Compare"
    description = "The model splits the question; each part is searched for"
    in_chat = True

    def __init__(self, stores: Stores, searcher: Searcher, models: LanguageModels) -> None:
        super().__init__(searcher, models)
        self._stores = stores

    def run(self, query: Query, budget: CallBudget, trace: AnswerTrace) -> Steps:
        """Search for the whole question, then for its parts; without several parts, return the first outcome."""
        whole = yield from run_step(
            "search_0", "Searching for the whole question", partial(self._searcher.search, query, trace.timer)
        )
        documents = self._list_documents(query, whole)
        names = list(documents.values())
        parts = yield from run_plan(
            "Asking the model what to look up",
            trace.timer,
            partial(decompose_question, budget.complete, query.text, names, MAX_PARTS),
        )
        if len(parts) < 2:
            trace.steps.append("The model did not split the question, which was searched for as it is.")
            return whole
        searches = []
        for part in parts:
            scope = query if part.document is None else replace(query, documents=(list(documents)[part.document],))
            where = "" if part.document is None else f" in {names[part.document]}"
            search = partial(self._searcher.search, replace(scope, text=part.question), trace.timer)
            searches.append((yield from run_search(part.question, trace, search, where)))
            if not searches[-1].result.gate.answerable:
                trace.notices.append(f"Nothing was found that answers “{part.question}”{where}.")
        return merge_outcomes(whole, searches, query.top_k, self._searcher.select_rrf_k(query))

    def _list_documents(self, query: Query, outcome: SearchOutcome) -> dict[str, str]:
        """Return the names of the documents that the prompt lists, by id; see `MAX_LISTED`."""
        scope = query.documents
        names = {
            one.document_id: one.name
            for one in self._stores.view(query.as_of).documents(scope if scope is None else list(scope))
            if one.chunks
        }
        if len(names) <= MAX_LISTED:
            return names
        return {one.document_id: one.document for one in outcome.result.passages[:MAX_LISTED]}


def merge_outcomes(whole: SearchOutcome, searches: Sequence[SearchOutcome], top_k: int, rrf_k: int) -> SearchOutcome:
    """Merge the outcomes of several searches into one outcome for the ``whole`` question.

    If at least one search passes the gate, searches that do not pass it are ignored. The merged outcome has the gate
    with the highest score. A passage that several searches found keeps the scores of the search that gave it the
    highest gate score.

    The passages in the results of the searches come first, and then the passages that the searches ranked lower.
    Reciprocal rank fusion with the constant ``rrf_k`` orders each of the two groups. The merged result contains at most
    ``top_k`` passages of the first group.
    """
    answering = [one for one in searches if one.result.gate.answerable] or searches
    score_name = whole.result.gate.score_name
    above = _fuse_passages([outcome.result.passages for outcome in answering], score_name, rrf_k)
    below = _fuse_passages([outcome.passages for outcome in answering], score_name, rrf_k)
    order = (above | {chunk_id: one for chunk_id, one in below.items() if chunk_id not in above}).values()
    passages = tuple(replace(one, rank=rank) for rank, one in enumerate(order, 1))
    gate = max((outcome.result.gate for outcome in answering), key=lambda gate: gate.score)
    rows = {chunk_id: row for outcome in searches for chunk_id, row in outcome.ranked.rows.items()}
    result = replace(whole.result, passages=passages[: min(top_k, len(above))], gate=gate)
    tokens = {chunk_id: one for outcome in searches for chunk_id, one in outcome.tokens.items()}
    ranked = replace(whole.ranked, rows={**whole.ranked.rows, **rows})
    return SearchOutcome(result, ranked, passages, {**tokens, **whole.tokens})


def _fuse_passages(searches: Sequence[Sequence[Passage]], score_name: str, rrf_k: int) -> dict[int, Passage]:
    """Return the passages of several searches by chunk id, ordered by reciprocal rank fusion."""
    best: dict[int, Passage] = {}
    for passage in (one for passages in searches for one in passages):
        known = best.get(int(passage.chunk_id))
        if known is None or (passage.scores[score_name] or 0.0) > (known.scores[score_name] or 0.0):
            best[int(passage.chunk_id)] = passage
    fused = reciprocal_rank_fusion([[int(one.chunk_id) for one in passages] for passages in searches], rrf_k)
    return {hit.chunk_id: best[hit.chunk_id] for hit in fused}
