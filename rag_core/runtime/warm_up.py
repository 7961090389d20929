"""Load models and open stores before the first question."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from rag_core.errors import RagError
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.models import LocalModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings

log = logging.getLogger(__name__)
# Lengths in words of the questions and passages with which the models are warmed up, as arguments of `range`. A model
# is slower at the first text of each length.
QUESTION_LENGTHS = (6, 95, 8)
PASSAGE_LENGTHS = (20, 160, 8)


@dataclass(eq=False)
class WarmUp:
    """Loads the models, opens the dense index and starts the parser processes, all in a background thread.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    models : LocalModels
    generations : IndexGenerations
    language_models : LanguageModels
    start_parsers : callable
        Starts the processes that parse files.
    run_search : callable
        Runs one search, which loads the rest of what searches need.
    """

    settings: Settings
    stores: Stores
    models: LocalModels
    generations: IndexGenerations
    language_models: LanguageModels
    start_parsers: Callable[[], None]
    run_search: Callable[[], None]
    _thread: threading.Thread | None = field(default=None, init=False)
    _starting: threading.Lock = field(default_factory=threading.Lock, init=False)

    def start(self) -> None:
        """Load everything in a background thread; a second call does nothing."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._load_all, name="warm-up", daemon=True)
                self._thread.start()

    def join(self) -> None:
        """Wait until the background thread has ended, if it was started."""
        if self._thread is not None:
            self._thread.join()

    def load_search(self) -> None:
        """Load everything that searches need, in the calling thread.

        Errors are ignored, because questions raise them again.
        """
        with suppress(RagError):
            self._load_search()

    def _load_all(self) -> None:
        try:
            with self.models.preparing():
                self._load_search()
                if self.settings.reranker:
                    self.models.cross_encoder()
            # Start the parsers after the models, for which questions wait.
            self.start_parsers()
            self.language_models.warm_up()
        except RagError as error:  # the status shows the problem, and questions raise the error again
            log.warning("warm-up: %s", error)

    def _load_search(self) -> None:
        generation = self.generations.active()
        for retriever, index in self.stores.open_indexes(generation.generation_id):
            if retriever.reads == "embedding":
                index.count()  # opens the index
        for words in range(*QUESTION_LENGTHS):
            for low_priority in (False, True):
                generation.embedder.embed_question("warm " * words, low_priority=low_priority)
        for words in range(*PASSAGE_LENGTHS):
            list(self.models.answerability_model()([("warm", "warm " * words), ("cold", "warm " * words)]))
        self.run_search()
