"""Models that compute vectors of texts: embedders and sparse encoders."""

from pathlib import Path

from rag_core.embedding.bundled import BundledEmbedder
from rag_core.embedding.embedder import Embedder
from rag_core.embedding.multilingual import unpack_multilingual_embedder
from rag_core.embedding.runtimes import RuntimeChoice
from rag_core.embedding.sentence_transformer import SentenceTransformerEmbedder
from rag_core.settings import BUNDLED_EMBEDDER, MULTILINGUAL_EMBEDDER


def load_embedder(name: str, runtime: RuntimeChoice | None = None, models: Path | None = None) -> Embedder:
    """Load the embedder that ``name`` identifies.

    Parameters
    ----------
    name : str
        Name of the bundled or the multilingual embedder, or name or path of a sentence-transformers model.
    runtime : RuntimeChoice, optional
        The runtime of the bundled embedder.
    models : Path, optional
        The folder into which the multilingual embedder is unpacked. Without it, the name of the multilingual embedder
        stands for a sentence-transformers model.
    """
    if name == BUNDLED_EMBEDDER:
        return BundledEmbedder(runtime)
    if name == MULTILINGUAL_EMBEDDER and models:
        return SentenceTransformerEmbedder(name, folder=unpack_multilingual_embedder(models / name))
    return SentenceTransformerEmbedder(name)
