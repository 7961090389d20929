"""What is searched: dense vectors and words. Both can be rebuilt from the database."""

from rag_core.index.dense import DenseIndex, open_chroma
from rag_core.index.words import STOPWORDS, WordIndex

__all__ = ["STOPWORDS", "DenseIndex", "WordIndex", "open_chroma"]
