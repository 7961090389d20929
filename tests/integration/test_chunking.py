"""Chunking with the tokenizer of the bundled embedder."""

from __future__ import annotations

import itertools

from rag_core.chunking.chunker import ChunkConfig, Chunker
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.types.documents import Page, PageState


def test_chunks_without_overlap_share_no_characters(embedder: BundledEmbedder) -> None:
    text = "the. the. the. \x00\n\nthe the the; 00000000000061A000A02A0671A000."
    spans = Chunker(ChunkConfig(32, 0.0, 256, 2), embedder.offsets).chunk(
        "report.pdf", [Page(0, "1", text, PageState.TEXT)]
    )
    assert len(spans) > 1
    assert all(before.end <= after.start for before, after in itertools.pairwise(spans))
