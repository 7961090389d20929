"""The language model that writes, rewrites and summarises, where one is set."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rag_core.answering.generator import OpenAIGenerator
from rag_core.settings import Settings
from rag_core.types import Usage


class Generators:
    """Makes the generator when it is first needed; one serves all questions.

    It keeps its connection, and what it has learnt of the endpoint.

    Parameters
    ----------
    settings : Settings
    on_usage : callable
        Hears what each request took, whoever made it.
    """

    def __init__(self, settings: Settings, on_usage: Callable[[Usage], None] = lambda usage: None) -> None:
        self._settings = settings
        self._on_usage = on_usage
        self._making = threading.Lock()
        self._made: OpenAIGenerator | None = None

    def current(self) -> OpenAIGenerator | None:
        """The generator; ``None`` where no model is set, and answers are quoted."""
        if not self._settings.openai_model:
            return None
        with self._making:
            if self._made is None:
                self._made = OpenAIGenerator(self._settings, on_usage=self._on_usage)
            return self._made

    def close(self) -> None:
        """Give its connection back."""
        with self._making:
            made, self._made = self._made, None
        if made is not None:
            made.close()
