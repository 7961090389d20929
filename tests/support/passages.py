"""Passages and messages."""

from __future__ import annotations

from datetime import UTC, datetime

from rag_core.types.chunks import PAGE_BREAK
from rag_core.types.conversations import Message
from rag_core.types.retrieval import Passage


def passage(rank: int = 1, text: str = "Net sales were $34.2 billion.", **changes: object) -> Passage:
    start = 100
    fields: dict[str, object] = {
        "rank": rank,
        "chunk_id": f"c{rank}",
        "document_id": "d1",
        "version_id": "v1",
        "document": "report.pdf",
        "page_index": 3,
        "page_label": "iv",
        "page_index_end": 3,
        "start": start,
        "end": start + len(text),
        "text": text,
        "heading": "",
        "scores": {},
    }
    return Passage(**(fields | changes))


def over_two_pages(first: str, second: str, rank: int = 1) -> Passage:
    return passage(rank, f"{first}{PAGE_BREAK}{second}", page_index_end=4, end=len(second))


def message(role: str, text: str) -> Message:
    return Message(f"{role}-{len(text)}", role, text, datetime(2025, 1, 1, tzinfo=UTC))
