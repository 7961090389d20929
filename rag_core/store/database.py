"""The database behind a SQLAlchemy URL: connections, pragmas, and errors in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError, SQLAlchemyError, StatementError

from rag_core.errors import DataFolderUnwritable, SettingsError, StoreUnavailable
from rag_core.store.migrate import prepare_schema

# How long SQLite waits for another process that writes.
BUSY_MS = 30_000
# SQLite refuses statements with more bound values than this on older builds.
MAX_BOUND = 900
RESTORE = (
    "stop Footnote and put a copy of the data folder back, or name another folder (--data-dir, RAG_DATA_DIR) and add "
    "the documents there; their files lie in the folder's part named files"
)


def new_id() -> str:
    """A fresh identifier of 32 hexadecimal digits."""
    return uuid4().hex


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


def as_utc(moment: datetime) -> datetime:
    """SQLite gives times back without their zone; all that is stored is UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def batches(values: list[Any], size: int = MAX_BOUND) -> Iterator[list[Any]]:
    """Cut a list into runs of at most ``size``."""
    for first in range(0, len(values), size):
        yield values[first : first + size]


class Database:
    """A pool of connections and the schema behind it.

    Parameters
    ----------
    url : str or Path
        SQLAlchemy URL, or the file of a SQLite database.
    has_schema : bool
        Create the tables of `rag_core.store.schema`, or bring them up to date.
    restore : str
        What to do where its file is damaged.

    Raises
    ------
    SettingsError
        The URL cannot be parsed or its driver is not installed.
    DataFolderUnwritable, StoreUnavailable
        The database cannot be opened.
    """

    def __init__(self, url: str | Path, *, has_schema: bool = True, restore: str = RESTORE) -> None:
        self._restore = restore
        try:
            # A file's name may hold what has a meaning in a URL, such as a question mark.
            where = URL.create("sqlite", database=str(url)) if isinstance(url, Path) else make_url(url)
            self._shown = where.render_as_string(hide_password=True)
            self._engine = create_engine(where, pool_pre_ping=where.get_backend_name() != "sqlite")
        except (ArgumentError, ImportError, ValueError) as error:
            raise SettingsError(
                f"DATABASE_URL cannot be used ({error}). Give a SQLAlchemy URL whose driver is installed."
            ) from None
        if self._engine.dialect.name == "sqlite":
            event.listen(self._engine, "connect", _set_pragmas)
        with self._errors():
            if has_schema:
                prepare_schema(self._engine)
            else:
                self._engine.connect().close()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """One transaction: committed when the block ends, rolled back when it raises."""
        with self._errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading only."""
        with self._errors(), self._engine.connect() as connection:
            yield connection

    def close(self) -> None:
        """Give every connection back."""
        self._engine.dispose()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OperationalError as error:
            raise _in_words(error, self._shown) from error
        except SQLAlchemyError as error:
            # Without the statement, whose values may be what a document says.
            reason = error.orig if isinstance(error, StatementError) else error
            # SQLite's own word for a file that is damaged, or is no database; all else is of a class below.
            if type(error) is DatabaseError and self._engine.dialect.name == "sqlite":
                raise StoreUnavailable(f"The database {self._shown} is damaged ({reason}): {self._restore}.") from error
            raise StoreUnavailable(f"The database {self._shown} refused an operation ({reason}).") from error


def _set_pragmas(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    # WAL lets questions be answered while a document is being written.
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    # As many builds leave it, what a deleted document said stays in the file until something is written over it.
    cursor.execute("PRAGMA secure_delete=ON")
    cursor.execute("PRAGMA foreign_keys=ON")
    # SQLite's own knows the letters of ASCII alone, so that "é" would not be found by "É".
    connection.create_function("lower", 1, lambda text: text.lower() if isinstance(text, str) else text)
    cursor.execute(f"PRAGMA busy_timeout={BUSY_MS}")
    cursor.execute("PRAGMA cache_size=-65536")
    cursor.execute("PRAGMA mmap_size=1073741824")
    cursor.close()


def _in_words(error: OperationalError, shown: str) -> StoreUnavailable | DataFolderUnwritable:
    reason = str(error.orig)
    if "readonly" in reason or "unable to open" in reason:
        return DataFolderUnwritable(
            f"The database {shown} cannot be written ({reason}). Give the account that runs this write access "
            "to the folder, or set RAG_DATA_DIR to another one."
        )
    if "full" in reason:
        return DataFolderUnwritable(
            f"The disk that holds {shown} is full. Nothing was lost; free some space, or set RAG_DATA_DIR to a folder "
            "on another disk, and try again."
        )
    if "locked" in reason:
        return StoreUnavailable(
            f"The database {shown} is locked by another process. Close the other program and try again."
        )
    todo = "the disk that holds it" if shown.startswith("sqlite") else "that it runs, and DATABASE_URL"
    return StoreUnavailable(f"The database {shown} does not answer ({reason}). Check {todo}.")
