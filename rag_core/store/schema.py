"""The tables: the one truth about documents, conversations and work in progress.

A *version* is one indexing of one file's content, in one generation. A document's
``active_version`` is the only one that a search may see, so publishing, replacing and removing a
document are each one update in one transaction. Chroma and the word index hold nothing that cannot
be rebuilt from here.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

generations = Table(
    "generations",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("fingerprint", JSON, nullable=False),
    Column("state", String(16), nullable=False),  # building, active, retired
    Column("created_at", DateTime(timezone=True), nullable=False),
    sqlite_autoincrement=True,
)

documents = Table(
    "documents",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False, index=True),
    Column("collection", Text, nullable=False, index=True),
    # Not a foreign key: versions point at documents, and the two would lock each other.
    Column("active_version", String(32), index=True),
    Column("added_at", DateTime(timezone=True), nullable=False, index=True),
)

versions = Table(
    "versions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("document_id", String(32), ForeignKey("documents.id"), nullable=False, index=True),
    # Unset while the version waits: which generation it joins is decided when work on it begins.
    Column("generation_id", Integer, ForeignKey("generations.id"), index=True),
    Column("sha256", String(64), nullable=False, index=True),
    Column("size", Integer, nullable=False),
    Column("state", String(16), nullable=False, index=True),  # building, words, full, ended, removing
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
    Column("added_at", DateTime(timezone=True), nullable=False),
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
)

# What a page holds and does not show; few pages do.
hidden_texts = Table(
    "hidden_texts",
    metadata,
    Column("version_id", String(32), ForeignKey("versions.id"), primary_key=True),
    Column("page_index", Integer, primary_key=True),
    Column("text", Text, nullable=False),
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
    # Ids are never used twice: a vector or word entry that a crash left behind must not come to
    # stand for another chunk.
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
    Column("created_at", DateTime(timezone=True), nullable=False, index=True),
    Column("started_at", DateTime(timezone=True)),
    Column("finished_at", DateTime(timezone=True)),
)

watches = Table(
    "watches",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("url", Text, nullable=False, unique=True),
    Column("collection", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("checked_at", DateTime(timezone=True)),
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
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False, index=True),
    Column("pinned", Boolean, nullable=False, default=False),
    Column("documents", JSON, nullable=False),
)

# Conversations over whole collections, as they are by the time of a question.
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
    Column("created_at", DateTime(timezone=True), nullable=False, index=True),
)

feedback = Table(
    "feedback",
    metadata,
    # What a reader thought of an answer goes with it.
    Column("message_id", String(32), ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("good", Boolean, nullable=False),
    Column("note", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

labels = Table(
    "labels",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("question", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("evidence", JSON, nullable=False),
    Column("answers", JSON, nullable=False),
    # The answer that it was made from; what is known of a question outlives it.
    Column("message_id", String(32), index=True),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("created_at", DateTime(timezone=True), nullable=False, index=True),
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
    # Unset, and the currency empty, where no price was set.
    Column("cost", Float),
    Column("currency", String(8), nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, index=True),
)

preferences = Table(
    "preferences",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", JSON, nullable=False),
)
