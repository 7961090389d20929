"""Tables in answers, passages and sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from pages.shared.blocks import build_answer_blocks
from pages.shared.evidence import find_highlights
from pages.shared.excerpts import build_excerpts
from pages.shared.markdown import parse_markdown
from pages.shared.nodes import Node
from pages.shared.page_text import build_page_text
from pages.shared.tables import build_cited_tables
from rag_core.engine import Engine
from rag_core.types.answers import Answer, AnswerState, Citation
from rag_core.types.cited_tables import CitedTable
from rag_core.types.retrieval import Gate
from rag_core.types.tables import Table, TableCell, TableRow
from tests.support.app import ALLOWED, OpenPage, ask, click, conversation_of, kinds, plain_text, shown
from tests.support.drawn_pdfs import PROSE, lines, make, rows
from tests.support.engines import add_document

HOSTILE = ("<img src=x onerror=alert(1)>", "[a](http://e.example)", "![b](http://e.example/b.png) | **c**")
COMPARISON = "**6** · most sales [2].\n\n| Company | Sales |\n| --- | --- |\n| A \\| B | 5 [1] |\n| C | **6** [2] |"


def draw(*texts: tuple[str, ...], before: str = "", headers: int = 1) -> tuple[str, Table]:
    """Return the text of a page with a table, and the table."""
    text, drawn = before, []
    for number, row in enumerate(texts):
        cells = []
        for column, cell in enumerate(row):
            if cell:
                span = len(text), len(text) + len(cell)
                cells.append(TableCell(cell, (span,), column, is_header=number < headers))
                text += f"{cell} .. "
        text = f"{text[:-4]}\n"
        drawn.append(TableRow(tuple(cells)))
    return text, Table(tuple(drawn), headers, ((0.0, 9.0),) * len(texts[0]), ("Sales",), "(in millions)")


def grid(node: Node) -> list[list[str]]:
    """Return the texts of the cells of a table; marked cells end with a tick."""
    assert node["t"] == "table"
    return [[plain_text(cell["c"]) + "✓" * cell.get("marked", False) for cell in row["c"]] for row in node["c"]]


def answer(text: str, generator: str = "extractive", tables: tuple[CitedTable, ...] = ()) -> Answer:
    gate = Gate("rerank", 1.0, 0.5, True)
    return Answer("Q?", AnswerState.ANSWERED, text, (), (), gate, generator, {}, tables=tables)


@pytest.mark.parametrize("generator", ["extractive", "openai:m"])
def test_table_in_the_text_of_an_answer_has_citations_and_bold_text(generator: str) -> None:
    value, table = build_answer_blocks(answer(COMPARISON, generator), {1, 2})
    assert [node["t"] for node in value["c"]] == ["b", "text", "cite", "text"]
    assert grid(table) == [["Company", "Sales"], ["A | B", "5 [1]"], ["C", "6 [2]"]]
    assert [node["t"] for node in table["c"][2]["c"][1]["c"]] == ["b", "text", "cite"]
    assert [cell["right"] for cell in table["c"][0]["c"]] == [False, True]


@pytest.mark.parametrize("parse", [parse_markdown, lambda text, markers: build_answer_blocks(answer(text), markers)])
def test_unfinished_text_becomes_a_table_when_its_second_line_is_complete(parse: Callable[..., Any]) -> None:
    tables = [
        [grid(node) for node in parse(COMPARISON[:end], {1, 2}) if node["t"] == "table"]
        for end in range(len(COMPARISON) + 1)
    ]
    lengths = [len(found[0]) if found else 0 for found in tables]
    assert lengths == sorted(lengths)
    assert lengths[-1] == 3


@pytest.mark.parametrize("attack", HOSTILE)
def test_cells_are_plain_text(attack: str) -> None:
    text, table = draw(("", "2023"), (attack, attack))
    cited = CitedTable(1, "v", 0, table, (table.body[0].cells[1].start,))
    for nodes in (
        build_cited_tables(answer("7 [1]", tables=(cited,)), {1: f"{attack}.pdf"}),
        build_page_text(text, 0, len(text), [table], [(0, len(text))]),
    ):
        assert kinds(nodes) <= ALLOWED - {"b"}
        (shown_table,) = [node for node in nodes if node["t"] == "table"]
        assert [cell.rstrip("✓") for cell in grid(shown_table)[1]] == [attack, attack]


def test_cited_rows_follow_their_source_and_unit() -> None:
    _, table = draw(("", "2023"), ("Net sales", "3,642"))
    cited = CitedTable(1, "v", 0, table, (table.body[0].cells[1].start,))
    caption, shown_table = build_cited_tables(answer("3,642 [1]", tables=(cited,)), {1: "a.pdf, page 7"})
    assert plain_text([caption]) == "a.pdf, page 7 · (in millions) [1]"
    assert grid(shown_table) == [["", "2023"], ["Net sales", "3,642✓"]]
    assert build_cited_tables(answer(COMPARISON, tables=(cited,)), {1: "a.pdf, page 7"}) == []


def cite(quote: str, start: int, *marks: tuple[int, int]) -> Citation:
    return Citation(1, 1, "d", "v", "a.pdf", "7", 0, "3", quote, start, start + len(quote), marks=marks)


def test_excerpt_shows_the_rows_beside_the_marked_one_and_the_whole_table_on_demand() -> None:
    remark = "The mill was closed for repairs in the spring, and for the whole of the winter. " * 3
    text, whole = draw(("", "Remark"), *((f"Mill {name}", remark.strip()) for name in range(8)))
    row = whole.body[3]
    start, end = row.cells[0].start, row.cells[1].end
    shown_rows = replace(whole, rows=(*whole.headers, *whole.body[1:7]))
    cited = CitedTable(1, "v", 0, shown_rows, (row.cells[1].start,))
    unit = cite("(in millions)", 0)
    said = replace(
        answer("[1]", tables=(cited,)), citations=(unit, cite(text[start:end], start, row.cells[1].spans[0]))
    )
    caption, part, toggle = build_excerpts(said, said.citations, {("v", 0): [whole]})
    assert plain_text([caption]) == "a.pdf · page 3 · (in millions) [1]"
    assert [labels[0] for labels in grid(part)] == ["", "Mill 3"]
    assert toggle == {"t": "toggle", "n": 0, "s": "Show the whole table (8 rows)"}
    _, opened, toggle = build_excerpts(said, said.citations, {("v", 0): [whole]}, [0])
    assert [labels[0] for labels in grid(opened)] == ["", *(f"Mill {name}" for name in range(8))]
    assert toggle["s"] == "Show fewer rows"
    _, only = build_excerpts(said, said.citations, {("v", 0): [shown_rows]})
    assert len(grid(only)) == 7


@pytest.mark.parametrize("marked", [True, False])
def test_long_excerpt_is_shown_around_its_mark_until_the_reader_asks_for_it(marked: bool) -> None:
    quote = (
        "The mill was closed in the winter. " * 20 + "It has 40 looms. " + "The mill was opened in the spring. " * 20
    )
    place = quote.index("40 looms")
    citation = cite(quote.strip(), 100, *([(100 + place, 108 + place)] if marked else []))
    _, fold = build_excerpts(answer("[1]"), [citation])
    short, whole = fold["c"]
    assert (fold["t"], plain_text([whole])) == ("fold", quote.strip())
    assert len(plain_text([short])) < 600
    assert plain_text([short]).endswith("…")
    assert plain_text([short]).startswith("… ") == marked
    marks = [node["s"] for node in short["c"][0]["c"] if node["t"] == "mark"]
    assert marks == (["40 looms"] if marked else [])


def test_prose_around_a_table_is_kept_in_order() -> None:
    text, table = draw(("", "2023"), ("Net sales", "3,642"), ("Cost", "2,980"), before="It was good.\n\nSales\n")
    text += "(1) restated\nNext year will be better.\n"
    place = text.index("3,642")
    before, shown_table, after = build_page_text(text, 0, len(text), [table], [(3, 6), (place, place + 5)])
    assert plain_text([before]) == "It was good.\n\nSales"
    assert [node["s"] for node in before["c"] if node["t"] == "mark"] == ["was"]
    assert grid(shown_table) == [["", "2023"], ["Net sales", "3,642✓"], ["Cost", "2,980"]]
    assert plain_text([after]) == "(1) restated\nNext year will be better."


def test_part_of_a_table_has_the_header_caption_and_unit() -> None:
    text, table = draw(("", "2023"), ("Net sales", "3,642"), ("Cost", "2,980"))
    start = text.index("Cost")
    caption, shown_table = build_page_text(text[start:], start, len(text) - start, [table])
    assert plain_text([caption]) == "Sales (in millions)"
    assert grid(shown_table) == [["", "2023"], ["Cost", "2,980"]]
    assert build_page_text("Cost is high.", len(text), 13, [table])[0]["t"] == "p"


def test_list_is_prose() -> None:
    text, table = draw(("", "Steps"), ("•", "Close the valve."))
    assert [node["t"] for node in build_page_text(text, 0, len(text), [table])] == ["p"]


def test_words_between_cells_are_kept() -> None:
    text, table = draw(("", "2023"), ("Net sales", "3,642"))
    text = text.replace(" .. 3,642", " ab 3,642")
    nodes = build_page_text(text, 0, len(text), [table])
    assert [node["t"] for node in nodes] == ["table", "p"]
    assert plain_text(nodes[1:]).strip() == "ab"


def test_section_heads_the_rows_below_it() -> None:
    text, table = draw(("", "2023"), ("Assets",), ("Cash", "5"), ("Debts", "9"))
    found = list(table.rows)
    found[1] = TableRow(found[1].cells, is_section=True)
    found[2:] = [TableRow(row.cells, ("Assets",), 1) for row in found[2:]]
    table = Table(tuple(found), 1, table.columns)
    (whole,) = build_page_text(text, 0, len(text), [table])
    assert grid(whole) == [["", "2023"], ["Assets"], ["Cash", "5"], ["Debts", "9"]]
    assert whole["c"][1]["c"][0]["span"] == 2
    start = text.index("Debts")
    (part,) = build_page_text(text[start:], start, len(text) - start, [table])
    assert grid(part) == [["", "2023"], ["Assets"], ["Debts", "9"]]


def test_chat_shows_the_cited_row_and_highlights_its_cell(open_page: OpenPage, engine: Engine, tmp_path: Path) -> None:
    table = (("", "2023", "2022"), ("Net sales", "3,642", "3,507"), ("Cost of sales", "2,980", "2,862"))

    def draw_page(canvas: Canvas) -> None:
        lines(*PROSE, "", "Sales of Arden (in millions)", top=700)(canvas)
        rows(*table, top=620)(canvas)

    pdf = make(tmp_path / "Arden.pdf", draw_page)
    add_document(engine, "Arden.pdf", pdf.read_bytes())
    app = ask(open_page(), "What was the cost of sales of Arden in 2022?")
    said = shown(app)[0]["blocks"]
    (cited,) = [grid(node) for node in said if node["t"] == "table"]
    assert cited == [["", "2023", "2022"], ["Net sales", "3,642", "3,507"], ["Cost of sales", "2,980", "2,862✓"]]
    passage = next(item["blocks"] for item in shown(app)[1:] if item["blocks"])
    (whole,) = [grid(node) for node in passage if node["t"] == "table"]
    assert whole[2] == ["Cost of sales✓", "2,980", "2,862✓"]

    (message,) = [one for one in engine.conversations.messages(conversation_of(app)) if one.answer]
    assert message.answer is not None
    source = message.answer.passages[0]
    text = engine.documents.page(source.document_id, 0).text
    spans = find_highlights(message.answer, source, 0)
    assert {"Cost of sales", "2,862"} <= {text[start:end] for start, end in spans}
    click(app, "Open source")
    assert [grid(node) for node in shown(app)[-1]["blocks"] if node["t"] == "table"] == [whole]
