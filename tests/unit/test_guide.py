"""The user guide as text and PDF."""

from __future__ import annotations

import io
import re

import pypdf
import pypdfium2
import pytest

from rag_core.guide import build_guide_pdf, build_guide_text
from rag_core.settings import Settings


@pytest.fixture(scope="module")
def data() -> bytes:
    return build_guide_pdf()


def headings() -> list[str]:
    return re.findall(r"^#+ (.+)$", build_guide_text(), re.MULTILINE)


def normalized(text: str) -> str:
    return " ".join(re.sub(r"[\u201c\u201d`\"]", "", text).replace("\u2019", "'").split())


def test_guide_is_reproducible(data: bytes) -> None:
    assert build_guide_pdf() == data


def test_guide_has_page_labels_and_outline(data: bytes) -> None:
    reader = pypdf.PdfReader(io.BytesIO(data))
    assert reader.page_labels == [str(page + 1) for page in range(len(reader.pages))]
    assert 2 <= len(reader.pages) <= 4
    title, sections = reader.outline
    assert [title.title, *(section.title for section in sections)] == headings()
    assert reader.metadata.title == "Footnote user guide"


def test_guide_pdf_has_all_the_text(data: bytes) -> None:
    with pypdfium2.PdfDocument(data) as document:
        pages = [page.get_textpage().get_text_range() for page in document]
    text = normalized(" ".join(re.sub(r"^Footnote user guide \d\s", "", page) for page in pages))
    for block in build_guide_text().split("\n\n"):
        sentences = re.split(r"(?<=\.) ", normalized(block.lstrip("# ")))
        assert all(sentence in text for sentence in sentences)


def test_guide_has_current_default_and_setting_names() -> None:
    text = build_guide_text()
    assert f"is {Settings.model_fields['threshold'].default:.2f} by default" in text
    assert "{" not in text
    known = {f"RAG_{name}".upper() for name in Settings.model_fields} | {"OPENAI_API_KEY"}
    assert set(re.findall(r"\b(?:RAG|OPENAI)_[A-Z_]+\b", text)) <= known


def test_guide_has_no_citation_markers() -> None:
    assert not re.search(r"\[\d", build_guide_text())
