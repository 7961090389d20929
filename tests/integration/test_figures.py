"""Questions for figures of annual statements, from the PDF to the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.engine import Engine
from rag_core.types import AnswerState, Evaluation, Label, LabelKind, RetrievalConfig
from tests.support.drawn_pdfs import PROSE, lines, make, rows
from tests.support.engines import add_document, open_library

BALANCE = (
    ("", "2022", "2021"),
    ("Cash and cash equivalents", "$ 120", "$ 115"),
    ("Receivables, net", "340", "310"),
    ("Inventories", "200", "100"),
    ("Total current assets", "860", "790"),
    ("Property and equipment, net", "640", "560"),
    ("Total assets", "1,500", "1,350"),
    ("Accounts payable", "410", "402"),
    ("Total current liabilities", "700", "655"),
)
INCOME = (
    ("", "2022", "2021"),
    ("Net sales", "$ 2,400", "$ 2,100"),
    ("Cost of sales", "1,500", "1,400"),
    ("Operating income", "300", "210"),
    ("Net income", "180", "120"),
)


def statement(title: str, table: tuple[tuple[str, ...], ...], company: str):
    def draw(canvas: Canvas) -> None:
        lines(company, title, "(in millions)", "December 31,", top=680)(canvas)
        rows(*table, top=620)(canvas)

    return draw


def add(engine: Engine, path: Path, company: str, *cover: str) -> None:
    """Index a report that consists of a cover, a balance sheet and an income statement."""
    make(
        path,
        lines(company, "Annual report", *cover, "", *PROSE),
        statement("CONSOLIDATED BALANCE SHEETS", BALANCE, company),
        statement("CONSOLIDATED STATEMENTS OF INCOME", INCOME, company),
    )
    add_document(engine, path.name, path.read_bytes())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("figures")
    with open_library(folder / "data", {}) as engine:
        for company in ("Bexley", "Cranford"):
            add(engine, folder / f"{company} 2022.pdf", f"{company} Mills")
        yield engine


def test_line_of_a_statement_is_the_answer(library: Engine) -> None:
    found = library.answer("What were Bexley's total current assets at the end of FY2022?")
    assert found.state is AnswerState.ANSWERED
    assert found.short == "$860 million"
    assert found.text.startswith("$860 million · total current assets, fiscal 2022")
    assert [(one.document, one.page_index) for one in found.citations] == [("Bexley 2022.pdf", 1)]
    assert found.citations[0].quote.split() == ["Total", "current", "assets", "860", "790"]


def test_each_operand_of_a_ratio_is_cited(library: Engine) -> None:
    found = library.answer("What was the fixed asset turnover of Cranford in 2022?")
    assert found.short == "4.00"
    quotes = {" ".join(one.quote.split()): one.page_index for one in found.citations}
    assert {quote.split(" 2,")[0].split(" $")[0]: page for quote, page in quotes.items()} == {
        "Net sales": 2,
        "Property and equipment, net 640 560": 1,
    }
    assert {one.document for one in found.citations} == {"Cranford 2022.pdf"}
    markers = {passage.rank for passage in found.passages}
    assert {one.marker for one in found.citations} <= markers
    assert all(claim.supported for claim in found.statements)


def test_figure_of_several_years_has_a_value_for_each(library: Engine) -> None:
    found = library.answer("What was Bexley's net income in 2022 and 2021?")
    assert found.short == "$180 million (2022); $120 million (2021)"
    assert found.text.startswith(found.short)
    assert {(one.document, one.page_index) for one in found.citations} == {("Bexley 2022.pdf", 2)}
    ratios = library.answer("What was the current ratio of Cranford in 2021 and 2022?")
    assert ratios.short == "1.23 (2022); 1.21 (2021)"


def test_figure_is_not_given_if_one_of_several_years_is_missing(library: Engine) -> None:
    assert "180" not in library.answer("What was Bexley's net income in 2022 and 2017?").short


def test_definition_in_a_long_question_is_used(library: Engine) -> None:
    question = (
        "We are analysts and we work only with what a company itself publishes in its annual reports, so that our "
        "results can be repeated by others. What is the FY2022 inventory turnover of Bexley? Inventory turnover is "
        "defined as: FY2022 revenue / (average inventory between FY2021 and FY2022). Please round your answer to one "
        "decimal place, and use the details of the statements."
    )
    assert library.answer(question).short == "16.0"


@pytest.mark.parametrize(
    "question",
    [
        "What were Bexley's total current assets at the end of FY2022?",
        "What was the current ratio of Cranford in 2022?",
    ],
)
def test_evaluation_counts_a_figure_as_answered_whatever_the_score(library: Engine, question: str) -> None:
    answer = library.answer(question, configuration=RetrievalConfig(threshold=1.0))
    assert answer.state is AnswerState.ANSWERED
    assert answer.gate.score < 1.0
    assert answer.gate.overruled
    labels = [Label("figure", question, LabelKind.ANSWERABLE, answers=(answer.short,))]
    *_, evaluation = library.evaluations.run(labels, RetrievalConfig(threshold=1.0))
    assert isinstance(evaluation, Evaluation)
    (outcome,) = evaluation.outcomes
    assert (outcome.answered, outcome.gate_score, outcome.problem) == (True, 1.0, "")
    assert outcome.values["contains_answer"] == 1.0


def test_missing_line_is_named(library: Engine) -> None:
    found = library.answer("What was the asset turnover of Bexley in 2021?")
    assert found.short == ""
    assert "no total assets for fiscal 2020 in Bexley 2022.pdf" in found.text or found.state is AnswerState.ABSTAINED


@pytest.mark.parametrize(
    "question",
    [
        "What were Dunmore's total current assets at the end of FY2022?",
        "What were the total current assets at the end of FY2022?",
        "What were Bexley's total current assets at the end of FY2017?",
        "Why did Bexley's total current assets grow in FY2022?",
    ],
)
def test_figures_do_not_answer_other_questions(library: Engine, question: str) -> None:
    assert "· total current assets" not in library.answer(question).text


def test_single_document_need_not_be_named(engine: Engine, tmp_path: Path) -> None:
    add(engine, tmp_path / "report.pdf", "Bexley Mills")
    assert engine.answer("What was the current ratio in 2022?").short == "1.23"
    assert engine.answer("What was the current ratio of Cranford in 2022?").short == ""


def test_document_is_identified_by_its_cover_page(engine: Engine, tmp_path: Path) -> None:
    for number, company in enumerate(("Bexley Mills", "Cranford Mines")):
        symbol = f"Common Stock, $0.10 par value {company[:3].upper()}X New York Stock Exchange"
        add(engine, tmp_path / f"scan-{number}.pdf", f"{company}, Inc.", symbol)
    for name in ("Cranford", "Cranford Mines", "CRAX"):
        answer = engine.answer(f"What was the current ratio of {name} in 2022?")
        assert answer.short == "1.23"
        assert {citation.document for citation in answer.citations} == {"scan-1.pdf"}, name


def test_original_report_is_preferred_to_a_later_one(engine: Engine, tmp_path: Path) -> None:
    add(engine, tmp_path / "first.pdf", "Bexley Mills")
    later = (("", "2023", "2022"), *((label, "$ 1", "$ 2") for label, *_ in BALANCE[1:]))
    make(
        tmp_path / "second.pdf",
        lines("Bexley Mills", "Annual report 2023", "", *PROSE),
        statement("CONSOLIDATED BALANCE SHEETS", later, "Bexley Mills"),
    )
    add_document(engine, "second.pdf", (tmp_path / "second.pdf").read_bytes())
    assert engine.answer("What were Bexley's total current assets in 2022?").short == "$860 million"
    assert engine.answer("What were Bexley's total current assets in 2023?").short == "$1 million"
