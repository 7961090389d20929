"""Numbered passages, named cells, and values computed from them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.answering.agent_evidence import ComputationProblem, Evidence
from rag_core.reading.cell_lookup import find_cells
from rag_core.store.database import now
from rag_core.types.answers import strip_markers
from rag_core.types.chunks import ChunkRow
from rag_core.types.documents import DocumentInfo, DocumentStatus
from tests.unit.reading.test_cell_lookup import ROWS, build

INFO = DocumentInfo(
    "d1", "v1", "harrow.pdf", "default", DocumentStatus.INDEXED, "", 9, 9, 0, 0, 0, 9, 1, now(), "m", False
)
OTHER = replace(INFO, document_id="d2", version_id="v2", name="bexley.pdf")


def chunk(number: int, start: int = 0, text: str = "x" * 500) -> ChunkRow:
    names = {"id": number, "version_id": "v1", "page_index": 3, "page_index_end": 3, "start": start, "text": text}
    names |= {"end": start + len(text), "document_id": "d1", "document": "harrow.pdf", "page_label": "4", "heading": ""}
    names |= {"prefix": "harrow"}
    return ChunkRow(*(names.get(field) for field in ChunkRow._fields))


def collect(*cells: tuple[str, str, DocumentInfo, int | None]) -> Evidence:
    """Return evidence with cells, given by row, column, document and scale."""
    evidence = Evidence()
    for row, column, document, scale in cells:
        (found,) = find_cells([(3, build(ROWS))], row, column, 1)
        evidence.name_cell(found, document, scale, [chunk(7)])
    return evidence


def test_passages_keep_their_numbers() -> None:
    evidence = Evidence()
    first = evidence.add_chunks([chunk(11), chunk(12)])
    again = evidence.add_chunks([chunk(12), chunk(13)])
    assert [one.rank for one in (*first, *again)] == [1, 2, 2, 3]
    assert evidence.chunk_ids == {1: 11, 2: 12, 3: 13}


def test_same_cell_keeps_its_name_and_its_chunk_is_a_passage() -> None:
    evidence = collect(("total assets", "2022", INFO, 6), ("total assets", "2022", INFO, 6))
    assert list(evidence.cells) == ["c1"]
    assert evidence.cells["c1"].chunk_id == 7
    assert list(evidence.rows) == [7]


def test_ratio_is_shown_as_number_and_in_percent() -> None:
    evidence = collect(("total current assets", "2022", INFO, 6), ("total assets", "2022", INFO, 6))
    value = evidence.compute("c1 / c2")
    assert value.text == "0.5733 (57.33%)"
    assert [text for text, _ in value.split_pieces()] == [
        "0.5733 (57.33%) = Total current assets (2022) $ 860 million",
        " / Total assets (2022) $1,500 million",
    ] or "Total assets (2022) 1,500 million" in "".join(text for text, _ in value.split_pieces())


def test_sum_has_the_unit_of_its_cells() -> None:
    evidence = collect(("total current assets", "2022", INFO, 6), ("total assets", "2022", INFO, 6))
    assert evidence.compute("c1 + c2").text.endswith("2,360 million")


def test_amounts_of_different_scales_are_compared_by_value() -> None:
    evidence = collect(("total assets", "2022", INFO, 6), ("total assets", "2022", OTHER, 3))
    value = evidence.compute("c1 / c2")
    assert value.text == "1,000.0000"
    text = strip_markers("".join(text for text, _ in value.split_pieces()))
    assert "harrow.pdf: Total assets" in text
    assert "bexley.pdf: Total assets" in text
    assert "thousand" in text


def test_amount_without_scale_is_not_mixed_with_one_that_has_a_scale() -> None:
    evidence = collect(("total assets", "2022", INFO, 6), ("total assets", "2022", OTHER, None))
    with pytest.raises(ComputationProblem, match="the table of c2 does not say in what unit"):
        evidence.compute("c1 / c2")
    assert evidence.computed == []


def test_scale_does_not_matter_for_values_per_share() -> None:
    evidence = collect(("total assets", "2022", INFO, 6), ("earnings per share", "2022", INFO, 6))
    assert evidence.compute("c1 / c2").text.startswith("$1,250 million") or evidence.cells["c2"].scale is None


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("c1 / c7", "there is no cell c7"),
        ("c1 / 0", "the divisor is zero"),
        ("c1 ** 9", "only numbers, names of cells"),
    ],
)
def test_problem_is_explained(expression: str, problem: str) -> None:
    with pytest.raises(ComputationProblem, match=problem):
        collect(("total assets", "2022", INFO, 6)).compute(expression)


def test_scale_in_a_cell_replaces_that_of_its_table() -> None:
    evidence = Evidence()
    table = build((("", "2022", "2021"), ("Assets", "€1.2bn", "€300m")))
    for column in ("2022", "2021"):
        (found,) = find_cells([(3, table)], "assets", column, 1)
        evidence.name_cell(found, INFO, 3, [chunk(7)])
    assert [cell.text for cell in evidence.cells.values()] == ["€1.2bn", "€300m"]
    assert evidence.compute("c1 / c2").text == "4.0000 (400.00%)"


def test_value_without_cells_is_no_evidence() -> None:
    evidence = Evidence()
    assert evidence.compute("12 * 12").text == "144"
    assert evidence.computed == []


def test_difference_of_equal_amounts_is_an_amount() -> None:
    evidence = collect(("total assets", "2022", INFO, 6), ("total assets", "2022", OTHER, 6))
    assert evidence.compute("c1 - c2").text == "$0 million"
    assert evidence.compute("c1 / c2").text == "1.0000 (100.00%)"
