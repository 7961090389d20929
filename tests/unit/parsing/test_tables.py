"""Tables are found from the positions of words, and no table is found in other text."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.types.tables import Table
from tests.support.drawn_pdfs import PLACES, PROSE, SALES, lines, make, read, rows


def tables(path: Path, *draw) -> tuple[Table, ...]:
    def draw_all(canvas: Canvas) -> None:
        for one in draw:
            one(canvas)

    page = read(make(path / "page.pdf", draw_all)).page
    for table in page.tables:
        for row in table.rows:
            for cell in row.cells:
                parts = [page.text[start:end] for start, end in cell.spans]
                assert "".join("".join(parts).split()) == "".join(cell.text.split())
    return page.tables


def only(path: Path, *draw) -> Table:
    (table,) = tables(path, *draw)
    return table


def values(table: Table) -> dict[tuple[str, str], str]:
    """Return the text of each cell by the label of its row and the header of its column."""
    return {
        (row.label, table.column_header(cell.column)): cell.text
        for row in table.body
        for cell in row.cells
        if cell.column
    }


@pytest.mark.parametrize("pitch", [12, 18, 26])
def test_columns_of_figures_are_a_table(tmp_path: Path, pitch: float) -> None:
    table = only(tmp_path, lines(*PROSE), rows(*SALES, pitch=pitch))
    assert values(table) == {
        ("Net sales", "2023"): "3,642",
        ("Net sales", "2022"): "3,507",
        ("Cost of sales", "2023"): "2,980",
        ("Cost of sales", "2022"): "2,862",
    }
    assert table.header_rows == 1


def test_rules_around_cells_do_not_matter(tmp_path: Path) -> None:
    def rules(canvas: Canvas) -> None:
        for number in range(4):
            canvas.line(50, 610 - 14 * number, 500, 610 - 14 * number)
        for x in (50, 270, 350, 430):
            canvas.line(x, 610, x, 568)

    assert values(only(tmp_path, rows(*SALES), rules))["Cost of sales", "2022"] == "2,862"


def test_empty_cells_stay_empty(tmp_path: Path) -> None:
    table = only(tmp_path, rows(*SALES, ("Interest", "", "17"), ("Taxes", "5", "")))
    assert table.to_grid()[3:] == [["Interest", "", "17"], ["Taxes", "5", ""]]


@pytest.mark.parametrize(
    ("first", "second"),
    [("Year ended June 30,", "Quarter ended June 30,"), ("2023", "2022"), ("North", "South")],
)
def test_headers_over_several_columns(tmp_path: Path, first: str, second: str) -> None:
    def upper(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        canvas.drawCentredString(330, 614, first)
        canvas.drawCentredString(490, 614, second)

    body = [
        ("Region", "Sold", "Left", "Sold", "Left"),
        ("Corrin", "10", "21", "32", "43"),
        ("Farrow", "54", "65", "76", "87"),
    ]
    table = only(tmp_path, upper, rows(*body, places=(60, 300, 380, 460, 540)))
    assert table.header_rows == 2
    assert values(table)["Farrow", f"{first} › Left"] == "65"
    assert values(table)["Farrow", f"{second} › Sold"] == "76"


def test_header_of_several_lines_is_one_row(tmp_path: Path) -> None:
    head = rows(("", "Book value", "Cost of"), ("Asset", "(GBP)", "purchase"), top=624, pitch=11)
    table = only(tmp_path, head, rows(("Pump", "10", "21"), ("Press", "32", "43")))
    assert table.header_rows == 1
    assert [table.column_header(column) for column in range(3)] == ["Asset", "Book value (GBP)", "Cost of purchase"]


def test_title_above_the_headers_is_the_caption(tmp_path: Path) -> None:
    def title(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawCentredString(250, 628, "Statement of income")
        canvas.drawCentredString(250, 614, "(in millions, except per share amounts)")

    table = only(tmp_path, title, rows(*SALES))
    assert table.caption == ("Statement of income", "(in millions, except per share amounts)")
    assert table.unit == "(in millions, except per share amounts)"
    assert table.column_header(1) == "2023"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Table 1. Inflow in thousand cubic", "metres"),
        ("All amounts are shown in thousands of", "Danish kroner."),
        ("Betriebsergebnis in Millionen", "Euro"),
        ("Dues of the harbour (in thousands", "of crowns)"),
    ],
)
def test_unit_over_two_lines_is_read_whole(tmp_path: Path, first: str, second: str) -> None:
    table = only(tmp_path, lines(first, second, top=628, size=10), rows(*SALES))
    assert table.unit_line == f"{first} {second}"


@pytest.mark.parametrize("label_lines", [1, 2, 3])
def test_labels_of_several_lines_are_one_row(tmp_path: Path, label_lines: int) -> None:
    label = ["Purchases of property, plant and", "equipment, and of other assets", "that are not listed"][:label_lines]
    table = only(
        tmp_path,
        rows(*SALES, top=640),
        rows(*([text] for text in label[:-1]), (label[-1], "77", "88"), top=598, pitch=11),
        rows(("Taxes", "5", "6"), top=598 - 11 * label_lines - 3),
    )
    assert values(table)[" ".join(label), "2023"] == "77"
    assert values(table)["Taxes", "2022"] == "6"


def test_figures_in_the_first_line_of_a_label(tmp_path: Path) -> None:
    table = only(
        tmp_path,
        rows(*SALES, ("Proceeds from the sale of", "7", "8"), top=640),
        rows(["businesses and subsidiaries"], ("Taxes", "5", "6"), top=587),
    )
    assert values(table)["Proceeds from the sale of businesses and subsidiaries", "2023"] == "7"


def test_rows_without_figures_head_the_rows_below(tmp_path: Path) -> None:
    table = only(
        tmp_path,
        rows(("", "2023", "2022"), ["Current assets:"], ("Cash", "1", "2"), ("Inventories", "3", "4")),
        rows(("Total current assets", "4", "6"), ["Equity:"], ("Shares", "7", "8"), top=544),
    )
    labels = [table.row_label(row) for row in table.body if not row.is_section]
    assert labels == [
        "Current assets › Cash",
        "Current assets › Inventories",
        "Current assets › Total current assets",
        "Equity › Shares",
    ]


def test_indented_rows_belong_to_the_row_above(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        rows(("", "2023", "2022"), ("Net sales", "9", "8"))(canvas)
        rows(("Products", "5", "5"), ("Services", "4", "3"), places=(72, *PLACES[1:]), top=572)(canvas)
        rows(("Costs", "1", "2"), top=544)(canvas)

    table = only(tmp_path, draw)
    assert [row.section for row in table.body] == [(), ("Net sales",), ("Net sales",), ()]


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        ([(280, "$"), (330, "3,642")], "$3,642"),
        ([(330, "(118"), (334, ")")], "(118)"),
        ([(330, "12.5"), (342, "%")], "12.5%"),
        ([(280, "$"), (330, "—")], "$—"),
    ],
)
def test_signs_are_joined_to_their_figure(tmp_path: Path, drawn: list[tuple[float, str]], text: str) -> None:
    def signs(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        canvas.drawString(60, 558, "Other")
        for x, part in drawn:
            canvas.drawRightString(x, 558, part)
        canvas.drawRightString(410, 558, "17")

    table = only(tmp_path, rows(*SALES), signs)
    assert values(table)["Other", "2023"] == text
    assert values(table)["Other", "2022"] == "17"


@pytest.mark.parametrize("pitch", [15, 20, 28])
def test_labels_and_values_are_a_table(tmp_path: Path, pitch: float) -> None:
    pairs = [("Surname", "Berg"), ("First name", "Maren"), ("Date of birth", "17.09.1988"), ("Town", "Corrin")]
    table = only(tmp_path, rows(*pairs, places=(60, 200), left=True, pitch=pitch))
    assert table.header_rows == 0
    assert {row.label: row.cells[1].text for row in table.body} == dict(pairs)


TASKS = [
    ("Task", "Owner", "Status"),
    ("renew fire permit", "legal", "open"),
    ("replace pump", "facilities", "done"),
    ("train first aiders", "legal", "in progress"),
]


def test_texts_in_columns_are_a_table(tmp_path: Path) -> None:
    table = only(tmp_path, rows(*TASKS, places=(60, 220, 340), left=True))
    assert table.header_rows == 1
    assert values(table)["replace pump", "Status"] == "done"


def test_texts_of_several_lines(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        rows(("Risk", "Owner", "Response"), places=(60, 220, 300), left=True)(canvas)
        for number, owner in enumerate(("legal", "finance", "IT")):
            top = 580 - 40 * number
            cells = [("Suppliers fail", owner, "ask two others for an offer"), ("to deliver", "", "within a week")]
            rows(*cells, places=(60, 220, 300), left=True, top=top, pitch=12)(canvas)

    table = only(tmp_path, draw)
    assert [[cell.text for cell in row.cells] for row in table.body][1] == [
        "Suppliers fail to deliver",
        "finance",
        "ask two others for an offer within a week",
    ]


CONTRACTS = (
    ("1", "Repair of the/harbour wall/and its lamps", "Gulls Limited", "12,500"),
    ("2", "Survey", "Consultants/of the Blue/Water", "1,200"),
    ("3", "Dredging of/the inner/basin", "Deep", "99,000"),
)


@pytest.mark.parametrize(
    ("contracts", "middle"),
    [
        (CONTRACTS, 0.0),
        (CONTRACTS, 0.5),
        (CONTRACTS[::2], 0.0),
        (CONTRACTS[::2], 0.5),
        ((("4", "Survey", "Deep", "7,500"), CONTRACTS[0]), 0.5),
    ],
    ids=["three_top", "three_middle", "two_top", "two_middle", "one_middle"],
)
def test_row_written_cell_by_cell_is_one_line(
    tmp_path: Path, middle: float, contracts: tuple[tuple[str, ...], ...]
) -> None:
    def draw(canvas: Canvas) -> None:
        rows(("No.", "Contract", "Supplier", "EUR"), places=(60, 100, 250, 400), left=True, top=640)(canvas)
        for number, row in enumerate(contracts):
            for x, cell in zip((60, 100, 250, 400), row, strict=True):
                parts = cell.split("/")
                top = 620 - 46 * number - middle * 12 * (3 - len(parts))
                lines(*parts, top=top, left=x, pitch=12, size=10)(canvas)

    [table] = tables(tmp_path, lines(*PROSE), draw)
    expected = [tuple(cell.replace("/", " ") for cell in row) for row in contracts]
    assert [tuple(cell.text for cell in row.cells) for row in table.body] == expected
    text = read(tmp_path / "page.pdf").page.text
    assert [line for line in text.splitlines() if line[:1].isdigit()] == [" ".join(row) for row in expected]


def test_table_written_column_by_column_keeps_its_rows(tmp_path: Path) -> None:
    columns = (("Paint the wall", "Mend the roof", "Feed the cats"), ("Ann Ash", "Bob Bay", "Cy Cole"), ("", "yes"))

    def draw(canvas: Canvas) -> None:
        rows(("Task", "Owner", "Done"), places=(60, 200, 330), left=True, top=640)(canvas)
        for x, cells in zip((60, 200, 330), columns, strict=True):
            for number, cell in enumerate(cells):
                canvas.drawString(x, 620 - 20 * number, cell)

    [table] = tables(tmp_path, lines(*PROSE), draw)
    assert [[cell.text for cell in row.cells] for row in table.body] == [
        ["Paint the wall", "Ann Ash"],
        ["Mend the roof", "Bob Bay", "yes"],
        ["Feed the cats", "Cy Cole"],
    ]


def test_texts_side_by_side_and_rows_written_by_line_keep_their_lines(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for x in (60, 220, 380):
            lines("Ann Bell", "Institute of Tides", "Ostend, Belgium", left=x)(canvas)
        by_line = (("", "2023", "2022"), ("Dues from all ferries",), ("and ships", "10.5", "11.2"), ("Rents", "3", "4"))
        rows(*by_line)(canvas)

    text = read(make(tmp_path / "page.pdf", draw)).page.text
    assert text.count("Ann Bell\nInstitute of Tides\nOstend, Belgium") == 3
    assert "Dues from all ferries\nand ships 10.5 11.2\n" in text


def test_bold_first_row_is_the_header_of_two_columns(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        rows(*TASKS[1:], places=(60, 220), left=True)(canvas)
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawString(60, 614, "Task")
        canvas.drawString(220, 614, "Owner")

    table = only(tmp_path, draw)
    assert [cell.text for cell in table.headers[0].cells] == ["Task", "Owner"]


def columns_of_prose(canvas: Canvas) -> None:
    for left in (50, 310):
        lines(*(text[:44] for text in PROSE * 5), left=left, size=10)(canvas)


def numbered_list(canvas: Canvas) -> None:
    rows(*((f"{number}.", text) for number, text in enumerate(PROSE * 2, 1)), places=(60, 90), left=True)(canvas)


@pytest.mark.parametrize("draw", [lines(*PROSE * 4), columns_of_prose, numbered_list])
def test_other_text_is_no_table(tmp_path: Path, draw) -> None:
    assert tables(tmp_path, draw) == ()


def test_unit_below_the_headers_is_no_header(tmp_path: Path) -> None:
    def unit(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        canvas.drawCentredString(360, 616, "(In thousands)")

    table = only(tmp_path, rows(SALES[0], top=630), unit, rows(*SALES[1:]))
    assert (table.unit, table.column_header(1)) == ("(In thousands)", "2023")


def test_table_below_has_the_headers_of_the_table_above(tmp_path: Path) -> None:
    first, second = tables(tmp_path, rows(*SALES), rows(("Tax rate", "21%", "22%"), ("Other", "1%", "2%"), top=500))
    assert second.headers == first.headers
    assert values(second)["Tax rate", "2022"] == "22%"


def test_bullets_are_part_of_their_text(tmp_path: Path) -> None:
    items = [("•", "connect the device"), ("•", "start the browser"), ("•", "enter the address")]
    assert tables(tmp_path, rows(*items, places=(60, 80), left=True)) == ()


def test_currency_sign_begins_the_next_cell(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        rows(("", "Change", "2022"), ("Sales", "7%", "34"), ("Costs", "6%", "19"))(canvas)
        canvas.drawString(334, 586, "$")

    assert values(only(tmp_path, draw))["Sales", "Change"] == "7%"
    assert values(only(tmp_path, draw))["Sales", "2022"] == "$34"
