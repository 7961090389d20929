"""Lock the database, so that two processes do not process the same queue.

The lock of the data folder does not prevent this, because processes with different data folders can use one database.
"""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.exc import DBAPIError

from rag_core.errors import DatabaseInUse, DataFolderUnwritable

# Key of the PostgreSQL advisory lock: a number that other programs are unlikely to use. Each database of a server has
# its own locks.
_ADVISORY_KEY = 0x466F6F746E6F7465


class DatabaseLock:
    """A lock that is held from construction until `release` is called or the process ends, even by a crash.

    The lock of a SQLite database is a file next to it. The lock of a PostgreSQL database is an advisory lock. Other
    databases are not locked.

    Raises
    ------
    DatabaseInUse
        Another process has locked the database.
    DataFolderUnwritable
        The lock file of a SQLite database cannot be written.
    """

    def __init__(self, engine: Engine) -> None:
        self._file: object = None
        self._engine = engine
        # Reentrant, because `_renew` opens a connection, which calls `_renew` again.
        self._renewal_lock, self._is_renewing = threading.RLock(), False
        self._connection: Connection | None = None
        url = engine.url.render_as_string(hide_password=True)
        name = engine.url.database
        if engine.dialect.name == "sqlite" and name and name != ":memory:" and not name.startswith("file:"):
            self._file = _lock_file(Path(f"{name}.lock"), url)
        elif engine.dialect.name == "postgresql":
            self._lock_postgresql()
            event.listen(engine, "connect", self._renew)

    def _lock_postgresql(self) -> None:
        # The lock has a separate connection. PostgreSQL releases the lock when this connection is closed.
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            if not connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _ADVISORY_KEY}).scalar():
                raise DatabaseInUse(_describe_use(self._engine.url.render_as_string(hide_password=True)))
        except BaseException:
            connection.close()
            raise
        # The pool could replace the connection by a connection without the lock.
        connection.detach()
        self._connection = connection

    def _renew(self, _connection: object, _record: object) -> None:
        """Lock the database again if the connection of the lock was lost, for example by a restart of the server.

        The pool calls this method whenever it has opened a connection, as it does after connections were lost.
        """
        with self._renewal_lock:
            if self._is_renewing or self._connection is None or self._is_alive(self._connection):
                return
            self._is_renewing = True
            try:
                self._connection.close()
                self._lock_postgresql()
            finally:
                self._is_renewing = False

    def _is_alive(self, connection: Connection) -> bool:
        try:
            connection.execute(text("SELECT 1"))
        except DBAPIError:
            return False
        return True

    def release(self) -> None:
        """Release the lock, so that another process can use the database."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._file is not None:
            self._file.release()  # type: ignore[attr-defined] # filelock is imported when needed


def _lock_file(path: Path, url: str) -> object:
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise DatabaseInUse(_describe_use(url)) from None
    except OSError as error:
        raise DataFolderUnwritable(
            f"The folder of the database {url} cannot be written ({error.strerror or error}). Give write access, or "
            "set DATABASE_URL to another database."
        ) from error
    return lock


def _describe_use(url: str) -> str:
    return (
        f"The database {url} is in use by another Footnote process. Close it, or give each process a database of its "
        "own (DATABASE_URL)."
    )
