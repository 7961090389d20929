"""Index generations: an index and the settings with which it was built. A re-index builds a new generation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rag_core.chunking.chunker import OVERLAP, PREFIX_RULE, ChunkConfig, Chunker
from rag_core.embedding.embedder import Embedder
from rag_core.embedding.sentence_transformer import SparseEncoder
from rag_core.errors import EmbedderMissing, IndexMismatch
from rag_core.index.sparse import SparseRetriever
from rag_core.parsing.formats.accepted import PARSER_VERSIONS
from rag_core.runtime.models import LocalModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types.chunks import PARSER_SEPARATOR, Fingerprint
from rag_core.types.protocols import TermEncoder


@dataclass(frozen=True, slots=True)
class IndexGeneration:
    """A generation of the index, with its fingerprint and its models.

    ``encoders`` maps the name of each retriever that has an encoder to a function that returns the encoder.
    The function raises `SparseEncoderMissing` or `IndexMismatch`.
    """

    generation_id: int
    fingerprint: Fingerprint
    embedder: Embedder
    encoders: Mapping[str, Callable[[], TermEncoder]] = field(default_factory=dict)

    @property
    def space(self) -> str:
        """Name of the vector space. Generations with the same vector space share stored embeddings."""
        identity = self.embedder.identity
        return f"{identity.weights[:16]}-{identity.projection}"[:32]

    def chunker(self) -> Chunker:
        """Return a chunker with the parameters of this generation."""
        return Chunker(_build_chunk_config(self.fingerprint, self.embedder), self.embedder.offsets)


class IndexGenerations:
    """Opens the active generation, compares it with the settings, and creates new generations."""

    def __init__(self, settings: Settings, stores: Stores, models: LocalModels) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models
        self._creating = threading.Lock()

    def active(self) -> IndexGeneration:
        """Return the active generation. If there is none, create it with the current settings.

        Raises
        ------
        EmbedderError
            The embedder of the generation cannot be loaded.
        SparseEncoderMissing
            There is no generation yet, and the sparse encoder of the settings cannot be loaded.
        IndexMismatch
            The embedder has other weights or another projection than when the index was built.
        """
        with self._creating:
            rows = self._stores.documents.generations("active")
            if not rows:
                fingerprint = self.configured()
                rows = [(self._stores.documents.add_generation(fingerprint, "active"), fingerprint)]
        return self._open(*rows[-1])

    def building(self) -> IndexGeneration | None:
        """Return the generation that a re-index is building; ``None`` if no re-index is running."""
        rows = self._stores.documents.generations("building")
        return self._open(*rows[-1]) if rows else None

    def begin(self, fingerprint: Fingerprint) -> IndexGeneration:
        """Create and return the generation that a re-index builds. Searches use the active generation meanwhile."""
        return self._open(self._stores.documents.add_generation(fingerprint, "building"), fingerprint)

    def configured(self, **changes: Any) -> Fingerprint:
        """Return the fingerprint that an index would have if it were built now. The embedder is loaded.

        Parameters
        ----------
        **changes
            Values of ``embedder`` and ``chunk_tokens`` that replace the values of the settings; ``None`` is ignored.

        Raises
        ------
        EmbedderError, SparseEncoderMissing
            A model cannot be loaded.
        SettingsError
            The embedder cannot read chunks of this length.
        """
        values = {name: value for name, value in changes.items() if value is not None}
        embedder = self._models.embedder(values.get("embedder", self._settings.embedder))
        identity = embedder.identity
        sparse = self._models.sparse_encoder(self._settings.sparse) if self._settings.sparse else None
        fingerprint = Fingerprint(
            embedder=identity.name,
            weights=identity.weights,
            dimension=identity.dimension,
            token_dimension=identity.token_dimension,
            projection=identity.projection,
            chunk_tokens=values.get("chunk_tokens", self._settings.chunk_tokens),
            chunk_overlap=OVERLAP,
            extractor=PARSER_SEPARATOR.join(PARSER_VERSIONS),
            prefix=PREFIX_RULE,
            sparse=sparse.name if sparse else "",
            sparse_weights=sparse.weights if sparse else "",
        )
        _build_chunk_config(fingerprint, embedder)  # raises an error if the chunks are too long for the embedder
        return fingerprint

    def built_with(self) -> Fingerprint | None:
        """Return the fingerprint of the active generation, without loading models; ``None`` if no index was built."""
        rows = self._stores.documents.generations("active")
        return rows[-1][1] if rows else None

    def find_differences(self) -> dict[str, tuple[Any, Any]]:
        """Return the fields in which the active index differs from the settings, as ``name: (index, settings)``.

        Return an empty dictionary if there is no active index.
        """
        built = self.built_with()
        return built.differences(self.configured()) if built else {}

    def _open(self, generation_id: int, fingerprint: Fingerprint) -> IndexGeneration:
        embedder = self._load_embedder(fingerprint.embedder)
        identity = embedder.identity
        current = (identity.weights, identity.dimension, identity.projection)
        if current != (fingerprint.weights, fingerprint.dimension, fingerprint.projection):
            if identity.weights == fingerprint.weights:
                raise IndexMismatch(
                    f"The index was built by a version that stored other vectors of {fingerprint.embedder}: re-index "
                    "all documents (Settings, or the reindex command), or install the former version."
                )
            raise IndexMismatch(
                f"The index was built with other weights of {fingerprint.embedder} ({fingerprint.weights[:12]}…, now "
                f"{identity.weights[:12]}…). Questions and documents must share one model: re-index all documents "
                "(Settings, or the reindex command), or restore the former model."
            )
        sparse = {SparseRetriever.score.name: partial(self._load_sparse_encoder, fingerprint)}
        return IndexGeneration(generation_id, fingerprint, embedder, sparse if fingerprint.sparse else {})

    def _load_sparse_encoder(self, fingerprint: Fingerprint) -> SparseEncoder:
        """Return the learned sparse encoder of an index; raise `IndexMismatch` if its weights have changed."""
        encoder = self._models.sparse_encoder(fingerprint.sparse)
        if encoder.weights != fingerprint.sparse_weights:
            raise IndexMismatch(
                f"The index was built with other weights of the sparse encoder {fingerprint.sparse} "
                f"({fingerprint.sparse_weights[:12]}…, now {encoder.weights[:12]}…). Re-index all documents (Settings, "
                "or the reindex command), or restore the former model."
            )
        return encoder

    def _load_embedder(self, name: str) -> Embedder:
        """Return the embedder of an index. If its weights are missing, the error says how to go on."""
        try:
            return self._models.embedder(name)
        except EmbedderMissing as error:
            configured_name = self._settings.embedder
            if name == configured_name:
                raise
            raise EmbedderMissing(
                f"The index was built with the embedding model {name!r}, which is no longer on this machine. "
                f"Re-index all documents (Settings, or the reindex command) to use {configured_name!r}, or restore "
                "that model."
            ) from error


def _build_chunk_config(fingerprint: Fingerprint, embedder: Embedder) -> ChunkConfig:
    return ChunkConfig(
        tokens=fingerprint.chunk_tokens,
        overlap=fingerprint.chunk_overlap,
        window=embedder.window,
        special=embedder.special_tokens,
    )
