"""Questions about a financial measure: search for the statements from which it is computed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from rag_core.gate.features import OTHER_FIGURES
from rag_core.types.retrieval import Passage, RetrievalConfig
from tests.support.engines import open_library

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
QUESTION = "What is the current ratio of Bexley at year-end 2022?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    fillers = [f"Bexley's current plans, part {number}: a ratio of one to two at year-end." for number in range(6)]
    report = {"Bexley 2022 annual report.pdf": [PROSE, *fillers, BALANCE_SHEET]}
    with open_library(tmp_path_factory.mktemp("financials") / "data", report) as engine:
        yield engine


def balance_sheet(engine: Engine, question: str = QUESTION) -> Passage:
    (sheet,) = (passage for passage in engine.search(question).passages if passage.page_index == 7)
    return sheet


def test_balance_sheet_is_among_the_first_passages(library: Engine) -> None:
    pages = [passage.page_index for passage in library.search(QUESTION, top_k=2).passages]
    assert 7 in pages
    without = library.search(QUESTION, top_k=2, configuration=RetrievalConfig("rerank")).passages
    assert 7 not in [passage.page_index for passage in without]


def test_balance_sheet_passage_has_all_scores(library: Engine) -> None:
    sheet = balance_sheet(library)
    assert sheet.scores["rerank"] is not None
    assert sheet.scores["financials"] is not None
    assert sheet.scores["answerable"] is not None


@pytest.mark.parametrize(
    "question",
    [
        "What is the current ratio of Cranford at year-end 2022?",
        "Cranford's current ratio at year-end 2022?",
        "What is the current ratio of Bexley at year-end 2017?",
        "Why may the current ratio of Bexley fall?",
    ],
)
def test_rows_do_not_answer_other_questions(library: Engine, question: str) -> None:
    assert "Total current assets" not in library.answer(question).text


def test_rows_of_other_company_are_marked(library: Engine) -> None:
    assert OTHER_FIGURES in balance_sheet(library, "What is the current ratio of Cranford at year-end 2022?").unmet
    assert balance_sheet(library).unmet == ()


def test_other_questions_do_not_search_statements(library: Engine) -> None:
    result = library.search("What do the lenders look at?")
    assert all(passage.scores["financials"] is None for passage in result.passages)
    assert "financials" not in result.timings_ms
