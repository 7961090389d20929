"""The database tables.

A *version* is the result of indexing a file of a document once, in one generation of the index. Searches find only the
active version of a document. A document is therefore published, replaced or hidden by a change of the column
``active_version``. The indexes contain only data that can be rebuilt from these tables.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    false,
)

from rag_core.store.columns import String, Text, Time

metadata = MetaData()

generations = Table(
    "generations",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("fingerprint", JSON, nullable=False),
    Column("state", String(16), nullable=False),  # building, active, retired
    Column("created_at", Time, nullable=False),
    sqlite_autoincrement=True,
)

documents = Table(
    "documents",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False, index=True),
    Column("collection", Text, nullable=False, index=True),
    # Folder or archive of the file; empty for an upload in the browser, null if an earlier release added the file.
    Column("folder", Text),
    # Not a foreign key, which would be circular with the foreign key from versions to documents.
    Column("active_version", String(32), index=True),
    Column("added_at", Time, nullable=False, index=True),
    Column("tags", JSON, nullable=False, server_default="[]"),
)

# Further names of documents whose file was added from several paths.
aliases = Table(
    "aliases",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("document_id", String(32), ForeignKey("documents.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("name", Text, nullable=False, index=True),
    Column("collection", Text, nullable=False, index=True),
    Column("folder", Text, nullable=False),
    Column("added_at", Time, nullable=False),
)

versions = Table(
    "versions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("document_id", String(32), ForeignKey("documents.id"), nullable=False, index=True),
    # Null while the version is queued. The generation is chosen when indexing starts.
    Column("generation_id", Integer, ForeignKey("generations.id"), index=True),
    Column("sha256", String(64), nullable=False, index=True),
    Column("size", Integer, nullable=False),
    Column("state", String(16), nullable=False, index=True),  # see `VersionRow`
    Column("status", String(16), nullable=False),
    Column("reason", Text, nullable=False, default=""),
    Column("pages", Integer, nullable=False, default=0),
    Column("pages_text", Integer, nullable=False, default=0),
    Column("pages_ocr", Integer, nullable=False, default=0),
    Column("pages_empty", Integer, nullable=False, default=0),
    Column("pages_failed", Integer, nullable=False, default=0),
    Column("chunks", Integer, nullable=False, default=0),
    Column("needs_password", Boolean, nullable=False, default=False),
    Column("extractor", Text, nullable=False, default=""),
    Column("added_at", Time, nullable=False),
    # See `DocumentAttributes`.
    Column("company", Text, nullable=False, server_default=""),
    Column("year", Integer),
    Column("kind", Text, nullable=False, server_default=""),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    # Empty for a snapshot of the whole library.
    Column("collection", Text, nullable=False),
    Column("as_of", Time, nullable=False, index=True),
    Column("created_at", Time, nullable=False),
)

# The content of each document in a snapshot. Rows refer to files and not to versions, because a re-index creates a new
# version of the same file.
snapshot_contents = Table(
    "snapshot_contents",
    metadata,
    Column("snapshot_id", String(32), ForeignKey("snapshots.id", ondelete="CASCADE"), primary_key=True),
    Column("document_id", String(32), ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("sha256", String(64), nullable=False),
    Index("snapshot_contents_by_document", "document_id", "sha256"),
)

pages = Table(
    "pages",
    metadata,
    Column("version_id", String(32), ForeignKey("versions.id"), primary_key=True),
    Column("page_index", Integer, primary_key=True),
    Column("page_label", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("reason", Text, nullable=False),
    Column("width", Float, nullable=False),
    Column("height", Float, nullable=False),
    Column("heading", Text, nullable=False),
    Column("confidence", Float),
    Column("boxes", LargeBinary, nullable=False),
    Column("skip", JSON, nullable=False),
    # Start, end and path of each heading; null if an earlier release read the page.
    Column("headings", JSON(none_as_null=True)),
)

# The invisible text of pages, in a separate table, because few pages contain invisible text.
hidden_texts = Table(
    "hidden_texts",
    metadata,
    Column("version_id", String(32), ForeignKey("versions.id"), primary_key=True),
    Column("page_index", Integer, primary_key=True),
    Column("text", Text, nullable=False),
)

# The tables of pages as compressed JSON, for pages that contain tables.
page_tables = Table(
    "page_tables",
    metadata,
    Column("version_id", String(32), ForeignKey("versions.id"), primary_key=True),
    Column("page_index", Integer, primary_key=True),
    Column("tables", LargeBinary, nullable=False),
)

# Cards of versions; see `DocumentCard`.
document_cards = Table(
    "document_cards",
    metadata,
    Column("version_id", String(32), ForeignKey("versions.id"), primary_key=True),
    Column("is_complete", Boolean, nullable=False),
    Column("card", JSON, nullable=False),
)

# Descriptions of figures by language models, which are no text of a document. ``start`` and ``end`` are the offsets of
# the caption in the page's text, ``digest`` is the SHA-256 of the picture, and searches find a description by the chunk
# ``chunk_id``. When a version is replaced, its rows are moved to the new version. Their ``page_index``, ``start`` and
# ``end`` are null until their figures are found in the new version.
figure_descriptions = Table(
    "figure_descriptions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("version_id", String(32), ForeignKey("versions.id"), nullable=False, index=True),
    Column("page_index", Integer),
    Column("start", Integer),
    Column("end", Integer),
    Column("digest", String(64), nullable=False),
    Column("text", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("created_at", Time, nullable=False),
    Column("chunk_id", Integer),
)

# The entities of a version and the statements that mention them, as compressed JSON. ``rules`` identifies the rules or
# the model that found them.
document_entities = Table(
    "document_entities",
    metadata,
    Column("version_id", String(32), ForeignKey("versions.id"), primary_key=True),
    Column("rules", Text, nullable=False),
    Column("entities", LargeBinary, nullable=False),
)

# Themes, which are communities of entities. ``build`` is the id of the job that found them.
themes = Table(
    "themes",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("build", String(32), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("digest", String(64), nullable=False, index=True),
    Column("generator", Text, nullable=False),
    # The sentences of a language model, with the positions of their statements; empty for an extractive summary.
    Column("summary", JSON, nullable=False),
    Column("cited", Integer, nullable=False),
)

# An entity of a theme has a row for each version that mentions the entity. A row is deleted with its version.
theme_entities = Table(
    "theme_entities",
    metadata,
    Column("theme_id", String(32), ForeignKey("themes.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("version_id", String(32), ForeignKey("versions.id"), nullable=False, index=True),
    Column("key", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("mentions", Integer, nullable=False),
)

theme_statements = Table(
    "theme_statements",
    metadata,
    Column("theme_id", String(32), ForeignKey("themes.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("version_id", String(32), ForeignKey("versions.id"), nullable=False, index=True),
    Column("chunk_id", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("space", String(32), nullable=False),
    Column("text_hash", LargeBinary(16), nullable=False, index=True),
    Column("dense", LargeBinary, nullable=False),
    Column("scales", LargeBinary, nullable=False),
    Column("tokens", LargeBinary, nullable=False),
    UniqueConstraint("space", "text_hash"),
    sqlite_autoincrement=True,
)

chunks = Table(
    "chunks",
    metadata,
    # Ids are never reused, because an index can contain the id of a deleted chunk after a crash.
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("version_id", String(32), ForeignKey("versions.id"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("page_index", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("page_index_end", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("heading", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("sentences", LargeBinary, nullable=False),
    Column("text_hash", LargeBinary(16), nullable=False),
    Column("embedding_id", Integer, index=True),
    Index("chunks_by_version", "version_id", "ordinal"),
    sqlite_autoincrement=True,
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("document_id", String(32), index=True),
    Column("version_id", String(32), index=True),
    Column("stage", String(32), nullable=False, default=""),
    Column("done", Integer, nullable=False, default=0),
    Column("total", Integer, nullable=False, default=0),
    Column("result", String(16)),
    Column("reason", Text, nullable=False, default=""),
    Column("details", JSON, nullable=False),
    Column("created_at", Time, nullable=False, index=True),
    Column("started_at", Time),
    Column("finished_at", Time),
)

watches = Table(
    "watches",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("url", Text, nullable=False, unique=True),
    Column("collection", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("created_at", Time, nullable=False),
    Column("checked_at", Time),
)

watched_files = Table(
    "watched_files",
    metadata,
    Column("watch_id", String(32), ForeignKey("watches.id"), primary_key=True),
    Column("path", Text, primary_key=True),
    Column("stamp", Text, nullable=False),
    Column("document_id", String(32), index=True),
    Column("owned", Boolean, nullable=False),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("title", Text, nullable=False),
    Column("created_at", Time, nullable=False),
    Column("updated_at", Time, nullable=False, index=True),
    Column("pinned", Boolean, nullable=False, default=False),
    Column("documents", JSON, nullable=False),
    # Null stands for the configured model, and an empty text for excerpts without a model.
    Column("model", Text),
    Column("instructions", Text, nullable=False, server_default=""),
    # Name of a snapshot, or a date; empty for the present documents.
    Column("as_of", Text, nullable=False, server_default=""),
    Column("tags", JSON, nullable=False, server_default="[]"),
)

# The collections that a conversation searches. Each question searches their present documents.
conversation_collections = Table(
    "conversation_collections",
    metadata,
    Column("conversation_id", String(32), ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True),
    Column("collection", Text, primary_key=True),
)

messages = Table(
    "messages",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("conversation_id", String(32), ForeignKey("conversations.id"), nullable=False, index=True),
    Column("role", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("answer", JSON),
    Column("created_at", Time, nullable=False, index=True),
)

feedback = Table(
    "feedback",
    metadata,
    # Feedback is deleted with its answer.
    Column("message_id", String(32), ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("good", Boolean, nullable=False),
    Column("note", Text, nullable=False),
    Column("created_at", Time, nullable=False),
)

labels = Table(
    "labels",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("question", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("evidence", JSON, nullable=False),
    Column("answers", JSON, nullable=False),
    # Whether the question was generated from a sentence of a document.
    Column("is_pseudo", Boolean, nullable=False, server_default=false()),
    # The answer from which the label was created. The label is kept when the answer is deleted.
    Column("message_id", String(32), index=True),
    Column("created_at", Time, nullable=False),
)

trainings = Table(
    "trainings",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("created_at", Time, nullable=False, index=True),
    # Weights and projection of the embedder whose vectors the matrices map.
    Column("weights", String(64), nullable=False),
    Column("projection", String(64), nullable=False),
    Column("report", JSON, nullable=False),
    # Null if the adapter was rejected.
    Column("matrices", LargeBinary),
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("created_at", Time, nullable=False, index=True),
    Column("result", JSON, nullable=False),
)

usage = Table(
    "usage",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("generator", Text, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("estimated", Boolean, nullable=False),
    # Null if no price was set; ``currency`` is then empty.
    Column("cost", Float),
    Column("currency", String(8), nullable=False),
    Column("created_at", Time, nullable=False, index=True),
)

# Access tokens of the API. ``digest`` is the SHA-256 of the secret. Without ``collections``, a token is valid for all.
api_tokens = Table(
    "api_tokens",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("rights", JSON, nullable=False),
    Column("collections", JSON, nullable=False),
    Column("created_at", Time, nullable=False),
    Column("used_at", Time),
)

preferences = Table(
    "preferences",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", JSON, nullable=False),
)
