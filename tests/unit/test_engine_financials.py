"""A question about a measure finds the statements it is computed from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from rag_core.types import Configuration
from tests.unit.engines import indexed, opened

BALANCE_SHEET = [
    "Consolidated Balance Sheets",
    "(in millions) December 31, 2022 2021",
    "Cash and cash equivalents 120 115",
    "Receivables, net 340 310",
    "Total current assets 860 790",
    "Accounts payable 410 402",
    "Total current liabilities 700 655",
]
PROSE = (
    "Our lenders look at ratios. A current ratio that falls may make it harder for Bexley to borrow, and the current "
    "ratio of Bexley may fall for reasons that are beyond our control, at any time of the year."
)
ASKED = "What is the current ratio of Bexley at year-end 2022?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("financials") / "data") as made:
        fillers = [f"Bexley's current plans, part {number}: a ratio of one to two at year-end." for number in range(6)]
        indexed(made, "Bexley 2022 annual report.pdf", PROSE, *fillers, BALANCE_SHEET)
        yield made


def test_the_balance_sheet_is_among_the_first(library: Engine) -> None:
    pages = [one.page_index for one in library.search(ASKED, top_k=2).passages]
    assert 7 in pages
    without = library.search(ASKED, top_k=2, configuration=Configuration("combined")).passages
    assert 7 not in [one.page_index for one in without]


def test_its_passage_has_the_scores_that_gate_and_reader_need(library: Engine) -> None:
    (sheet,) = (one for one in library.search(ASKED).passages if one.page_index == 7)
    assert sheet.scores["rerank"] is not None
    assert sheet.scores["financials"] is not None
    assert sheet.scores["answerable"] is not None


def test_any_other_question_takes_no_look(library: Engine) -> None:
    found = library.search("What do the lenders look at?")
    assert all(one.scores["financials"] is None for one in found.passages)
    assert "financials" not in found.timings_ms
