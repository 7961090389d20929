"""What every test may use: small PDFs, settings that touch nothing of the machine's, one loaded model."""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from rag_core.embedding import load_embedder
from rag_core.embedding.answerability import AnswerabilityModel
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.engine import Engine
from rag_core.settings import Settings


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The one test of minutes begins first, so that no worker waits for it in the end."""
    items.sort(key=lambda item: "crash" not in item.path.parts)


MakePdf = Callable[..., bytes]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the machine's, and no .env of the checkout's, reaches a test."""
    for name in list(os.environ):
        if name.startswith(("RAG_", "OPENAI_", "CHROMA_")) or name == "DATABASE_URL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("RAG_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture(autouse=True, scope="session")
def _models_are_loaded_once() -> Iterator[None]:
    """Engines share models: loading them takes longer than most tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_core.runtime.models.load_embedder", functools.cache(load_embedder))
        patch.setattr("rag_core.runtime.models.AnswerabilityModel", functools.cache(AnswerabilityModel))
        yield


def make_pdf(*pages: str | Sequence[str], title: str = "") -> bytes:
    """A PDF with one page a text (or a sequence of lines); an empty text is a page without any."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfbase.pdfmetrics import stringWidth
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setTitle(title)
    for page in pages:
        y = A4[1] - 72
        lines = [page] if isinstance(page, str) else page
        for line in lines:
            row = ""
            for word in [*line.split(), None]:
                if word is None or stringWidth(f"{row} {word}", "Helvetica", 11) > A4[0] - 144:
                    canvas.setFont("Helvetica", 11)
                    canvas.drawString(72, y, row.strip())
                    y -= 15
                    row = ""
                row += f" {word}" if word else ""
            y -= 8
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


@pytest.fixture(name="make_pdf", scope="session")
def _make_pdf() -> MakePdf:
    return make_pdf


@pytest.fixture(scope="session")
def embedder() -> BundledEmbedder:
    """The bundled embedder, loaded once for all tests."""
    return BundledEmbedder()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", _env_file=None)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    with Engine(settings) as opened:
        yield opened
