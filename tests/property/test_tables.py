"""Properties of the tables that are found on drawn pages."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.parsing.workers.messages import decode_message, encode_message, pack_page, unpack_page
from tests.support.drawn_pdfs import make, read, rows

CELLS = st.one_of(
    st.just(""),
    st.integers(-99_999, 999_999).map(lambda number: f"{number:,}"),
    st.sampled_from(["—", "$", "(12)", "3.5 %", "Net sales", "of which", "2023", "Total", "(in millions)", "•", "n/a"]),
    st.text("abcXYZ .,%$()-", max_size=14),
)
GRIDS = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(GRIDS, st.sampled_from([9.0, 12.0, 20.0]))
def test_cells_are_parts_of_the_text_and_belong_to_one_table(grid: list[list[str]], pitch: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = make(Path(folder) / "page.pdf", rows(*grid, pitch=pitch))
        parsed = read(path)
    page = parsed.page
    taken: set[int] = set()
    for table in page.tables:
        assert 0 <= table.header_rows < len(table.rows)
        assert len({len(line) for line in table.to_grid()}) == 1
        for row in table.rows:
            columns = [place for cell in row.cells for place in range(cell.column, cell.column + cell.column_span)]
            assert columns == sorted(set(columns))
            assert all(0 <= place < len(table.columns) for place in columns)
        for row in table.rows if table is page.tables[0] else table.body:
            for cell in row.cells:
                places = [place for span in cell.spans for place in range(*span)]
                assert len(places) == len(set(places))
                assert all(0 <= place < len(page.text) for place in places)
                parts = "".join(page.text[start:end] for start, end in cell.spans)
                assert "".join(parts.split()) == "".join(cell.text.split())
                assert not taken & set(places)
                taken.update(places)
    assert unpack_page(decode_message(encode_message(pack_page(parsed)))).page.tables == page.tables
