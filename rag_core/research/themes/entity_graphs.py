"""The graph of entities over the documents that searches find, kept in memory."""

from __future__ import annotations

import threading
from datetime import datetime

from rag_core.research.themes.graph import EntityGraph
from rag_core.runtime.stores import Stores
from rag_core.types.themes import ModelUse, ThemesState

# Name of the preference that describes the last complete build of themes.
THEMES = "themes"


class EntityGraphs:
    """Loads the graph of entities, and describes the last build of themes.

    Parameters
    ----------
    stores : Stores
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._lock = threading.Lock()
        self._versions: frozenset[str] = frozenset()
        self._graph = EntityGraph({})

    def load(self) -> EntityGraph:
        """Return the graph of the entities of all visible versions; load the graph if these versions have changed."""
        visible = frozenset(self._stores.documents.visible_versions())
        with self._lock:
            if visible != self._versions:
                self._graph = EntityGraph(self._stores.themes.load_entities(visible))
                self._versions = visible
            return self._graph

    def clear_cache(self) -> None:
        """Forget the graph, so that it is loaded again; call this after entities of visible versions were stored."""
        with self._lock:
            self._versions = frozenset()
            self._graph = EntityGraph({})

    @property
    def build_id(self) -> str:
        """The id of the last complete build; empty if there is none."""
        stored = self._stores.preferences.get(THEMES) or {}
        return str(stored.get("build", ""))

    def state(self) -> ThemesState:
        """Return when themes were built, and how many documents have been added or removed since then."""
        stored = self._stores.preferences.get(THEMES) or {}
        covered = set(stored.get("versions", ()))
        visible = {one for one, state in self._stores.documents.visible_versions().items() if state == "full"}
        use: ModelUse = stored.get("model_use", "none")
        return ThemesState(
            datetime.fromisoformat(stored["built_at"]) if stored else None,
            documents=len(covered & visible),
            seconds=float(stored.get("seconds", 0.0)),
            model_use=use,
            added=len(visible - covered),
            removed=len(covered - visible),
        )
