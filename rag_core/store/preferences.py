"""Persistent values by name: preferences set in the pages, and the engine's records about the library."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, insert, select

from rag_core.store.database import Database
from rag_core.store.schema import preferences


class PreferenceStore:
    """JSON values by name. One method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def get(self, name: str) -> Any:
        """Return a stored value, or ``None``."""
        with self._db.read() as connection:
            return connection.execute(select(preferences.c.value).where(preferences.c.name == name)).scalar()

    def set(self, name: str, value: Any) -> None:
        """Store a value; ``None`` removes it."""
        with self._db.begin() as connection:
            connection.execute(delete(preferences).where(preferences.c.name == name))
            if value is not None:
                connection.execute(insert(preferences).values(name=name, value=value))
