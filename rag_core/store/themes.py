"""Store the entities of documents and the themes that they form."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, delete, insert, or_, select, update

from rag_core.store.columns import dump_json
from rag_core.store.database import Database
from rag_core.store.document_queries import lock_active
from rag_core.store.schema import document_entities, documents, theme_entities, theme_statements, themes
from rag_core.types.themes import (
    DocumentEntities,
    Entity,
    Statement,
    StatementSource,
    StoredTheme,
    SummarySentence,
    ThemeEntity,
)

# A part of a theme that is stored as a row.
_Row = TypeVar("_Row", ThemeEntity, StatementSource)
_NO_SUMMARY: dict[str, Any] = {"digest": "", "summary": []}


class ThemeStore:
    """The entities of versions, and the themes of each build. Each method makes its changes in one transaction.

    Entities and statements are stored only for active versions. `themes` leaves out those whose version is no longer
    active.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def find_versions(self, rules: str) -> set[str]:
        """Return the ids of the versions whose stored entities were found by these rules or this model."""
        query = select(document_entities.c.version_id).where(document_entities.c.rules == rules)
        return set(self._db.fetch_values(query))

    def save_entities(self, version_id: str, rules: str, found: DocumentEntities) -> None:
        """Store or replace the entities of a version. Do nothing if the version is no longer active."""
        packed = zlib.compress(dump_json([found.entities, found.statements]).encode())
        with self._db.begin() as connection:
            if not lock_active(connection, version_id):
                return
            connection.execute(delete(document_entities).where(document_entities.c.version_id == version_id))
            connection.execute(insert(document_entities).values(version_id=version_id, rules=rules, entities=packed))

    def load_entities(self, version_ids: Collection[str]) -> dict[str, DocumentEntities]:
        """Return the stored entities of versions by version id. Versions without stored entities are left out."""
        found = {}
        for row in self._db.fetch_batches(select(document_entities), document_entities.c.version_id, version_ids):
            entities, statements = json.loads(zlib.decompress(row.entities))
            found[row.version_id] = DocumentEntities(
                tuple(Entity(*one) for one in entities),
                tuple(Statement._make((*one[:-1], tuple(one[-1]))) for one in statements),
            )
        return found

    def add_theme(self, build: str, position: int, theme: StoredTheme) -> None:
        """Store a theme at a position of a build. A theme that is stored at this position is replaced.

        Entities and statements of versions that are no longer active are left out. If the summary cites such a
        statement, the summary is left out, too.
        """
        with self._db.begin() as connection:
            connection.execute(delete(themes).where(themes.c.build == build, themes.c.position == position))
            versions = {one.version_id for one in theme.entities} | {one.version_id for one in theme.statements}
            # In one order, so that two transactions do not wait for each other.
            active = {version_id for version_id in sorted(versions) if lock_active(connection, version_id)}
            # If a document was removed meanwhile, the summary is left out, because it may repeat text of the document.
            keeps_summary = all(one.version_id in active for one in theme.statements[: theme.cited])
            values = {"id": theme.theme_id, "build": build, "position": position}
            values |= {"digest": theme.digest, "summary": theme.summary} if keeps_summary else _NO_SUMMARY
            values |= {"generator": theme.generator, "cited": theme.cited}
            connection.execute(insert(themes).values(**values))
            _insert_active(connection, theme_entities, theme.theme_id, theme.entities, active)
            _insert_active(connection, theme_statements, theme.theme_id, theme.statements, active)

    def find_summary(self, digest: str) -> tuple[SummarySentence, ...]:
        """Return the summary that a language model wrote for a theme with the same digest; empty if there is none."""
        query = select(themes.c.summary).where(themes.c.digest == digest)
        with self._db.read() as connection:
            summaries = map(_to_sentences, connection.scalars(query))
            return next(filter(None, summaries), ())

    def finish_build(self, build: str, count: int) -> None:
        """Delete the themes of all other builds, and the themes of this build after the first ``count``."""
        self._db.change(delete(themes).where(or_(themes.c.build != build, themes.c.position >= count)))

    def themes(self, build: str) -> list[StoredTheme]:
        """Return the themes of a build in order, with only those entities and statements that are of active versions.

        Themes without such statements are left out. If a statement that the summary of a theme cites was removed, the
        theme is returned without the summary, which may repeat the statement.
        """
        query = select(themes).where(themes.c.build == build).order_by(themes.c.position)
        with self._db.read() as connection:
            entities = _load_parts(connection, build, theme_entities, ThemeEntity)
            statements = _load_parts(connection, build, theme_statements, StatementSource)
            found = []
            for row in connection.execute(query):
                by_position = statements.get(row.id, {})
                if not by_position:
                    continue
                cited = sum(position < row.cited for position in by_position)
                summary = _to_sentences(row.summary) if cited == row.cited else ()
                found.append(
                    StoredTheme(
                        *(row.id, row.digest, row.generator if summary else "extractive", summary, cited),
                        tuple(entities.get(row.id, {}).values()),
                        tuple(by_position.values()),
                    )
                )
        return found


def remove_theme_texts(connection: Connection, version_id: str) -> None:
    """Delete the entities and statements of a version, and the summaries of themes with statements of the version."""
    theme_ids = select(theme_statements.c.theme_id).where(theme_statements.c.version_id == version_id)
    connection.execute(update(themes).where(themes.c.id.in_(theme_ids)).values(**_NO_SUMMARY, generator="extractive"))
    for table in (document_entities, theme_entities, theme_statements):
        connection.execute(delete(table).where(table.c.version_id == version_id))


def _insert_active(
    connection: Connection, table: Table, theme_id: str, rows: Sequence[_Row], active: Collection[str]
) -> None:
    """Store the entities or statements of active versions, with their positions in the theme."""
    values = [
        {"theme_id": theme_id, "position": position, **row._asdict()}
        for position, row in enumerate(rows)
        if row.version_id in active
    ]
    if values:
        connection.execute(insert(table), values)


def _load_parts(connection: Connection, build: str, table: Table, kind: Any) -> dict[str, dict[int, Any]]:
    """Return the entities or statements of active versions, by theme id and position."""
    query = (
        select(table)
        .join(themes, themes.c.id == table.c.theme_id)
        .join(documents, documents.c.active_version == table.c.version_id)
        .where(themes.c.build == build)
        .order_by(table.c.theme_id, table.c.position)
    )
    found: dict[str, dict[int, Any]] = {}
    for row in connection.execute(query):
        found.setdefault(row.theme_id, {})[row.position] = kind(*(getattr(row, name) for name in kind._fields))
    return found


def _to_sentences(stored: Any) -> tuple[SummarySentence, ...]:
    return tuple(SummarySentence(text, tuple(sources)) for text, sources in stored)
