"""A lock on a database outside the data folder, so that two processes do not index the same queue."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, text

from rag_core.errors import DatabaseInUse, DataFolderUnwritable

# Key of the PostgreSQL advisory lock: an arbitrary number that other programs are unlikely to use. The lock applies to
# the database of the connection, but not to other databases of the server.
_ADVISORY_KEY = 0x466F6F746E6F7465


class DatabaseLock:
    """A lock that lasts from construction until `release` is called or the process ends, even by a crash.

    For SQLite, a file next to the database is locked. For PostgreSQL, an advisory lock is used. Other databases are
    not locked.

    Raises
    ------
    DatabaseInUse
        Another process uses the database.
    DataFolderUnwritable
        The lock file of a SQLite database cannot be written.
    """

    def __init__(self, engine: Engine) -> None:
        self._file: object = None
        self._connection: Connection | None = None
        url = engine.url.render_as_string(hide_password=True)
        name = engine.url.database
        if engine.dialect.name == "sqlite" and name and name != ":memory:" and not name.startswith("file:"):
            self._file = _lock_file(Path(f"{name}.lock"), url)
        elif engine.dialect.name == "postgresql":
            # The lock has its own connection, because PostgreSQL releases the lock when this connection is closed.
            self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            if not self._connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _ADVISORY_KEY}).scalar():
                self._connection.close()
                raise DatabaseInUse(_message(url))

    def release(self) -> None:
        """Release the lock, so that another process can use the database."""
        if self._connection is not None:
            # Really close the connection. Otherwise, it would return to the pool, which keeps it open with its lock.
            self._connection.invalidate()
            self._connection.close()
        if self._file is not None:
            self._file.release()  # type: ignore[attr-defined] # filelock is imported when needed


def _lock_file(path: Path, url: str) -> object:
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise DatabaseInUse(_message(url)) from None
    except OSError as error:
        raise DataFolderUnwritable(
            f"The folder of the database {url} cannot be written ({error.strerror or error}). Give write access, or "
            "set DATABASE_URL to another database."
        ) from error
    return lock


def _message(url: str) -> str:
    return (
        f"The database {url} is in use by another Footnote process. Close it, or give each process a database of its "
        "own (DATABASE_URL)."
    )
