"""Store values by name: preferences of users, and values that the engine records about the library."""

from __future__ import annotations

import threading
from typing import Any

from sqlalchemy import delete, insert, select

from rag_core.store.database import Database
from rag_core.store.schema import preferences


class PreferenceStore:
    """JSON values by name. Each method makes its changes in one transaction.

    Values are cached in memory, because each question reads several of them. No other process can change them, because
    the database is locked.
    """

    def __init__(self, database: Database) -> None:
        self._db = database
        self._cache: dict[str, Any] = {}
        self._lock = threading.Lock()

    def get(self, name: str) -> Any:
        """Return the value with a name; ``None`` if there is none."""
        if name in self._cache:
            return self._cache[name]
        with self._lock, self._db.read() as connection:
            query = select(preferences.c.value).where(preferences.c.name == name)
            value = self._cache[name] = connection.execute(query).scalar()
        return value

    def set(self, name: str, value: Any) -> None:
        """Store or replace a value; ``None`` removes the stored value."""
        with self._lock, self._db.begin() as connection:
            connection.execute(delete(preferences).where(preferences.c.name == name))
            if value is not None:
                connection.execute(insert(preferences).values(name=name, value=value))
            self._cache.pop(name, None)
