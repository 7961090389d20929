"""Answer with a capable language model, which reads whole pages and may ask for further pages."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from rag_core.answering.agent_prompt import TOOLS
from rag_core.answering.agent_tools import Toolbox
from rag_core.answering.page_context import PageContext, PageSelector
from rag_core.answering.page_pictures import PagePictures
from rag_core.answering.page_reading import PageReader
from rag_core.answering.search import Searcher
from rag_core.answering.streamed_checks import StreamedChecks
from rag_core.answering.streamed_text import relay_reply
from rag_core.answering.trace import AnswerTrace
from rag_core.llm.context_budget import (
    HISTORY_SHARE,
    PER_MESSAGE,
    TRUSTED_SHARE,
    count_tokens,
    fit_newest_exchanges,
)
from rag_core.llm.generator import ImagesRejected, LanguageModel
from rag_core.llm.message_parts import IMAGE_TOKENS, build_text_part
from rag_core.llm.page_prompt import (
    MAX_REQUESTS,
    ControlLineFilter,
    LookupRequest,
    build_page_messages,
    parse_refusal,
    parse_requests,
    strip_control_lines,
)
from rag_core.llm.prompts import build_continuation, format_name
from rag_core.llm.reasoning import retract_reasoning
from rag_core.llm.tool_calls import ToolCall
from rag_core.runtime.stores import Stores
from rag_core.text.abbreviations import find_abbreviations
from rag_core.text.calendar_dates import describe_asked_days, describe_reading
from rag_core.text.languages import languages_differ
from rag_core.text.words import ALPHANUMERIC
from rag_core.types.answers import REFUSAL, Answer, AskEvent, Restart, Stage
from rag_core.types.conversations import Message
from rag_core.types.dates import AskedDates
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Passage
from rag_core.types.searches import Query, SearchOutcome
from rag_core.verification.attribution import SourceComparison
from rag_core.verification.support import create_text_encoder

# Maximum number of times that a model may ask for more sources before it has to answer.
MAX_LOOKS = 2
# Maximum number of documents without a source whose names are in the prompt.
MAX_NAMES = 20
# If more documents can be searched, the prompt names no documents without a source.
MAX_LISTED = 200
# Maximum number of abbreviations that a prompt explains.
MAX_ABBREVIATIONS = 10
# Maximum number of tokens for the list of documents, and maximum share of the remaining budget.
_LIST_TOKENS, _LIST_SHARE = 400, 0.25
# Minimum number of tokens for the sources, enough for one chunk.
_MIN_ROOM = 400
# Minimum score of the gate with which the model is called; otherwise, the question is refused.
MIN_ON_TOPIC = 0.1
# The tools for the requests that a model writes as lines of its reply, by the word that begins the line.
_TOOL_NAMES = {"SEARCH": "search", "OPEN": "read_page", "COMPUTE": "compute"}
LOOKUP_TOOLS = tuple(TOOLS[name] for name in ("search", "open_outline", "read_page", "look_up", "compute"))
# Tools whose results are among the sources of the next prompt.
_SOURCES = ("search", "read_page")
# A document and a page: "name.pdf, page 12", "name.pdf p. 12" or "name.pdf, pages 12-13", of which the first is opened.
_OPENED = re.compile(
    r"(.+?)(?:[,;]?\s+(?:pages?|pp?\.?|seiten?|s\.)\s+|[,;]\s*)(\w[\w.-]*?)(?:\s*[-–]\s*\w+)?", re.IGNORECASE
)
# Signs of currencies and separators of digit groups, which are removed from the figures of a computation.
_SEPARATORS = re.compile(r"[$€£¥]\s?|(?<=\d)[, \u00a0\u2009\u202f](?=\d{3}(?!\d))")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_LOOKING = "Looking for what is missing"
_NO_PICTURES = "The model takes no pictures; it read only their text."
_NO_REPLY = "The model asked for more sources again instead of answering."


@dataclass(frozen=True, slots=True)
class PageReply:
    """The reply of a model, and the sources that the model was given.

    Attributes
    ----------
    text : str
        The reply without control words and requests for sources.
    context : PageContext
    is_refusal : bool
        Whether the text says that the sources do not state the answer.
    comparison : SourceComparison
        The sources as they are compared with the text.
    problem : str
        Why the reply is incomplete or missing: the endpoint failed, the reply reached its limit, or the model asked for
        sources instead of answering. Empty if the reply is complete.
    """

    text: str
    context: PageContext
    comparison: SourceComparison
    is_refusal: bool
    problem: str


def build_page_continuation(
    answer: Answer, history: Sequence[Message], instructions: str, reader: PageReader, budget: int
) -> list[dict[str, str]]:
    """Return chat messages that ask a capable model for the rest of an answer, from the sources of its beginning.

    ``budget`` is the number of tokens that the messages may have.
    """
    room = int(budget * TRUSTED_SHARE)
    turns, _ = fit_newest_exchanges(history, int(room * HISTORY_SHARE))
    question = answer.rewritten or answer.question
    messages = build_page_messages(question, reader.write_tables(answer.passages), turns, instructions=instructions)
    return [*messages, *build_continuation(answer.unfinished_text)]


def may_be_on_topic(outcome: SearchOutcome) -> bool:
    """Return whether a question that does not pass the gate may still be about the documents.

    A capable model itself refuses what its sources do not state, so only a question that is far from all passages is
    not worth a call. The score of the gate means little if the question and a passage are in different languages,
    because the embedder knows only one language.
    """
    question = outcome.result.question
    is_foreign = any(languages_differ(one.text, question) for one in outcome.passages)
    return is_foreign or outcome.result.gate.score >= MIN_ON_TOPIC


class PageAnswerer:
    """Writes answers with a capable language model.

    Parameters
    ----------
    stores : Stores
    searcher : Searcher
    reader : PageReader
    """

    def __init__(self, stores: Stores, searcher: Searcher, reader: PageReader) -> None:
        self._stores = stores
        self._searcher = searcher
        self._reader = reader
        self._selector = PageSelector(stores, reader)

    def write(
        self,
        writer: LanguageModel,
        query: Query,
        outcome: SearchOutcome,
        history: Sequence[Message],
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, PageReply]:
        """Yield the text of the model while it is written; return the reply.

        If the reply asks for more sources, look them up and ask the model again, at most `MAX_LOOKS` times. If the
        endpoint rejects pictures, ask without them. For a strict query, an error of the endpoint is raised.
        """
        outcomes, opened, findings = [outcome], list[PageKey](), list[str]()
        pictures = PagePictures(self._stores)
        toolbox = Toolbox(query, self._stores, self._searcher, self._reader, trace.timer)
        checks = StreamedChecks(outcome.result.question, create_text_encoder(outcome.ranked.embedder))
        for look in range(MAX_LOOKS + 1):
            can_search = look < MAX_LOOKS
            pieces: list[str] = []
            while True:
                messages, context = self._build_prompt(
                    writer, query, outcomes, opened, findings, history, pictures, can_search=can_search
                )
                # If the reader stops the reply, its markers refer to these pages.
                yield replace(outcome.result, passages=context.sources, steps=tuple(trace.steps), usage=trace.usage)
                checks.compare_with(context.sources)
                try:
                    problem, calls = yield from self._stream(
                        writer, query, messages, pieces, trace, checks, can_search=can_search
                    )
                    break
                except ImagesRejected:  # the model gets no pictures from now on
                    trace.notices.append(_NO_PICTURES)
            reply = (yield from retract_reasoning(pieces)).strip()
            calls += [_convert_to_call(request) for request in parse_requests(reply)]
            if problem or not (calls and can_search):
                break
            if strip_control_lines(reply):
                checks.restart()
                yield Restart(_LOOKING)
            for call in calls[:MAX_REQUESTS]:
                findings += yield from _run_call(toolbox, call, trace)
            outcomes = [outcome, *toolbox.searches]
            opened = list(dict.fromkeys((row.version_id, row.page_index) for row in toolbox.evidence.rows.values()))
        trace.notices += pictures.problems
        refusal = parse_refusal(reply)
        text = strip_control_lines(reply) if refusal is None else (refusal[:1].upper() + refusal[1:] or REFUSAL)
        problem = problem or ("" if text or not calls else _NO_REPLY)
        return PageReply(text, context, checks.finish(), refusal is not None, problem)

    def _build_prompt(
        self,
        writer: LanguageModel,
        query: Query,
        outcomes: Sequence[SearchOutcome],
        opened: Sequence[PageKey],
        findings: Sequence[str],
        history: Sequence[Message],
        pictures: PagePictures,
        *,
        can_search: bool,
    ) -> tuple[list[dict[str, Any]], PageContext]:
        """Return the messages of a prompt, and the sources in it, which fit into the budget beside the rest.

        Pictures take at most half of the tokens that the rest leaves.
        """
        # The search may be for a question within a longer text. The model gets the whole text.
        question = query.asked or outcomes[0].result.question
        room = int(writer.context_budget * TRUSTED_SHARE)
        turns, _ = fit_newest_exchanges(history, int(room * HISTORY_SHARE))
        wishes = query.writer.instructions
        rest = build_page_messages(question, (), turns, findings=findings, instructions=wishes, can_search=can_search)
        room -= sum(count_tokens(message["content"]) + PER_MESSAGE for message in rest)
        # A very long question leaves no room in a small budget, but the context of a capable model has room.
        room = max(room - min(_LIST_TOKENS, int(room * _LIST_SHARE)), _MIN_ROOM)
        context = self._selector.select(outcomes, room, opened=opened)
        drawn = pictures.choose(context, min(writer.page_images, room // 2 // IMAGE_TOKENS))
        if drawn:
            context = self._selector.select(outcomes, room - IMAGE_TOKENS * len(drawn), opened=opened)
            drawn = pictures.choose(context, len(drawn))
        messages: list[dict[str, Any]] = build_page_messages(
            question,
            context.prompt_sources,
            turns,
            documents=self._describe_documents(context, query, outcomes[0].ranked.dates),
            partial=context.partial,
            abbreviations=self._list_undefined_abbreviations(question, context),
            findings=findings,
            instructions=wishes,
            can_search=can_search,
        )
        if parts := pictures.build_parts(drawn):
            messages[-1]["content"] = [build_text_part(messages[-1]["content"]), *parts]
        return messages, context

    def _list_undefined_abbreviations(self, question: str, context: PageContext) -> dict[str, str]:
        """Return long forms by abbreviation, at most `MAX_ABBREVIATIONS`.

        These are abbreviations that the question or the sources use, and that only other pages of the documents define.
        """
        known = self._stores.word_index.list_abbreviations({one.version_id for one in context.sources})
        text = "\n".join(one.text for one in context.sources)
        used = set(ALPHANUMERIC.findall(f"{question}\n{text}"))
        defined = {short for short, _ in find_abbreviations(text)}
        missing = {short: long for short, long in known.items() if short in used - defined}
        return dict(islice(missing.items(), MAX_ABBREVIATIONS))

    def _describe_documents(self, context: PageContext, query: Query, dates: AskedDates) -> list[str]:
        """Return the lines of the list of documents in the prompt.

        The lines describe each document with a source, name some other documents, and explain dates of the question.
        """
        given: dict[str, list[Passage]] = {}
        for source in context.sources:
            given.setdefault(source.version_id, []).append(source)
        lines = [f"- {self._describe_document(sources, context)}" for sources in given.values()]
        others = [name for version_id, name in self._list_names(query).items() if version_id not in given]
        if others:
            more = f" and {len(others) - MAX_NAMES} more" if len(others) > MAX_NAMES else ""
            lines.append(f"- not given: {', '.join(map(format_name, others[:MAX_NAMES]))}{more}")
        readings = (
            describe_reading(dates.of(one.version_id), one.text, format_name(one.document), one.full_title)
            for one in context.sources
        )
        lines += [f"- {one}" for one in describe_asked_days(query.asked or query.text)]
        return [*lines, *dict.fromkeys(f"- {one}" for one in chain.from_iterable(readings))]

    def _list_names(self, query: Query) -> dict[str, str]:
        """Return the names of the documents that can be searched, by version id; empty for more than `MAX_LISTED`."""
        library = self._stores.view(query.as_of)
        versions = library.visible_versions(query.documents)
        if len(versions) > MAX_LISTED:
            return {}
        ids = list(query.documents) if query.documents is not None else None
        return {one.version_id: one.name for one in library.documents(ids) if one.version_id in versions}

    def _describe_document(self, sources: Sequence[Passage], context: PageContext) -> str:
        """Return the name and the title of a document, its date, and how many of its pages are given."""
        first = sources[0]
        version = self._stores.documents.version(first.version_id)
        total = version.pages if version else 0
        whole = sum(one.rank not in context.partial for one in sources)
        pages = "all pages are given" if whole == total else f"{whole} of {total} pages are given whole"
        date = self._reader.find_document_date(first.version_id)
        title = format_name(first.document_label)
        is_name = title in ("", first.document, first.document.rpartition(".")[0])
        parts = (format_name(first.document), "" if is_name else title, date and f"dated {format_name(date)}", pages)
        return "; ".join(filter(None, parts))

    def _stream(
        self,
        writer: LanguageModel,
        query: Query,
        messages: Sequence[dict[str, Any]],
        pieces: list[str],
        trace: AnswerTrace,
        checks: StreamedChecks,
        *,
        can_search: bool,
    ) -> Generator[AskEvent, None, tuple[str, list[ToolCall]]]:
        """Yield the visible text of a reply, and append the whole text to ``pieces``.

        Return why the reply is incomplete, as in `relay_reply`, and the calls of tools in the reply.
        """
        stream = writer.stream_reply(messages, tools=LOOKUP_TOOLS if can_search else ())
        visible = ControlLineFilter()
        events = relay_reply(stream, pieces, trace, strict=query.strict, visible=visible)
        problem = yield from checks.add_marks(events, visible)
        return problem, list(stream.calls)


def _convert_to_call(request: LookupRequest) -> ToolCall:
    """Return the tool call for a request that a model wrote as a line of its reply."""
    match = _OPENED.fullmatch(request.text)
    document, page = (match[1], match[2]) if match else (request.text, "")
    expression = _SEPARATORS.sub("", request.text)
    arguments = {
        "SEARCH": {"query": request.text},
        "OPEN": {"document": document.strip(), "page": page.strip()},
        "COMPUTE": {"expression": _PERCENT.sub(r"(\1/100)", expression).replace(" of ", " * ")},
    }[request.kind]
    return ToolCall("", _TOOL_NAMES[request.kind], json.dumps(arguments))


def _run_call(toolbox: Toolbox, call: ToolCall, trace: AnswerTrace) -> Generator[Stage, None, list[str]]:
    """Run a tool as a step of the answer; return a text for the next prompt, in a list.

    The text describes the call. The result follows in it if it is not among the sources of the prompt.
    """
    name = f"search_{len(trace.steps) + 1}"
    yield Stage(name, _LOOKING)
    result = toolbox.run(call, [tool.name for tool in LOOKUP_TOOLS])
    trace.steps.append(result.step)
    yield Stage(name, result.step, done=True)
    return [result.step if call.name in _SOURCES else f"{result.step}\n{result.text}"]
