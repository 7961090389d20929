"""Store the names of documents. If a file is added from several paths, its document has several names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Table, delete, func, insert, or_, select, union_all, update

from rag_core.store.database import Database, create_id, group_values, now
from rag_core.store.document_queries import IS_BEING_REMOVED
from rag_core.store.schema import aliases, documents


class DocumentName(NamedTuple):
    """A name of a document, with the collection and the folder of the file that was added under this name.

    ``alias_id`` is the id of an alias, and ``None`` for the first name of the document, which answers show. ``folder``
    is empty for an upload in the browser, and ``None`` if the folder is unknown, because an earlier release added the
    file.
    """

    document_id: str
    alias_id: str | None
    name: str
    collection: str
    folder: str | None


class NameStore:
    """The names of documents. Each method makes its changes in one transaction.

    All queries except `list_aliases` leave out the names of documents that are being removed.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def find(self, name: str, collection: str) -> str | None:
        """Return the id of the document with exactly this name in a collection; ``None`` if there is none."""
        return next((one.document_id for one in self.find_namesakes(name, collection) if one.name == name), None)

    def find_namesakes(self, file_name: str, collection: str) -> list[DocumentName]:
        """Return the names in a collection that are ``file_name`` or end with ``/file_name``, oldest first."""
        return self._find_names(
            lambda table: (
                or_(table.c.name == file_name, table.c.name.endswith(f"/{file_name}", autoescape=True)),
                table.c.collection == collection,
            )
        )

    def find_in_folder(self, folder: str, collection: str) -> list[DocumentName]:
        """Return the collection's names whose file is in a folder or its subfolders, oldest first."""
        return self._find_names(
            lambda table: (
                or_(table.c.folder == folder, table.c.folder.startswith(f"{folder}/", autoescape=True)),
                table.c.collection == collection,
            )
        )

    def names(self, document_id: str) -> list[DocumentName]:
        """Return the first name of a document, then its aliases, oldest first; empty if the document is not stored."""
        stored = self._find_names(lambda _: (documents.c.id == document_id,))
        return sorted(stored, key=lambda one: one.alias_id is not None)

    def list_aliases(self, document_ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the aliases of documents by document id, oldest first.

        Aliases in another collection than the first name, and documents without other aliases, are left out.
        """
        query = select(aliases.c.document_id, aliases.c.name).join(documents, documents.c.id == aliases.c.document_id)
        wanted = aliases.c.document_id.in_(document_ids), aliases.c.collection == documents.c.collection
        return group_values(self._db.fetch(query.where(*wanted).order_by(aliases.c.added_at)))

    def set_folder(self, document_id: str, folder: str) -> None:
        """Set the folder of a document's file."""
        self._db.change(update(documents).where(documents.c.id == document_id).values(folder=folder))

    def rename(self, former: DocumentName, name: str) -> None:
        """Replace ``former``, the first name or an alias of a document, by ``name``."""
        table, key = (aliases, former.alias_id) if former.alias_id else (documents, former.document_id)
        self._db.change(update(table).where(table.c.id == key).values(name=name))

    def add_alias(self, document_id: str, name: str, collection: str, folder: str) -> None:
        """Add an alias to a document."""
        values = {"document_id": document_id, "name": name, "collection": collection, "folder": folder}
        self._db.change(insert(aliases).values(id=create_id(), added_at=now(), **values))

    def remove_alias(self, alias_id: str) -> None:
        """Remove an alias of a document."""
        self._db.change(delete(aliases).where(aliases.c.id == alias_id))

    def promote_alias(self, alias: DocumentName) -> None:
        """Replace the first name, collection and folder of a document by those of an alias, and delete the alias."""
        values = {"name": alias.name, "collection": alias.collection, "folder": alias.folder}
        self._db.change(
            update(documents).where(documents.c.id == alias.document_id).values(values),
            delete(aliases).where(aliases.c.id == alias.alias_id),
        )

    def _find_names(self, conditions: Callable[[Table], Iterable[ColumnElement[bool]]]) -> list[DocumentName]:
        """Return the names that meet conditions, oldest first.

        ``conditions`` returns the conditions on a table. It is called with `documents`, which contains the first names,
        and with `aliases`.
        """
        # NULLIF of a column and itself is always null, with a type that all databases accept.
        first_names = _select_names(documents, func.nullif(documents.c.id, documents.c.id))
        others = _select_names(aliases, aliases.c.id).join(documents, documents.c.id == aliases.c.document_id)
        found = union_all(first_names.where(*conditions(documents)), others.where(*conditions(aliases))).subquery()
        return [DocumentName(*row[:-1]) for row in self._db.fetch(select(found).order_by(found.c.added_at))]


def _select_names(table: Table, alias_id: ColumnElement[Any]) -> Select[Any]:
    columns = (table.c[name] for name in ("name", "collection", "folder", "added_at"))
    return select(documents.c.id.label("document_id"), alias_id.label("alias_id"), *columns).where(~IS_BEING_REMOVED)
