"""Text to vectors."""

from rag_core.embedding.embedder import Embedder, Identity
from rag_core.embedding.sentence_transformer import SentenceTransformerEmbedder

__all__ = ["Embedder", "Identity", "SentenceTransformerEmbedder"]
