"""Index generations: which one is active, its settings, and whether these match the current settings."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from rag_core.chunking.chunker import PREFIX_RULE, ChunkConfig, Chunker
from rag_core.embedding.embedder import Embedder
from rag_core.errors import EmbedderMissing, IndexMismatch
from rag_core.parsing import PARSER_VERSION
from rag_core.runtime.models import LocalModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types import Fingerprint


@dataclass(frozen=True, slots=True)
class IndexGeneration:
    """A generation of the index with its embedder."""

    generation_id: int
    fingerprint: Fingerprint
    embedder: Embedder

    @property
    def space(self) -> str:
        """Name of the vector space: embeddings are reused only within a space."""
        identity = self.embedder.identity
        return f"{identity.weights[:16]}-{identity.projection}"[:32]

    def chunker(self) -> Chunker:
        """Return the chunker of this generation."""
        return Chunker(_chunk_config(self.fingerprint, self.embedder), self.embedder.offsets)


class IndexGenerations:
    """Opens the active generation, creates new ones, and compares them with the settings."""

    def __init__(self, settings: Settings, stores: Stores, models: LocalModels) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models
        self._starting = threading.Lock()

    def active(self) -> IndexGeneration:
        """Return the active generation; create the first one from the settings.

        Raises
        ------
        EmbedderError
            Its embedder cannot be loaded.
        IndexMismatch
            The embedder has other weights than the one that the index was built with.
        """
        with self._starting:
            rows = self._stores.documents.generations("active")
            if not rows:
                fingerprint = self.configured()
                rows = [(self._stores.documents.add_generation(fingerprint, "active"), fingerprint)]
        return self._open(*rows[-1])

    def building(self) -> IndexGeneration | None:
        """Return the generation that a re-index is building, or ``None``."""
        rows = self._stores.documents.generations("building")
        return self._open(*rows[-1]) if rows else None

    def begin(self, fingerprint: Fingerprint) -> IndexGeneration:
        """Create a generation that is built while the active one stays in use."""
        return self._open(self._stores.documents.add_generation(fingerprint, "building"), fingerprint)

    def configured(self, **changes: Any) -> Fingerprint:
        """Return the fingerprint of an index that would be built now.

        Parameters
        ----------
        **changes
            ``embedder``, ``chunk_tokens`` or ``chunk_overlap`` instead of the setting; ``None`` is
            ignored.
        """
        values = {name: value for name, value in changes.items() if value is not None}
        embedder = self._models.embedder(values.get("embedder", self._settings.embedder))
        identity = embedder.identity
        fingerprint = Fingerprint(
            embedder=identity.name,
            weights=identity.weights,
            dimension=identity.dimension,
            token_dimension=identity.token_dimension,
            projection=identity.projection,
            chunk_tokens=values.get("chunk_tokens", self._settings.chunk_tokens),
            chunk_overlap=values.get("chunk_overlap", self._settings.chunk_overlap),
            extractor=PARSER_VERSION,
            prefix=PREFIX_RULE,
        )
        _chunk_config(fingerprint, embedder)
        return fingerprint

    def built_with(self) -> Fingerprint | None:
        """Return the active generation's fingerprint, without loading its embedder."""
        rows = self._stores.documents.generations("active")
        return rows[-1][1] if rows else None

    def mismatch(self) -> dict[str, tuple[Any, Any]]:
        """Return the differences between the index and the current settings as ``name: (index, settings)``."""
        built = self.built_with()
        return built.differences(self.configured()) if built else {}

    def _open(self, generation_id: int, fingerprint: Fingerprint) -> IndexGeneration:
        embedder = self._embedder(fingerprint.embedder)
        identity = embedder.identity
        current = (identity.weights, identity.dimension, identity.projection)
        if current != (fingerprint.weights, fingerprint.dimension, fingerprint.projection):
            if identity.weights == fingerprint.weights:
                raise IndexMismatch(
                    f"The index was built by a version that stored other vectors of {fingerprint.embedder}: re-index "
                    "all documents (Admin, or the reindex command), or install the former version."
                )
            raise IndexMismatch(
                f"The index was built with other weights of {fingerprint.embedder} ({fingerprint.weights[:12]}…, now "
                f"{identity.weights[:12]}…). Questions and documents must share one model: re-index all documents "
                "(Admin, or the reindex command), or restore the former model."
            )
        return IndexGeneration(generation_id, fingerprint, embedder)

    def _embedder(self, name: str) -> Embedder:
        """Return the embedder that an index was built with."""
        try:
            return self._models.embedder(name)
        except EmbedderMissing as error:
            configured_name = self._settings.embedder
            if name == configured_name:
                raise
            raise EmbedderMissing(
                f"The index was built with the embedding model {name!r}, which is no longer on this machine. "
                f"Re-index all documents (Admin, or the reindex command) to use {configured_name!r}, or restore that "
                "model."
            ) from error


def _chunk_config(fingerprint: Fingerprint, embedder: Embedder) -> ChunkConfig:
    return ChunkConfig(
        tokens=fingerprint.chunk_tokens,
        overlap=fingerprint.chunk_overlap,
        window=embedder.window,
        special=embedder.special_tokens,
    )
