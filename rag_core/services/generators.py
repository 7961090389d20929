"""The language model that writes, rewrites and summarises, where one is set."""

from __future__ import annotations

import logging
import threading
from functools import partial

from rag_core.answering.generator import OpenAIGenerator
from rag_core.errors import StoreError
from rag_core.services.stores import Stores
from rag_core.settings import Settings
from rag_core.types import Usage

log = logging.getLogger(__name__)


class Generators:
    """Makes the generator when it is first needed; one serves all questions.

    It keeps its connection, and what it has learnt of the endpoint. What each request takes is noted,
    whoever made it.
    """

    def __init__(self, settings: Settings, stores: Stores) -> None:
        self._settings = settings
        self._stores = stores
        self._making = threading.Lock()
        self._made: OpenAIGenerator | None = None

    def current(self) -> OpenAIGenerator | None:
        """The generator; ``None`` where no model is set, and answers are quoted."""
        if not self._settings.openai_model:
            return None
        with self._making:
            if self._made is None:
                self._made = OpenAIGenerator(self._settings, on_usage=partial(self._note, self._settings))
            return self._made

    def close(self) -> None:
        """Give its connection back."""
        with self._making:
            made, self._made = self._made, None
        if made is not None:
            made.close()

    def _note(self, settings: Settings, usage: Usage) -> None:
        try:
            self._stores.usage.add(settings.generator_name, usage)
        except StoreError as error:
            # The answer is there and shows its own usage; that the store fails is told by all that needs it.
            log.warning("usage was not noted: %s", error)
