"""A parser whose workers fail in the ways that the name of the file demands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from rag_core.parsing.parser import DocumentParser
from rag_core.parsing.workers import process


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> Iterator[DocumentParser]:
    """Return a parser whose workers run `hostile_worker`."""
    monkeypatch.setattr(process, "WORKER_MODULE", "tests.integration.parsing.hostile_worker")
    with closing(DocumentParser(ocr="off", page_timeout_s=3, memory_mb=512)) as parser:
        yield parser
