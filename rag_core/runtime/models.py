"""The models that run in this process. Each model is loaded once and shared by all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from rag_core.embedding import load_embedder
from rag_core.embedding.answerability import AnswerabilityModel
from rag_core.embedding.embedder import Embedder
from rag_core.embedding.runtimes import RuntimeChoice
from rag_core.embedding.sentence_transformer import CrossEncoder, LocalVerifier, SparseEncoder
from rag_core.errors import RagError, RerankerMissing
from rag_core.settings import BUNDLED_EMBEDDER, Settings
from rag_core.system import freeze_garbage_collector
from rag_core.types.status import Readiness

Model = TypeVar("Model")
NOT_LOADED = "The embedding model could not be loaded"


class LocalModels:
    """Loads and caches embedders, sparse encoders, the cross-encoder, the verifier and the answerability model.

    Embedders, sparse encoders and the verifier are loaded by name. The settings name the cross-encoder.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._runtime = RuntimeChoice(settings.data_dir / "embedding_runtime.json")
        self._embedders: dict[str, Embedder] = {}
        self._sparse_encoders: dict[str, SparseEncoder] = {}
        self._cross_encoder: CrossEncoder | None = None
        self._verifier: LocalVerifier | None = None
        self._answerability: AnswerabilityModel | None = None
        self._loading = threading.Lock()
        self._readiness = Readiness(False, "Not started")
        # For each model that could not be loaded, a message that names the model, mapped to the reason.
        self._problems: dict[str, str] = {}
        self._preparing = False

    def close(self) -> None:
        """Release all models.

        Without this call, the models would stay in memory until the process ends, because the garbage collector ignores
        them; see `freeze_garbage_collector`.
        """
        with self._loading:
            self._runtime.close()
            self._embedders.clear()
            self._sparse_encoders.clear()
            self._cross_encoder = self._verifier = self._answerability = None

    def embedder(self, name: str) -> Embedder:
        """Return the embedder of this name. The first call loads the embedder; other calls wait meanwhile.

        Raises
        ------
        EmbedderError
            The embedder cannot be loaded. The next call tries again.
        """
        with self._loading:
            if name not in self._embedders:
                self._readiness = Readiness(False, "Loading the embedder")
                load = partial(load_embedder, name, self._runtime, self._settings.data_dir / "models")
                self._embedders[name] = self._load(load, NOT_LOADED)
                # The objects of the embedder stay until the process ends. Questions would be delayed if each garbage
                # collection checked them.
                freeze_garbage_collector()
            # Also clear the problem of another embedder, which is no longer needed.
            self._readiness = Readiness(True, "Ready")
            self._problems.pop(NOT_LOADED, None)
            return self._embedders[name]

    def describe_runtime(self) -> str:
        """Return the name and the speed of the bundled embedder's runtime; empty if another embedder is in use."""
        return self._runtime.current.describe() if self._settings.embedder == BUNDLED_EMBEDDER else ""

    def sparse_encoder(self, name: str) -> SparseEncoder:
        """Return the learned sparse encoder of this name. The first call loads the encoder; other calls wait meanwhile.

        A failure does not change `readiness`, because searches work without the encoder.

        Raises
        ------
        SparseEncoderMissing
            The encoder cannot be loaded. The next call tries again.
        """
        with self._loading:
            if name not in self._sparse_encoders:
                self._sparse_encoders[name] = SparseEncoder(name)
            return self._sparse_encoders[name]

    def cross_encoder(self) -> CrossEncoder:
        """Return the cross-encoder of the settings. The first call loads the model; other calls wait meanwhile.

        Raises
        ------
        RerankerMissing
            No cross-encoder is set, or the cross-encoder cannot be loaded. The next call tries again.
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

    def verifier(self, name: str) -> LocalVerifier:
        """Return the verifier. The first call loads the verifier ``name``; later calls ignore ``name``.

        Raises
        ------
        VerifierMissing
            The model cannot be loaded. The next call tries again.
        """
        with self._loading:
            if self._verifier is None:
                self._verifier = LocalVerifier(name)
            return self._verifier

    def answerability_model(self) -> AnswerabilityModel:
        """Return the model that estimates whether a passage answers a question.

        The first call loads the model; other calls wait meanwhile.

        Raises
        ------
        EmbedderError
            The model cannot be loaded. The next call tries again.
        """
        with self._loading:
            if self._answerability is None:
                load = partial(AnswerabilityModel, self._runtime.current)
                self._answerability = self._load(load, "The model of the gate could not be loaded")
            return self._answerability

    def _load(self, load: Callable[[], Model], problem: str) -> Model:
        """Load a model; on failure, `readiness` reports ``problem`` until a call with the same ``problem`` succeeds."""
        try:
            model = load()
        except RagError as error:
            self._problems[problem] = str(error)
            raise
        self._problems.pop(problem, None)
        return model

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Let `readiness` report "not ready" until the ``with`` block ends."""
        self._preparing = True
        try:
            yield
        finally:
            self._preparing = False

    @property
    def readiness(self) -> Readiness:
        """Whether the models are ready for searches, and if not, why."""
        if problems := list(self._problems.items()):
            return Readiness(False, *problems[0])
        if self._preparing and self._readiness.ready:
            return Readiness(False, "Preparing to search")
        return self._readiness
