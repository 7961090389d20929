"""Let a language model look things up with tools, step by step, and collect the passages that it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from rag_core.answering.agent_evidence import ComputedValue, NamedCell
from rag_core.answering.agent_prompt import TOOLS, build_conversation, compute_room, fit_results
from rag_core.answering.agent_tools import ACTIONS, Toolbox
from rag_core.answering.answer_builder import cite_span
from rag_core.answering.call_budget import CallBudget, require_model
from rag_core.answering.page_reading import PageReader
from rag_core.answering.search import Searcher
from rag_core.answering.steps import run_plan, run_search
from rag_core.answering.strategies.base import ModelStrategy, Steps
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import CallLimit, GeneratorError
from rag_core.llm.tool_calls import ToolCall, build_call_message, build_result_message
from rag_core.retrieval.fusion import fuse_rankings, reciprocal_rank_fusion
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.types.answers import Citation, Stage
from rag_core.types.retrieval import Passage, Ranking
from rag_core.types.searches import Query, RankedChunks, SearchOutcome

# Maximum number of calls of one reply that are run; the model can make the other calls again.
_MAX_CALLS = 4
_TOO_MANY = f"Not run: at most {_MAX_CALLS} tools can be called at once."
_FOUND_BEFORE = "The answer uses the passages found before."
_ENDED = "The model found nothing more to look up."
_REPEATED = "The model repeated the same call, so the search ended."
# Maximum number of times that a call is repeated, because small models may repeat a call without end. Some repetitions
# are useful, because the results of old calls are left out of long conversations.
_MAX_REPETITIONS = 3


class Agent(ModelStrategy):
    """Lets a language model call tools in a loop; the strategy ``iterative``.

    The model chooses what to look up, and does not write the answer. The outcome contains the passages that the tools
    returned, so the answer is gated, written, cited and checked as after any other search. The method is ReAct (Yao et
    al., "ReAct: Synergizing reasoning and acting in language models", ICLR 2023), with the tool calls of the endpoint's
    API.

    Parameters
    ----------
    stores : Stores
    searcher : Searcher
    models : LanguageModels
    reader : PageReader
    """

    name = "iterative"
    label = "Step by step"
    description = "The model searches, opens pages and tables, and computes"
    in_chat = True
    reads_present_only = True

    def __init__(self, stores: Stores, searcher: Searcher, models: LanguageModels, reader: PageReader) -> None:
        super().__init__(searcher, models)
        self._stores = stores
        self._reader = reader

    def run(self, query: Query, budget: CallBudget, trace: AnswerTrace) -> Steps:
        """Search for the question, then run the tools that the model calls, until it calls none or reaches a limit.

        Raises
        ------
        GeneratorError
            The query is strict, and the endpoint fails.
        """
        toolbox = Toolbox(query, self._stores, self._searcher, self._reader, trace.timer)
        first = yield from run_search(query.text, trace, partial(self._searcher.search, query, trace.timer))
        model = require_model(query, self._models)
        room = compute_room(model.profile.filled_tokens, model.answer_tokens)
        passages = self._reader.write_tables(toolbox.add_search(first))
        messages = build_conversation(query.text, passages, toolbox.document_names, room)
        number = 0
        called: Counter[tuple[str, str]] = Counter()
        while True:
            number += 1
            try:
                reply = yield from run_plan(
                    "Choosing what to look up" if number == 1 else f"Reading what step {number - 1} found",
                    trace.timer,
                    partial(budget.call_tools, fit_results(messages, room), list(TOOLS.values())),
                    number,
                )
            except (GeneratorError, CallLimit) as error:
                if query.strict and isinstance(error, GeneratorError):
                    raise
                trace.notices.append(f"{error} {_FOUND_BEFORE}")
                break
            messages.append(build_call_message(reply.text, reply.calls))
            for position, call in enumerate(reply.calls):
                if call.name == "finish":
                    text = toolbox.run(call).text
                elif position < _MAX_CALLS:
                    text = yield from _run_tool(toolbox, call, trace)
                else:
                    text = _TOO_MANY
                messages.append(build_result_message(call, text))
            called.update((call.name, call.arguments) for call in reply.calls)
            has_ended = not reply.calls or any(call.name == "finish" for call in reply.calls)
            if has_ended or max(called.values()) > _MAX_REPETITIONS:
                trace.steps.append(_ENDED if has_ended else _REPEATED)
                break
        return self._merge(query, toolbox, first)

    def _merge(self, query: Query, toolbox: Toolbox, first: SearchOutcome) -> SearchOutcome:
        """Return one outcome for the question with the passages of all tools, in this order:

        1. passages with operands of computed values;
        2. passages that the model named;
        3. the other passages by reciprocal rank fusion.

        If at least one search passes the gate, searches that do not pass it are ignored. Of the gates of the searches
        and the gate of all passages, the one with the highest score decides. If there are computed values with
        citations, the question is answered in any case, because the gate judges only passages.

        If the tools found nothing after the first search, its outcome is returned.
        """
        evidence = toolbox.evidence
        cells = {cell.name: cell for value in evidence.computed for cell in value.cells.values()}
        operands = [cell.chunk_id for cell in cells.values() if cell.chunk_id is not None]
        named = list(dict.fromkeys([*operands, *(evidence.chunk_ids[number] for number in toolbox.named)]))
        if len(toolbox.searches) == 1 and not (evidence.rows or named):
            return first
        answering = [one for one in toolbox.searches if one.result.gate.answerable] or toolbox.searches
        found = [[int(one.chunk_id) for one in outcome.result.passages] for outcome in answering]
        k = self._searcher.select_rrf_k(query)
        fused = reciprocal_rank_fusion([*found, list(evidence.rows)], k)
        ranked = fuse_rankings([*(one.ranked for one in answering), self._rank_read_chunks(toolbox, first)], k)
        order = dict.fromkeys([*named, *(hit.chunk_id for hit in fused), *ranked.ranking.order])
        ranked = replace(ranked, ranking=replace(ranked.ranking, order=tuple(order)))
        outcome = self._searcher.apply_gate(replace(query, top_k=query.top_k + len(named)), ranked)
        gates = [outcome.result.gate, *(one.result.gate for one in answering)]
        gate = max(gates, key=lambda gate: gate.score)
        computed = _cite_cells(evidence.computed, cells, outcome.result.passages)
        gate = gate.overrule() if computed else gate
        return replace(outcome, result=replace(outcome.result, gate=gate), computed=computed)

    def _rank_read_chunks(self, toolbox: Toolbox, first: SearchOutcome) -> RankedChunks:
        """Return a ranking of the chunks that the model read, as pages or as table rows, in the order of reading."""
        rows = toolbox.evidence.rows
        vectors = self._stores.embeddings.read_tokens(list(rows))
        return replace(first.ranked, ranking=Ranking(tuple(rows), {}), rows=rows, vectors=dict(vectors))


def _run_tool(toolbox: Toolbox, call: ToolCall, trace: AnswerTrace) -> Generator[Stage, None, str]:
    """Run a tool as a step, and return the text of its result."""
    number = len(trace.steps) + 1
    yield Stage(f"search_{number}", ACTIONS.get(call.name, ("", "Calling a tool"))[1])
    result = toolbox.run(call)
    trace.steps.append(result.step)
    yield Stage(f"search_{number}", result.step, done=True)
    return result.text


def _cite_cells(
    computed: Sequence[ComputedValue], cells: Mapping[str, NamedCell], passages: Sequence[Passage]
) -> tuple[tuple[str, tuple[Citation, ...]], ...]:
    """Return the texts of computed values in pieces, each with the citation of the cell that is described at its end.

    A piece without a cell has no citation. A value is left out if one of its cells is in no passage.
    """
    citations: dict[str, Citation] = {}
    for name, cell in cells.items():
        if citation := cite_span(cell.page, cell.found.start, cell.found.end, passages):
            citations[name] = citation
    return tuple(
        (text, (citations[cell.name],) if cell else ())
        for value in computed
        if value.cells.keys() <= citations.keys()
        for text, cell in (*value.split_pieces(), (". ", None))
    )
