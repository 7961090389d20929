"""Models that compute vectors: embedders (a dense vector and token vectors for a text) and sparse encoders."""

from rag_core.embedding.bundled import BundledEmbedder
from rag_core.embedding.embedder import Embedder
from rag_core.embedding.runtimes import RuntimeChoice
from rag_core.embedding.sentence_transformer import SentenceTransformerEmbedder
from rag_core.settings import BUNDLED_EMBEDDER


def load_embedder(name: str, runtime: RuntimeChoice | None = None) -> Embedder:
    """Return the embedder of this name: the bundled embedder, or one that runs a sentence-transformers model.

    ``runtime`` is the runtime of the bundled embedder; see `BundledEmbedder`.
    """
    if name == BUNDLED_EMBEDDER:
        return BundledEmbedder(runtime)
    return SentenceTransformerEmbedder(name)
