"""What extracts from files that do terrible things to whoever reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from rag_core.parsing import PdfParser
from rag_core.parsing.workers import process


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> Iterator[PdfParser]:
    """Its workers are those of `hostile_worker`."""
    monkeypatch.setattr(process, "WORKER_MODULE", "tests.integration.parsing.hostile_worker")
    with closing(PdfParser(ocr="off", page_timeout_s=3, memory_mb=512)) as extractor:
        yield extractor
