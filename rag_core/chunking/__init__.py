"""Cutting pages into chunks."""

from rag_core.chunking.chunker import PREFIX_RULE, Chunker, ChunkRule
from rag_core.chunking.titles import document_of, title

__all__ = ["PREFIX_RULE", "ChunkRule", "Chunker", "document_of", "title"]
