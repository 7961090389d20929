"""Rows of tables that answer without a model: their labels over several rows, and their unit with its place."""

from __future__ import annotations

from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle

from rag_core.engine import Engine
from rag_core.types.answers import Answer, AnswerState
from tests.support.engines import add_document, assert_cited

STYLES = getSampleStyleSheet()
TOWNS = [
    first + last
    for first in ("Al", "Bran", "Cor", "Dun", "Esk", "Fen")
    for last in ("by", "ford", "ley", "mouth", "ton", "wick", "stead", "combe")
]


def ask(engine: Engine, folder: Path, question: str, *flow: Flowable) -> Answer:
    SimpleDocTemplate(str(folder / "report.pdf"), pagesize=A4).build(list(flow))
    add_document(engine, "report.pdf", (folder / "report.pdf").read_bytes())
    *_, answer = engine.ask(question)
    assert isinstance(answer, Answer)
    assert answer.state is AnswerState.ANSWERED
    assert_cited(engine, answer)
    return answer


def test_row_has_the_label_that_covers_it(engine: Engine, tmp_path: Path) -> None:
    rows = ["Depot|Vehicle|Trips|Driver", "Brandt|Van|11|Ada", "|Lorry|14|Ben", "Kolding|Van|17|Cyd", "|Lorry|20|Dov"]
    style = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, "black"), *(("SPAN", (0, n), (0, n + 1)) for n in (1, 3))])
    title = Paragraph("Vehicles of the depots", STYLES["Title"])
    answer = ask(
        engine,
        tmp_path,
        "Who drives the lorry in Kolding?",
        title,
        Table([row.split("|") for row in rows], style=style),
    )
    assert "|Kolding|Lorry|20|Dov|" in answer.text


def test_rows_open_with_the_unit_and_its_place(engine: Engine, tmp_path: Path) -> None:
    rows = [[town, f"{1003 + 7 * number:,}", f"{2011 + 9 * number:,}"] for number, town in enumerate(TOWNS)]
    unit = Paragraph("Dues in thousands of crowns", STYLES["Heading3"])
    title = Paragraph("Harbour dues of the Orrin coast", STYLES["Title"])
    table = Table([["Harbour", "2022", "2023"], *rows], repeatRows=1)
    answer = ask(engine, tmp_path, "What dues did Fenwick pay in 2023?", title, unit, table)
    assert "\n\nDues in thousands of crowns [" in answer.text
    assert f"|Fenwick|{rows[TOWNS.index('Fenwick')][1]}|" in answer.text
    (place,) = {one.page_index for one in answer.citations if one.quote == "Dues in thousands of crowns"}
    assert place == 0


def test_company_in_the_title_of_another_page_is_asked_for(engine: Engine, tmp_path: Path) -> None:
    title = Paragraph("Orrin Ferries, annual report 2023", STYLES["Title"])
    prose = Paragraph("The ferries call at three harbours. The board met six times.", STYLES["BodyText"])
    unit = Paragraph("Income and outlay in thousands of<br/>Danish kroner", STYLES["Heading3"])
    rows = [["", "2022", "2023"], ["Turnover", "4,310", "5,190"], ["Fuel", "1,225", "1,460"], ["Repairs", "870", "915"]]
    flow = title, prose, PageBreak(), unit, Table(rows)
    answer = ask(engine, tmp_path, "What was the turnover of Orrin Ferries in 2023?", *flow)
    assert "|Turnover|4,310|5,190|" in answer.text
    assert "thousands of Danish kroner" in answer.text.partition("|")[0]
