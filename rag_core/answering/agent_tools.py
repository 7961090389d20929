"""The tools with which a language model looks things up. They only read, and only the documents in the query's scope.

The results quote documents, which are untrusted. So the quoted text is escaped as in `rag_core.llm.prompts`, and
sentences that read like instructions to a model are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.agent_evidence import ComputationProblem, Evidence, NamedCell
from rag_core.answering.agent_prompt import TOOLS
from rag_core.answering.named_documents import NamedDocuments
from rag_core.answering.page_reading import PageReader
from rag_core.answering.search import Searcher
from rag_core.errors import QuestionError
from rag_core.llm.prompts import format_name, format_passage
from rag_core.llm.tool_calls import ToolArgumentError, ToolCall, parse_arguments
from rag_core.reading.cell_lookup import FoundCell, find_cells, list_labels, read_scale
from rag_core.runtime.stores import Stores
from rag_core.text.outline import build_outline
from rag_core.types.documents import DocumentInfo
from rag_core.types.retrieval import Passage, Timer
from rag_core.types.searches import Query, SearchOutcome

# Maximum numbers of passages of a search, of documents, and of sections of an outline in one result.
_PASSAGES, _MAX_DOCUMENTS, _MAX_SECTIONS = 4, 40, 60
# Maximum numbers of rows and values in the result of a look-up in tables, and of labels of rows if no row fits.
_ROWS, _MAX_CELLS, _MAX_LABELS = 3, 8, 30
# Number of passages on whose pages a look-up reads the tables if the model names no page.
_MAX_PAGES = 6
# Maximum number of characters of a name, or of a text by the model, in the description of a step.
_MAX_STEP_CHARS = 80


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool: ``text`` is for the model, and ``step`` describes the call to the reader."""

    text: str
    step: str


# Texts for the reader by the name of a tool: for "Could not search: …" after a failure, and while the tool runs.
ACTIONS = {
    "list_documents": ("list the documents", "Listing the documents"),
    "search": ("search", "Searching"),
    "open_outline": ("open an outline", "Opening an outline"),
    "read_page": ("open a page", "Reading a page"),
    "look_up": ("look up values", "Looking up values"),
    "compute": ("compute", "Computing"),
    "finish": ("end the search", "Ending the search"),
}


class Toolbox:
    """Runs the tools for one question, and collects what they return. Each tool is a method of the same name.

    Parameters
    ----------
    query : Query
        The tools can open only the documents in its scope.
    stores : Stores
    searcher : Searcher
    reader : PageReader
    timer : Timer

    Attributes
    ----------
    evidence : Evidence
    searches : list of SearchOutcome
        The outcomes of all searches so far.
    named : list of int
        Numbers of the passages that the model named when it called ``finish``, without unknown numbers.
    """

    def __init__(self, query: Query, stores: Stores, searcher: Searcher, reader: PageReader, timer: Timer) -> None:
        self.evidence = Evidence()
        self.searches: list[SearchOutcome] = []
        self.named: list[int] = []
        self._query = query
        self._stores = stores
        self._searcher = searcher
        self._reader = reader
        self._timer = timer
        self._library = NamedDocuments(stores, query.documents, as_of=query.as_of)
        self._names: dict[str, dict[int, str]] = {}

    @property
    def document_names(self) -> list[str]:
        """The names of the documents that the tools can open."""
        return [one.name for one in self._library.documents]

    def run(self, call: ToolCall, offered: Collection[str] = TOOLS) -> ToolResult:
        """Run a call, and return its result; for a wrong call, the result tells the model how to correct the call.

        ``offered`` contains the names of the tools that the model may call.
        """
        if call.name not in offered:
            name = format_name(call.name)[:_MAX_STEP_CHARS]
            return ToolResult(
                f"There is no tool {name}. Use one of: {', '.join(offered)}.", f"Called an unknown tool: {name}"
            )
        try:
            run: Callable[..., ToolResult] = getattr(self, call.name)
            return run(**parse_arguments(call, TOOLS[call.name]))
        except (ToolArgumentError, QuestionError) as error:
            return ToolResult(str(error), f"Could not {ACTIONS[call.name][0]}: {error}")

    def list_documents(self, name: str = "") -> ToolResult:
        found = self._library.find(name) if name else self._library.documents
        lines = [f"{format_name(one.name)}, {one.pages} pages" for one in found[:_MAX_DOCUMENTS]]
        more = [f"… and {len(found) - len(lines)} more: list them by name."] if len(found) > len(lines) else []
        about = f" named “{_shorten(name)}”" if name else ""
        return ToolResult("\n".join([*lines, *more]) or "No document has this name.", f"Listed the documents{about}")

    def search(self, query: str, document: str = "") -> ToolResult:
        scope = self._query.documents if not document else (self._find_document(document).document_id,)
        text = self._searcher.normalize_question(query)
        outcome = self._searcher.search(replace(self._query, text=text, documents=scope), self._timer)
        passages = self.add_search(outcome)
        where = f" in {_shorten(document)}" if document else ""
        return ToolResult(
            self._format_passages(passages) or "Nothing was found.", f"Searched{where} for “{_shorten(text)}”"
        )

    def add_search(self, outcome: SearchOutcome) -> list[Passage]:
        """Add the outcome of a search, and return its first `_PASSAGES` passages with their numbers."""
        self.searches.append(outcome)
        return self.evidence.number_passages(outcome.result.passages[:_PASSAGES])

    def open_outline(self, document: str, title: str = "") -> ToolResult:
        info = self._find_document(document)
        entries = build_outline(self._stores.documents.page_headings(info.version_id))
        words = title.casefold().split()
        chosen = [one for one in entries if all(word in one.title.casefold() for word in words)]
        names = self._list_page_names(info.version_id)
        listed = chosen[:_MAX_SECTIONS]
        lines = [f"{'  ' * one.level}{format_name(one.title)}, page {names[one.page_index]}" for one in listed]
        if left := len(chosen) - len(listed):
            lines.append(f"… and {left} more, up to page {names[chosen[-1].page_index]}: give a title.")
        return ToolResult(
            "\n".join(lines) or "The document has no such section.", f"Opened the outline of {_shorten(info.name)}"
        )

    def read_page(self, document: str, page: str) -> ToolResult:
        info = self._find_document(document)
        index, label = self._find_page(info, page)
        passages = self.evidence.add_chunks(self._stores.documents.chunk_rows(info.version_id, index))
        step = f"Read page {label} of {_shorten(info.name)}"
        return ToolResult(self._format_passages(passages) or "The page has no text.", step)

    def look_up(self, document: str, row: str, column: str = "", page: str = "") -> ToolResult:
        info = self._find_document(document)
        pages = [self._find_page(info, page)[0]] if page else self._find_table_pages(info, f"{row} {column}".strip())
        contents = self._reader.read_pages(info.version_id, pages)
        tables = [(index, table) for index in pages if index in contents for table in contents[index][1]]
        found = find_cells(tables, row, column, _ROWS)[:_MAX_CELLS]
        step = f"Looked up “{_shorten(' '.join(filter(None, (row, column))))}” in {_shorten(info.name)}"
        if not found:
            labels = "; ".join(map(format_name, list_labels(tables)[:_MAX_LABELS]))
            known = f" The rows there are: {labels}." if labels else " Search, or read a page, first."
            return ToolResult(f"No row fits.{known}", f"{step}: not found")
        names = self._list_page_names(info.version_id)
        cells = [self._name_cell(one, info, contents[one.page_index][0]) for one in found]
        lines = [_write_cell(cell, names[cell.found.page_index]) for cell in cells]
        values = ", ".join(cell.text for cell in cells[:3])
        return ToolResult("\n".join(lines), f"{step}: {_shorten(values)}")

    def compute(self, expression: str) -> ToolResult:
        try:
            value = self.evidence.compute(expression)
        except ComputationProblem as problem:
            return ToolResult(f"Not computed: {problem}.", f"Tried to compute {_shorten(expression)}")
        note = "" if value.cells or not self.evidence.cells else " It uses no cell, so an answer cannot cite it."
        return ToolResult(f"{expression} = {value.text}{note}", f"Computed {_shorten(expression)} = {value.text}")

    def finish(self, passages: Sequence[int] = ()) -> ToolResult:
        known = self.evidence.chunk_ids
        self.named = [number for number in dict.fromkeys(passages) if number in known]
        return ToolResult("", "")

    def _find_document(self, name: str) -> DocumentInfo:
        folded = name.casefold()
        exact = [one for one in self._library.documents if folded in (one.name.casefold(), one.document_id)]
        found = exact or self._library.find(name)
        if len(found) == 1:
            return found[0]
        listed = "; ".join(format_name(one.name) for one in (found or self._library.documents)[:10])
        problem = "Several documents have this name" if found else "No document that may be searched has this name"
        raise ToolArgumentError(f"{problem}. Use one of: {listed}.")

    def _find_page(self, info: DocumentInfo, page: str) -> tuple[int, str]:
        """Return the index and the name of a page, given the name, or the number of the page in the file."""
        names = self._list_page_names(info.version_id)
        wanted = page.casefold().removeprefix("page ").strip()
        index = next((index for index, name in names.items() if name.casefold() == wanted), None)
        if index is None and wanted.removeprefix("pdf ").isdecimal():
            index = int(wanted.removeprefix("pdf ")) - 1
        if index is None or index not in names:
            ends = f"from {names[0]} to {names[len(names) - 1]}" if names else "none"
            raise ToolArgumentError(f"The document has no page {format_name(page)[:20]}; its pages are {ends}.")
        return index, names[index]

    def _list_page_names(self, version_id: str) -> Mapping[int, str]:
        """Return the names of pages by index: the label, or "PDF n" if an earlier page has the same label."""
        if version_id not in self._names:
            labels: set[str] = set()
            names = self._names[version_id] = {}
            for one in self._stores.documents.page_headings(version_id):
                is_new = one.page_label not in labels
                names[one.page_index] = one.page_label if is_new else f"PDF {one.page_index + 1}"
                labels.add(one.page_label)
        return self._names[version_id]

    def _find_table_pages(self, info: DocumentInfo, text: str) -> list[int]:
        """Return the indices of the pages that a search for the words of a table row finds, best first."""
        query = replace(
            self._query, text=self._searcher.normalize_question(text), documents=(info.document_id,), gated=False
        )
        passages = self._searcher.search(query, self._timer).passages[:_MAX_PAGES]
        return list(dict.fromkeys(page for one in passages for page in (one.page_index, one.page_index_end)))

    def _name_cell(self, found: FoundCell, info: DocumentInfo, page_text: str) -> NamedCell:
        rows = self._stores.documents.chunk_rows(info.version_id, found.page_index)
        return self.evidence.name_cell(found, info, read_scale(found.table, page_text), rows)

    def _format_passages(self, passages: Sequence[Passage]) -> str:
        named = (
            replace(one, page_label=self._list_page_names(one.version_id)[one.page_index])
            for one in self._reader.write_tables(passages)
        )
        return "\n\n".join(map(format_passage, named))


def _write_cell(cell: NamedCell, page_label: str) -> str:
    parts = (format_name(one) for one in (cell.found.label, cell.found.header) if one)
    unit = " (unit not stated)" if cell.scale is None and cell.found.is_scaled else ""
    return f"{cell.name} = {format_name(cell.text)}{unit} | {' | '.join(parts)} | page {format_name(page_label)}"


def _shorten(text: str) -> str:
    """Return a name, or a text by the model, on one line, cut after `_MAX_STEP_CHARS` characters."""
    plain = format_name(text)
    return plain if len(plain) <= _MAX_STEP_CHARS else f"{plain[:_MAX_STEP_CHARS].rstrip()}…"
