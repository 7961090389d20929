"""The local models, each loaded once and shared by all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from rag_core.embedding import load_embedder
from rag_core.embedding.answerability import AnswerabilityModel
from rag_core.embedding.embedder import Embedder
from rag_core.embedding.sentence_transformer import CrossEncoder
from rag_core.errors import RagError, RerankerMissing
from rag_core.settings import Settings
from rag_core.system import freeze_garbage_collector
from rag_core.types import Readiness

Model = TypeVar("Model")
NOT_LOADED = "The embedding model could not be loaded"


class LocalModels:
    """Loads and caches embedders by name, and the other models according to the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loaded: dict[str, Embedder] = {}
        self._cross_encoder: CrossEncoder | None = None
        self._answerability: AnswerabilityModel | None = None
        self._loading = threading.Lock()
        self._readiness = Readiness(False, "Not started")
        # Problems of models that could not be loaded, with the reason of each.
        self._problems: dict[str, str] = {}
        self._preparing = False

    def close(self) -> None:
        """Release all models.

        Otherwise, objects that are frozen for garbage collection would stay until the process ends.
        """
        with self._loading:
            self._loaded.clear()
            self._cross_encoder = self._answerability = None

    def embedder(self, name: str) -> Embedder:
        """Return the embedder of that name; block while it is being loaded.

        Raises
        ------
        EmbedderError
            It cannot be loaded; the next call tries again.
        """
        with self._loading:
            if name not in self._loaded:
                self._readiness = Readiness(False, "Loading the embedder")
                load = partial(load_embedder, name, precision=self._settings.embedding_precision)
                self._loaded[name] = self._load(load, NOT_LOADED)
                # The loaded objects stay, and checking all of them for garbage would delay some questions.
                freeze_garbage_collector()
            # Also if it was loaded before: the failure may belong to an embedder that is no longer needed.
            self._readiness = Readiness(True, "Ready")
            self._problems.pop(NOT_LOADED, None)
            return self._loaded[name]

    def cross_encoder(self) -> CrossEncoder:
        """Return the cross-encoder of the settings; block while it is being loaded.

        Raises
        ------
        RerankerMissing
            No cross-encoder is set, or it cannot be loaded; the next call tries again.
        """
        name = self._settings.reranker
        if name is None:
            raise RerankerMissing(
                "No cross-encoder is set. Set RAG_RERANKER to its folder, or order passages by another score."
            )
        with self._loading:
            if self._cross_encoder is None:
                self._readiness = Readiness(False, "Loading the cross-encoder")
                self._cross_encoder = self._load(partial(CrossEncoder, name), "The cross-encoder could not be loaded")
                self._readiness = Readiness(True, "Ready")
            return self._cross_encoder

    def answerability_model(self) -> AnswerabilityModel:
        """Return the model that estimates whether a passage answers; block while it is being loaded.

        Raises
        ------
        EmbedderError
            It cannot be loaded; the next call tries again.
        """
        with self._loading:
            if self._answerability is None:
                load = partial(AnswerabilityModel, precision=self._settings.embedding_precision)
                self._answerability = self._load(load, "The model of the gate could not be loaded")
            return self._answerability

    def _load(self, load: Callable[[], Model], problem: str) -> Model:
        """Return the loaded model; if loading fails, `warmth` reports the problem."""
        try:
            model = load()
        except RagError as error:
            self._problems[problem] = str(error)
            raise
        self._problems.pop(problem, None)
        return model

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Report "not ready" until the block ends, even if a model is loaded."""
        self._preparing = True
        try:
            yield
        finally:
            self._preparing = False

    @property
    def readiness(self) -> Readiness:
        """Whether the models are loaded, and if not, why."""
        if problems := list(self._problems.items()):
            return Readiness(False, *problems[0])
        if self._preparing and self._readiness.ready:
            return Readiness(False, "Preparing to search")
        return self._readiness
