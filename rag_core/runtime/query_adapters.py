"""The query adapter in use, which maps the vectors of questions."""

from __future__ import annotations

import threading

from rag_core.embedding.query_adapter import QueryAdapter, unpack_adapter
from rag_core.errors import SettingsError
from rag_core.runtime.stores import Stores

_IS_ON = "query_adapter"


class QueryAdapters:
    """Loads the adapter of the newest accepted training, and switches it on and off.

    Parameters
    ----------
    stores : Stores
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._loading = threading.Lock()
        self._loaded = False
        self._newest: QueryAdapter | None = None

    @property
    def newest(self) -> QueryAdapter | None:
        """The adapter of the newest accepted training, even if it is switched off; ``None`` if there is none."""
        with self._loading:
            if not self._loaded:
                stored = self._stores.trainings.find_newest_adapter()
                self._newest = unpack_adapter(stored.weights, stored.projection, stored.matrices) if stored else None
                self._loaded = True
            return self._newest

    @property
    def is_on(self) -> bool:
        """Whether searches apply the adapter, if there is one."""
        return bool(self._stores.preferences.get(_IS_ON))

    def set_on(self, on: bool) -> None:
        """Switch the adapter on or off; nothing is re-indexed."""
        self._stores.preferences.set(_IS_ON, on or None)

    def select(self, wanted: bool | None) -> QueryAdapter | None:
        """Return the adapter to apply, or ``None``; see `RetrievalConfig.adapter` for ``wanted``.

        Raises
        ------
        SettingsError
            ``wanted`` is true, but no training was accepted.
        """
        if wanted and self.newest is None:
            raise SettingsError("There is no query adapter. Train one on the Evaluate page or with the command train.")
        return self.newest if (self.is_on if wanted is None else wanted) else None

    def clear_cache(self) -> None:
        """Forget the newest adapter, so that it is loaded again when needed; call this if trainings have changed."""
        with self._loading:
            self._loaded = False
