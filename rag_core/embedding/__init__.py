"""Text to vectors."""

from rag_core.embedding.answerability import Answerability
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.embedding.embedder import Embedder, Identity
from rag_core.embedding.sentence_transformer import PairScorer, SentenceTransformerEmbedder
from rag_core.settings import BUNDLED_EMBEDDER

__all__ = [
    "Answerability",
    "BundledEmbedder",
    "Embedder",
    "Identity",
    "PairScorer",
    "SentenceTransformerEmbedder",
    "load_embedder",
]


def load_embedder(name: str, *, precision: str = "auto") -> Embedder:
    """The embedder of that name: the one that comes along, else one by sentence-transformers."""
    if name == BUNDLED_EMBEDDER:
        return BundledEmbedder(precision=precision)
    return SentenceTransformerEmbedder(name, precision=precision)
