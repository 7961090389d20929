"""A question about a measure finds the statements it is computed from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.gate.features import OTHER_FIGURES
from rag_core.types import AnswerState, RetrievalConfig
from tests.support.engines import indexed, opened

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
    without = library.search(ASKED, top_k=2, configuration=RetrievalConfig("rerank")).passages
    assert 7 not in [one.page_index for one in without]


def test_its_passage_has_the_scores_that_gate_and_reader_need(library: Engine) -> None:
    (sheet,) = (one for one in library.search(ASKED).passages if one.page_index == 7)
    assert sheet.scores["rerank"] is not None
    assert sheet.scores["financials"] is not None
    assert sheet.scores["answerable"] is not None


def test_the_answer_is_the_rows_that_the_ratio_is_computed_from(library: Engine) -> None:
    answer = library.answer(ASKED)
    assert answer.state is AnswerState.ANSWERED
    assert "Total current assets 860 790" in answer.text
    assert "Total current liabilities 700 655" in answer.text
    assert {one.page_index for one in answer.citations} == {7}
    assert all(one.supported for one in answer.statements)


@pytest.mark.parametrize(
    "asked",
    [
        "What is the current ratio of Cranford at year-end 2022?",
        "Cranford's current ratio at year-end 2022?",
        "What is the current ratio of Bexley at year-end 2017?",
    ],
)
def test_another_company_s_or_year_s_ratio_is_not_answered_from_these_rows(library: Engine, asked: str) -> None:
    assert "Total current assets" not in library.answer(asked).text


def test_what_speaks_against_another_company_s_sheet_is_told(library: Engine) -> None:
    def lacking(asked: str) -> tuple[str, ...]:
        (sheet,) = (one for one in library.search(asked).passages if one.page_index == 7)
        return sheet.unmet

    assert OTHER_FIGURES in lacking("What is the current ratio of Cranford at year-end 2022?")
    assert lacking(ASKED) == ()


def test_the_only_document_need_not_be_named(library: Engine) -> None:
    assert "Total current assets 860 790" in library.answer("What was the current ratio in 2022?").text


def test_of_several_documents_one_has_to_be_named(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as two:
        for name in ("Bexley 2022.pdf", "Cranford 2022.pdf"):
            indexed(two, name, [*BALANCE_SHEET, f"From the report {name}."])
        assert "Total current assets" not in two.answer("What was the current ratio in 2022?").text
        named = two.answer("What was the current ratio of Cranford in 2022?")
        assert {one.document for one in named.citations} == {"Cranford 2022.pdf"}


def test_a_document_whose_name_says_nothing_is_known_by_its_cover(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as two:
        for number, company in enumerate(("Bexley Mills", "Cranford Mines")):
            cover = [f"{company}, Inc.", "(Exact name of registrant as specified in its charter)"]
            symbol = f"Common Stock, $0.10 par value {company[:3].upper()}X New York Stock Exchange"
            indexed(two, f"scan-{number}.pdf", [*cover, symbol], [*BALANCE_SHEET, f"Sheet of file {number}."])
        for asked in ("Cranford", "Cranford Mines", "CRAX"):
            answer = two.answer(f"What was the current ratio of {asked} in 2022?")
            assert {one.document for one in answer.citations} == {"scan-1.pdf"}, asked
            assert "Total current assets 860 790" in answer.text
        assert "Total current assets" not in two.answer("What was the current ratio of Dunmore in 2022?").text


def test_why_it_changed_is_not_told_by_rows(library: Engine) -> None:
    assert "Total current assets" not in library.answer("Why may the current ratio of Bexley fall?").text


def test_any_other_question_takes_no_look(library: Engine) -> None:
    found = library.search("What do the lenders look at?")
    assert all(one.scores["financials"] is None for one in found.passages)
    assert "financials" not in found.timings_ms
