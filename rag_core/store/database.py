"""Connect to the database, run statements, and translate errors of the database."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from sqlalchemy import URL, ColumnElement, Connection, Row, Select, UpdateBase, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, OperationalError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from rag_core.errors import DataFolderUnwritable, ServerUnavailable, SettingsError, StoreUnavailable
from rag_core.store.columns import dump_json
from rag_core.store.database_lock import DatabaseLock
from rag_core.store.migrate import prepare_schema

# A row with any columns.
AnyRow: TypeAlias = Row[*tuple[Any, ...]]
# Maximum time in milliseconds for which SQLite waits for a lock.
BUSY_MS = 30_000
# Maximum number of bound values in a statement. Older builds of SQLite refuse more than 999.
MAX_BOUND = 900
RESTORE_HINT = (
    "stop Footnote and restore the data folder from a backup, or set another folder (--data-dir, RAG_DATA_DIR) and "
    "add the documents again; their files are in the subfolder named files"
)


def create_id() -> str:
    """Return a random identifier of 32 hexadecimal digits."""
    return uuid4().hex


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def split_batches(values: list[Any], size: int = MAX_BOUND) -> Iterator[list[Any]]:
    """Yield slices of a list with at most ``size`` values."""
    for first in range(0, len(values), size):
        yield values[first : first + size]


def group_values(pairs: Iterable[Any]) -> dict[Any, list[Any]]:
    """Group pairs, such as rows with two columns, by their first values; return lists of their second values."""
    groups: dict[Any, list[Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


class Database:
    """A database with a pool of connections.

    Parameters
    ----------
    url : str or Path
        SQLAlchemy URL, or the file of a SQLite database.
    has_schema : bool
        Whether to create or update the tables of `rag_core.store.schema`.
    exclusive : bool
        Whether to lock the database, so that no other process can open it with ``exclusive``.
    restore_hint : str
        What the user can do about a damaged database, for the error message.

    Raises
    ------
    SettingsError
        The URL cannot be parsed or its driver is not installed.
    DatabaseInUse
        Another process has locked the database.
    DataFolderUnwritable, StoreUnavailable
        The database cannot be opened.
    """

    def __init__(
        self, url: str | Path, *, has_schema: bool = True, exclusive: bool = False, restore_hint: str = RESTORE_HINT
    ) -> None:
        self._restore_hint = restore_hint
        self._lock: DatabaseLock | None = None
        self._refusal_reason = ""
        try:
            # A path is not parsed as a URL, because it can contain characters such as a question mark.
            parsed = URL.create("sqlite", database=str(url)) if isinstance(url, Path) else make_url(url)
            self._url = parsed.render_as_string(hide_password=True)
            self._engine = create_engine(
                parsed, pool_pre_ping=parsed.get_backend_name() != "sqlite", json_serializer=dump_json
            )
        except (ArgumentError, ImportError, ValueError) as error:
            raise SettingsError(
                f"DATABASE_URL cannot be used ({error}). Give a SQLAlchemy URL whose driver is installed."
            ) from None
        if self._engine.dialect.name == "sqlite":
            event.listen(self._engine, "connect", _configure_sqlite)
        elif self._engine.dialect.name == "postgresql" and self._engine.driver == "psycopg":
            from rag_core.store.postgresql import guard_connections

            guard_connections(self._engine)
        try:
            with self._translate_errors():
                if exclusive:
                    self._lock = DatabaseLock(self._engine)
                if has_schema:
                    prepare_schema(self._engine)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Yield a connection in a transaction.

        The transaction is committed when the block ends, or rolled back if the block raises.
        """
        if self._refusal_reason:
            raise DataFolderUnwritable(self._refusal_reason)
        with self._translate_errors(), self._engine.begin() as connection:
            yield connection

    def refuse_changes(self, reason: str) -> Database:
        """Return a view of the database in which `begin` and `change` raise `DataFolderUnwritable` with this reason."""
        view = copy.copy(self)
        view._refusal_reason = reason
        return view

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection for queries. Changes are not committed."""
        with self._translate_errors(), self._engine.connect() as connection:
            yield connection

    def change(self, *statements: UpdateBase) -> int:
        """Run statements in one transaction, and return how many rows the last statement changed."""
        with self.begin() as connection:
            return [connection.execute(statement).rowcount for statement in statements][-1]

    def fetch(self, query: Select[Any]) -> Sequence[AnyRow]:
        """Return the rows of a query."""
        with self.read() as connection:
            return connection.execute(query).all()

    def fetch_first(self, query: Select[Any]) -> AnyRow | None:
        """Return the first row of a query; ``None`` if the query finds no row."""
        with self.read() as connection:
            return connection.execute(query).first()

    def fetch_values(self, query: Select[Any]) -> list[Any]:
        """Return the values of the first column of a query."""
        with self.read() as connection:
            return list(connection.scalars(query))

    def fetch_batches(
        self, query: Select[Any], key: ColumnElement[Any], values: Iterable[Any] | None, size: int = MAX_BOUND
    ) -> list[AnyRow]:
        """Return the rows of a query whose ``key`` is one of ``values``, or all rows if ``values`` is ``None``.

        One statement is run for each batch of ``size`` values.
        """
        with self.read() as connection:
            if values is None:
                return list(connection.execute(query))
            batches = split_batches(list(values), size)
            return [row for batch in batches for row in connection.execute(query.where(key.in_(batch)))]

    @staticmethod
    def measure_file(connection: Connection) -> int:
        """Return the size in bytes of a SQLite file, without its unused pages."""
        pragmas = ("page_size", "page_count", "freelist_count")
        size, pages, free = (int(connection.exec_driver_sql(f"PRAGMA {one}").scalar_one()) for one in pragmas)
        return size * (pages - free)

    def close(self) -> None:
        """Release the lock and close all connections."""
        if self._lock is not None:
            self._lock.release()
        self._engine.dispose()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of SQLAlchemy as `StoreError`."""
        try:
            yield
        except SQLAlchemyError as error:
            if self._engine.dialect.name != "sqlite" and _is_outage(error):
                raise self._build_outage_error(error) from error
            if isinstance(error, OperationalError):
                raise _translate_operational_error(error, self._url) from error
            # The reason does not contain the SQL statement, whose values can be text of documents.
            reason = error.orig if isinstance(error, StatementError) else error
            # The driver raises `DatabaseError` for a file that is damaged or no database, and subclasses for other
            # errors.
            if type(error) is DatabaseError and self._engine.dialect.name == "sqlite":
                message = f"The database {self._url} is damaged ({reason}): {self._restore_hint}."
                raise StoreUnavailable(message) from error
            raise StoreUnavailable(f"The database {self._url} refused an operation ({reason}).") from error

    def _build_outage_error(self, error: SQLAlchemyError) -> ServerUnavailable:
        url = self._engine.url
        reason = str(error.orig if isinstance(error, StatementError) else error).strip()
        return ServerUnavailable(
            f"The database {self._url} does not answer ({reason}). Check that its server runs, and check DATABASE_URL. "
            "Nothing was lost.",
            f"the database at {url.host or 'localhost'}{f':{url.port}' if url.port else ''}",
        )


def _is_outage(error: SQLAlchemyError) -> bool:
    """Return whether a server did not answer, so that the same statement may succeed later."""
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or isinstance(error, OperationalError)
    return isinstance(error, PoolTimeout)


def _configure_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    # WAL allows searches while a document is being written.
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    # Overwrite deleted data. Many builds of SQLite do not do so by default, and leave text of deleted documents in the
    # file.
    cursor.execute("PRAGMA secure_delete=ON")
    cursor.execute("PRAGMA foreign_keys=ON")
    # The function ``lower`` of SQLite changes only ASCII letters, so that a search for "É" would not find "é".
    connection.create_function("lower", 1, lambda text: text.lower() if isinstance(text, str) else text)
    cursor.execute(f"PRAGMA busy_timeout={BUSY_MS}")
    cursor.execute("PRAGMA cache_size=-65536")
    cursor.execute("PRAGMA mmap_size=1073741824")
    cursor.close()


def _translate_operational_error(error: OperationalError, url: str) -> StoreUnavailable | DataFolderUnwritable:
    reason = str(error.orig)
    if "readonly" in reason or "unable to open" in reason:
        return DataFolderUnwritable(
            f"The database {url} cannot be written ({reason}). Give the account that runs Footnote write access "
            "to the folder, or set RAG_DATA_DIR to another folder."
        )
    if "full" in reason:
        return DataFolderUnwritable(
            f"The disk that holds {url} is full. Nothing was lost; free some space, or set RAG_DATA_DIR to a folder "
            "on another disk, and try again."
        )
    if "locked" in reason:
        return StoreUnavailable(
            f"The database {url} is locked by another process. Close the other program and try again."
        )
    return StoreUnavailable(f"The database {url} does not answer ({reason}). Check the disk that contains it.")
