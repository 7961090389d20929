"""The types of the JSON objects that the API returns; `rag_core.api.json_rows` builds the objects."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Row(BaseModel):
    """Base class of the rows. Their schemas are built when the API is described."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class FigureDescriptionRow(Row):
    """What a model wrote about a figure; ``start`` and ``end`` are the place of its caption in the text of the page."""

    start: int
    end: int
    text: str
    model: str


class PassageRow(Row):
    """A passage that a search found; ``page_index`` counts from 0, and ``page_label`` is printed on the page."""

    rank: int
    document: str
    document_id: str
    page_index: int
    page_index_end: int | None = None
    page_label: str
    chunk_id: str | None
    text: str
    scores: dict[str, float | None]
    duplicates: list[dict[str, str]] = []
    hidden_on_page: str = ""
    descriptions: list[FigureDescriptionRow] = []
    link: str


class GateRow(Row):
    """Whether the passages answer the question, and the score that decided."""

    score_name: str
    score: float | None
    threshold: float
    answerable: bool
    overruled: bool


class SearchRow(Row):
    """The passages for a question, best first."""

    id: str | None
    question: str
    passages: list[PassageRow]
    gate: GateRow
    timings_ms: dict[str, float]
    notices: list[str]
    steps: list[str]
    usage: dict[str, Any]
    as_of: str


class CitationRow(Row):
    """The citation of a marker such as ``[1]`` in the text of an answer; ``cells`` is the address in a sheet."""

    marker: int
    passage_rank: int
    document: str
    page_index: int
    page_label: str
    quote: str
    added: bool
    link: str
    cells: str = ""


class StatementRow(Row):
    """A checked statement of an answer."""

    text: str
    supported: bool
    reason: str
    mark: str
    mark_text: str


class AnswerRow(SearchRow):
    """An answer; the ``state`` of a refusal is ``abstained``."""

    state: str
    text: str
    short: str | None
    citations: list[CitationRow]
    more: list[CitationRow]
    statements: list[StatementRow]
    generator: str
    strategy: str


class DocumentRow(Row):
    """A document, under its name or under an alias."""

    document_id: str
    document: str
    collection: str
    pages: int
    chunks: int
    size: int
    status: str
    reason: str
    added_at: str
    embedder: str


class DocumentsRow(Row):
    """A part of the list of documents; ``next_cursor`` is that of the next part."""

    documents: list[DocumentRow]
    next_cursor: str | None


class TableRow(Row):
    """A table of a page."""

    rows: list[list[str]]
    header_rows: int
    unit: str
    title: str
    sections: list[list[str]]
    first_page: int
    boxes: list[list[list[float] | None]]


class PageRow(Row):
    """The text and the tables of a page."""

    document: str
    page_index: int
    page_label: str
    text: str
    state: str
    reason: str
    tables: list[TableRow]
    descriptions: list[FigureDescriptionRow]
    link: str


class PagesRow(Row):
    """Some pages of a document with ``page_count`` pages."""

    pages: list[PageRow]
    page_count: int


class SectionRow(Row):
    """A section of a document."""

    document: str
    level: int
    title: str
    page_index: int
    page_label: str
    page_index_end: int


class OutlineRow(Row):
    """The table of contents of a document."""

    sections: list[SectionRow]


class AdditionRow(Row):
    """The result of indexing a file."""

    file: str
    document_id: str | None
    status: str
    pages: int
    chunks: int
    pages_text: int
    pages_ocr: int
    pages_empty: int
    pages_failed: int
    reason: str
    seconds: float


class JobRow(Row):
    """A background job: ``done`` of ``total`` pages or chunks of its stage are finished.

    ``continues`` is the id of another job that indexes the same content. ``attached`` maps the ids of the jobs of
    attached files to the names of the files.
    """

    job_id: str
    kind: str
    name: str
    document_id: str | None
    state: str
    stage: str
    done: int
    total: int
    reason: str
    seconds: float
    remaining_s: float | None
    continues: str | None
    attached: dict[str, str]
    addition: AdditionRow | None


class DeletionRow(Row):
    """The receipt of a deletion: what every store still contains, which should be nothing."""

    document_id: str
    document: str
    chunks_removed: int
    chunks_remaining: int
    kept_as: str
    remaining: dict[str, int]


class DeletionsRow(Row):
    """The receipts of a document and of the files attached to it."""

    receipts: list[DeletionRow]


class ConversationRow(Row):
    """A conversation, without its messages."""

    conversation_id: str
    title: str
    created_at: str
    updated_at: str
    pinned: bool
    tags: list[str]


class ConversationsRow(Row):
    """A part of the list of conversations."""

    conversations: list[ConversationRow]
    next_cursor: str | None


class MessageRow(Row):
    """A question, or the answer to it."""

    message_id: str
    role: str
    text: str
    created_at: str
    answer: AnswerRow | None


class MessagesRow(ConversationRow):
    """A conversation with its messages, oldest first."""

    messages: list[MessageRow]


class ModelsRow(Row):
    """The models of the endpoint, and what writes answers: ``extractive`` if they are quotes."""

    models: list[str]
    generator: str


class TokenRow(Row):
    """A token, without its secret text; an empty list of collections stands for all collections."""

    token_id: str
    name: str
    rights: list[str]
    collections: list[str]
    created_at: str
    used_at: str | None


class NewTokenRow(TokenRow):
    """A new token with its secret text, which is returned once."""

    token: str


class TokensRow(Row):
    """All tokens."""

    tokens: list[TokenRow]


class ImportedRow(Row):
    """A document of an export, and the job that indexes it.

    If the library contained the content already, the job has ended. If it also contained all names, there is no job.
    """

    file: str
    document_id: str
    job_id: str | None


class ImportRow(Row):
    """The result of an import: the documents, the number of new conversations, and the names of new settings."""

    documents: list[ImportedRow]
    conversations: int
    settings: list[str]


class ProblemRow(Row):
    """Why a request was not answered, and what to do (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
