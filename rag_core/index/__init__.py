"""The list of retrievers. A new retriever needs a module and an entry in this list."""

from __future__ import annotations

from rag_core.index.dense import DenseRetriever
from rag_core.index.retriever import Retriever
from rag_core.index.sparse import SparseRetriever
from rag_core.index.words import WordRetriever

RETRIEVERS: tuple[type[Retriever], ...] = (WordRetriever, DenseRetriever, SparseRetriever)
