"""Let connections to PostgreSQL fail within seconds if the server hangs."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg
from psycopg import generators, waiting
from psycopg.conninfo import make_conninfo
from sqlalchemy import Engine, event

# After this time in seconds without data, a second connection checks whether the server still answers.
CHECK_AFTER_S = 0.5
# Maximum time in seconds for this check.
ANSWER_WITHIN_S = 1.5
# For this time in seconds after a failed check, new connections fail at once, so that a question waits only once.
FAIL_FAST_S = 1.0
# Maximum time in seconds to open a connection. psycopg waits at least 2 s.
CONNECT_WITHIN_S = 2


class ServerSilent(psycopg.OperationalError):  # type: ignore[misc] # psycopg is optional, and mypy does not follow it
    """The server accepts connections but does not respond."""


def guard_connections(engine: Engine) -> None:
    """Let connections of an engine fail if the server hangs, and let the server return times in UTC.

    The time of a statement is not limited while the server accepts other connections. A time limit could not
    distinguish a server that hangs from a server that works on a large statement.
    """
    guard = _Guard()

    def connect(_dialect: object, _record: object, arguments: Any, options: Any) -> Any:
        context = options.pop("context", None)
        conninfo = make_conninfo(*arguments, **{"connect_timeout": CONNECT_WITHIN_S, **options})
        return guard.connect(conninfo, context)

    event.listen(engine, "do_connect", connect)


class _Guard:
    """Opens connections, and checks whether the server still answers."""

    def __init__(self) -> None:
        self._silent_until = 0.0

    def connect(self, conninfo: str, context: Any) -> psycopg.Connection[Any]:
        """Return a guarded connection; raise `ServerSilent` if the server does not, or just did not, respond."""
        if time.monotonic() < self._silent_until:
            raise ServerSilent("no response")
        try:
            connection = _GuardedConnection.connect(conninfo, autocommit=True, context=context)
        except psycopg.errors.ConnectionTimeout as error:
            self._silent_until = time.monotonic() + FAIL_FAST_S
            raise ServerSilent("no response") from error
        connection.guard, connection.conninfo = self, conninfo
        connection.execute("SET TIME ZONE 'UTC'")
        connection.autocommit = False
        return connection

    def is_silent(self, conninfo: str) -> bool:
        """Return whether the server does not respond to a new connection. A refusal is a response.

        If the server does not respond, new connections fail at once for `FAIL_FAST_S` seconds.
        """
        try:
            waiting.wait_conn(generators.connect(conninfo), interval=0.1, timeout=ANSWER_WITHIN_S).finish()
        except psycopg.errors._WaitTimeout:
            self._silent_until = time.monotonic() + FAIL_FAST_S
            return True
        except psycopg.OperationalError:
            return False
        return False


class _GuardedConnection(psycopg.Connection[Any]):  # type: ignore[misc]
    """A connection that is closed if the server hangs. psycopg calls `wait` for each response of the server."""

    guard: _Guard | None = None
    conninfo = ""

    def wait(self, gen: Generator[Any, Any, Any], *arguments: Any, **options: Any) -> Any:
        return super().wait(self._watch(gen), *arguments, **options)

    def _watch(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Yield what ``gen`` yields; if the server hangs, close the connection and raise `ServerSilent`."""
        checked = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                # While there is no data, psycopg sends 0 every 0.1 s.
                ready = yield wanted
                if ready or self.guard is None:
                    checked = time.monotonic()
                elif time.monotonic() - checked > CHECK_AFTER_S:
                    if self.guard.is_silent(self.conninfo):
                        self.close()
                        raise ServerSilent("no response")
                    checked = time.monotonic()
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value
