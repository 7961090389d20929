"""Cutting pages into chunks."""

from rag_core.chunking.chunker import PREFIX_RULE, Chunker, ChunkRule

__all__ = ["PREFIX_RULE", "ChunkRule", "Chunker"]
