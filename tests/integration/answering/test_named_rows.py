"""The rows of pages that were not read."""

from __future__ import annotations

from io import BytesIO

from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

from rag_core.answering.page_reading import PageReader
from rag_core.engine import Engine
from tests.integration.answering.test_table_answers import CANNERY, SEGMENTS
from tests.support.engines import add_document


def test_pages_with_most_of_the_words_are_searched_for_tables(engine: Engine) -> None:
    buffer, styles = BytesIO(), getSampleStyleSheet()
    flow = []
    for title, rows in (("Freight costs of the north", CANNERY), ("Segments", SEGMENTS), ("Costs of freight", CANNERY)):
        flow += [Paragraph(title, styles["Heading2"]), Table(rows), PageBreak()]
    SimpleDocTemplate(buffer, invariant=1).build(flow)
    add_document(engine, "ostler.pdf", buffer.getvalue())
    [document] = engine.documents.list()
    reader = PageReader(engine._stores, engine._local_models, computes_figures=True)

    def find(*words: str, preferred: tuple[int, ...] = (), max_pages: int = 6) -> list[int]:
        return list(reader.find_tables(document.version_id, words, preferred, max_pages))

    assert find("freight", "costs") == [0, 2]
    assert find("freight", "costs", preferred=(2,), max_pages=1) == [2]
    assert find("freight", "costs", "north") == [0]
    assert find("beverages", "snacks", "2022") == [1]
    assert find("freight") == []
    assert [row.label for _, row in reader.find_rows(document.version_id, "Freight costs")] == ["Freight costs"] * 2
    assert list(reader.find_rows(document.version_id, "—")) == []
