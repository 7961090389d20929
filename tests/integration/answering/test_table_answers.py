"""Questions over the rows of a table: the largest, lists, counts, changes, and values with their units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from rag_core.engine import Engine
from rag_core.types import Answer, AnswerState
from tests.support.engines import add_document, opened

STATIONS = (
    ("Station", "Altitude (m)", "Rain 2021 (mm)", "Rain 2022 (mm)", "Rain 2023 (mm)"),
    ("Kelso", "263", "906", "857", "433"),
    ("Marram", "398", "1237", "918", "785"),
    ("Tolland", "660", "894", "367", "920"),
    ("Brigg", "33", "1230", "1157", "780"),
    ("Harle", "754", "681", "853", "1156"),
)
MODELS = (
    ("Model", "Weight (kg)", "Power (W)", "Price (EUR)", "Warranty"),
    ("Orbit 200", "7.8", "774", "740.00", "2 years"),
    ("Orbit 300", "17.3", "1098", "105.00", "5 years"),
    ("Vela S", "5.6", "626", "695.00", "2 years"),
    ("Nimbus", "16.1", "1518", "486.00", "5 years"),
)
ACTIONS = (
    ("No.", "Action", "Owner", "Status"),
    ("1", "Send revised budget", "P. Quill", "OPEN"),
    ("2", "Repair the north gate", "R. Osei", "DONE"),
    ("3", "Renew the insurance", "P. Quill", "DONE"),
    ("4", "Book the hall", "T. Abara", "IN PROGRESS"),
    ("5", "Order new chairs", "M. Lindt", "OPEN"),
)
SEGMENTS = (
    ("Segment", "2023", "2022"),
    ("Beverages", "$ 5,382", "$ 3,472"),
    ("Snacks", "6,147", "6,505"),
    ("Pet care", "4,259", "5,175"),
    ("Total net sales", "$ 15,788", "$ 15,152"),
)
# The table goes on over three pages, with its head on each.
STOCK = (
    ("Item", "Description", "In stock"),
    *(
        (f"B{100 + number}.7", "copper tee" if number % 7 else "brass elbow", f"{number * 137 % 401}")
        for number in range(1, 120)
    ),
)
DIVISIONS = (
    ("", "2023", "2022"),
    ("Net sales", "", ""),
    ("Hulls", "$ 914", "$ 870"),
    ("Sails", "1,306", "1,190"),
    ("Total net sales", "2,220", "2,060"),
    ("Operating profit", "", ""),
    ("Hulls", "88", "61"),
    ("Sails", "54", "70"),
    ("Total operating profit", "142", "131"),
)
SHARES = (
    ("Region", "Sales 2023", "% of total 2023", "Sales 2022", "% of total 2022"),
    ("North", "$ 310", "31%", "$ 420", "42%"),
    ("South", "490", "49%", "380", "38%"),
    ("West", "200", "20%", "200", "20%"),
)
# The same row in the tables of two segments, and one that only one of them has.
CANNERY = (
    ("", "2023", "2022"),
    ("Freight costs", "$ 71", "$ 66"),
    ("Crew wages", "38", "35"),
    ("Net sales", "300", "280"),
)
BAKERY = (("", "2023", "2022"), ("Freight costs", "$ 12", "$ 11"), ("Flour", "55", "41"), ("Net sales", "140", "120"))
RATES = (("Bank", "Rate 2022 (%)", "Rate 2023 (%)"), ("Alder", "2.25", "3.00"), ("Rowan", "1.75", "1.50"))
HALLS = (("Hall", "Seats 2023"), ("Rowan", "410"), ("Maple", "350"))


def table_pdf(title: str, unit: str, rows: Sequence[Sequence[str]]) -> bytes:
    """Return a PDF with a title, a line that states the unit, and a table."""
    buffer, styles = BytesIO(), getSampleStyleSheet()
    style = [("FONTSIZE", (0, 0), (-1, -1), 9), ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")]
    flow = [Paragraph(title, styles["Title"]), *([Paragraph(unit)] if unit else [])]
    SimpleDocTemplate(buffer, invariant=1).build([*flow, Table(rows, style=style, repeatRows=1)])
    return buffer.getvalue()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    documents = {
        "stations.pdf": ("Weather stations of the county", "Values are yearly totals.", STATIONS),
        "vacuum-models.pdf": ("Vacuum cleaners: overview of models", "", MODELS),
        "minutes.pdf": ("Action list of the trustees", "", ACTIONS),
        "lorimer.pdf": ("Lorimer Foods: net sales by segment", "(in millions)", SEGMENTS),
        "inventory.pdf": ("Inventory of the central store", "", STOCK),
        "harwood-yards.pdf": ("Harwood Yards: results by division", "(in millions)", DIVISIONS),
        "alderney-ferries.pdf": ("Alderney Ferries: net sales by region", "(in millions)", SHARES),
        "ostler-cannery.pdf": ("Ostler Foods: results of the cannery", "(in millions)", CANNERY),
        "rates.pdf": ("Rates of the savings banks", "", RATES),
        "halls-north.pdf": ("Concert halls", "", HALLS),
        "halls-south.pdf": ("Concert halls", "", (HALLS[0], ("Birch", "520"), ("Alder", "290"))),
    }
    with opened(tmp_path_factory.mktemp("rows") / "data") as engine:
        for name, (title, unit, rows) in documents.items():
            add_document(engine, name, table_pdf(title, unit, rows))
        yield engine


def quotes(answer: Answer) -> str:
    return " ".join(" ".join(citation.quote.split()) for citation in answer.citations)


@pytest.mark.parametrize(
    ("question", "short", "value"),
    [
        ("Which station had the most rain in 2023?", "Harle", "Rain 2023 (mm): 1156 mm"),
        ("Which station is at the lowest altitude?", "Brigg", "Altitude (m): 33 m"),
        ("Which is the heaviest vacuum cleaner?", "Orbit 300", "Weight (kg): 17.3 kg"),
        ("What is the cheapest model?", "Orbit 300", "Price (EUR): 105.00 EUR"),
        ("Which segment of Lorimer Foods had the largest net sales in 2022?", "Snacks", "2022: $6,505 million"),
        ("Which division of Harwood Yards had the largest net sales in 2023?", "Sails", "2023: $1,306 million"),
        ("Which division of Harwood Yards had the highest operating profit in 2023?", "Hulls", "2023: $88 million"),
        ("Which region of Alderney Ferries had the largest net sales in 2023?", "South", "Sales 2023: $490 million"),
        ("Which item of the central store has the largest stock?", "B179.7", "In stock: 397"),
    ],
)
def test_superlatives_name_the_row_with_its_value(library: Engine, question: str, short: str, value: str) -> None:
    answer = library.answer(question)
    assert answer.short == short
    assert answer.text.startswith(f"**{short}** · {value} [")
    assert answer.opens_with_short
    assert short in quotes(answer)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which actions of the trustees are marked DONE?", ["Repair the north gate", "Renew the insurance"]),
        ("Which actions are assigned to P. Quill?", ["Send revised budget", "Renew the insurance"]),
        ("Which actions of the trustees are in progress?", ["Book the hall"]),
        ("Which models weigh less than 10 kg?", ["Orbit 200", "Vela S"]),
        ("Which models cost more than 600 euros?", ["Orbit 200", "Vela S"]),
        ("Which stations lie above 600 m?", ["Tolland", "Harle"]),
    ],
)
def test_lists_contain_the_rows_that_fit(library: Engine, question: str, expected: list[str]) -> None:
    answer = library.answer(question)
    assert answer.short.split("; ") == expected
    assert answer.opens_with_short
    assert all(name in quotes(answer) for name in expected)


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many stations had more than 900 mm of rain in 2021?", "3"),
        ("How many actions of the trustees are open?", "2"),
        ("How many models have a warranty of 5 years?", "2"),
        ("How many items of the central store are described as brass elbow?", "17"),
        ("How many items of the central store are brass elbows?", "17"),
    ],
)
def test_counts_of_rows(library: Engine, question: str, short: str) -> None:
    answer = library.answer(question)
    assert answer.short == short
    assert answer.text.startswith(f"**{short}** · {short} of ")


@pytest.mark.parametrize(
    ("question", "short", "values"),
    [
        ("By how much did rain at Harle change from 2021 to 2023?", "+475 mm", ["681", "1156"]),
        ("At which station did rain fall most from 2021 to 2023?", "Kelso", ["906", "433", "−473 mm"]),
        ("Did net sales of Snacks at Lorimer Foods grow in 2023?", "No, −$358 million", ["$6,505", "$6,147"]),
        ("Which segment of Lorimer Foods grew most in 2023?", "Beverages", ["$3,472", "$5,382", "+$1,910 million"]),
        ("By how much did the rate of Alder change from 2022 to 2023?", "+0.75 percentage points", ["2.25%", "3.00%"]),
        ("How much more does the Orbit 200 cost than the Nimbus?", "254.00 EUR more", ["740.00", "486.00"]),
    ],
)
def test_changes_and_differences_name_both_values(
    library: Engine, question: str, short: str, values: list[str]
) -> None:
    answer = library.answer(question)
    assert answer.short == short
    assert all(value in answer.text for value in values)


@pytest.mark.parametrize(
    "question",
    [
        "Which station had the most snow in 2023?",
        "Which station had the most rain in 2019?",
        "Which station had the most rain?",
        "Which actions of the trustees are marked POSTPONED?",
        "Which actions of the trustees are not done?",
        "Which segment of Lorimer Foods had the largest operating profit in 2023?",
        "Which segment of Harwood Mills had the largest net sales in 2023?",
        "Which division of Harwood Yards had the largest figure in 2023?",
        "Which model is the quietest?",
        "Which concert hall had the most seats in 2023?",
        "By how much did rain at Harle change from 2019 to 2023?",
    ],
)
def test_nothing_is_evaluated_if_a_word_or_the_table_is_not_clear(library: Engine, question: str) -> None:
    answer = library.answer(question)
    assert answer.short == ""
    assert " rows" not in answer.text


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What were the crew wages of Ostler Foods in 2022?", "$35 million"),
        ("How much were the crew wages of Ostler Foods in 2022 and 2023?", "$35 million (2022); $38 million (2023)"),
        ("What was Ostler's freight costs in 2023?", "$71 million"),
    ],
)
def test_row_that_the_question_names_is_the_answer(library: Engine, question: str, short: str) -> None:
    answer = library.answer(question)
    assert (answer.state, answer.short) == (AnswerState.ANSWERED, short)
    assert answer.text.startswith(f"**{short}** · ")
    assert {one.document for one in answer.citations} == {"ostler-cannery.pdf"}


def test_row_of_a_segment_is_no_answer_if_another_segment_has_it_too(engine: Engine) -> None:
    buffer, styles = BytesIO(), getSampleStyleSheet()
    flow = [Paragraph("Ostler Foods", styles["Title"])]
    for title, rows in (("Cannery", CANNERY), ("Bakery", BAKERY)):
        flow += [Paragraph(title, styles["Heading2"]), Paragraph("(in millions)"), Table(rows)]
    SimpleDocTemplate(buffer, invariant=1).build(flow)
    add_document(engine, "ostler.pdf", buffer.getvalue())
    assert engine.answer("How much were the freight costs of Ostler Foods in 2023?").short == ""
    assert engine.answer("How much was flour of Ostler Foods in 2023?").short == "$55 million"


def test_table_that_may_go_on_elsewhere_is_not_evaluated(tmp_path: Path) -> None:
    # The figures of these pages rise like page numbers, so that they are not read as a table.
    rising = [(f"B{number}.7", "copper tee", f"{number}") for number in range(101, 140)]
    others = [(f"C{number}.7", "brass elbow", f"{number * 137 % 401}") for number in range(101, 131)]
    head = ("Item", "Description", "In stock")
    with opened(tmp_path / "data") as engine:
        add_document(engine, "inventory.pdf", table_pdf("Inventory of the store", "", (head, *rising, *others)))
        answer = engine.answer("Which item of the store has the largest stock?")
        assert " rows" not in answer.text


def test_empty_cell_or_another_unit_prevents_an_answer(tmp_path: Path) -> None:
    ropes = (
        ("Rope", "Length", "Load (kg)", ""),
        ("Anchor", "30 m", "900", "41.00"),
        ("Halyard", "40 ft", "", "17.50"),
        ("Sheet", "25 m", "310", "22.00"),
    )
    with opened(tmp_path / "data") as engine:
        add_document(engine, "ropes.pdf", table_pdf("Ropes of the boat", "", ropes))
        for question in (
            "Which rope has the largest length?",
            "Which rope has the highest load?",
            "Which rope of the boat is the most expensive?",
        ):
            answer = engine.answer(question)
            assert (answer.short, " rows" in answer.text) == ("", False)


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How much rain fell at Tolland in 2022?", "367 mm"),
        ("What does the Nimbus cost?", "486.00 EUR"),
        ("What were the net sales of the Pet care segment of Lorimer Foods in 2022?", "$5,175 million"),
    ],
)
def test_single_values_have_their_unit(library: Engine, question: str, short: str) -> None:
    answer = library.answer(question)
    assert answer.state is AnswerState.ANSWERED
    assert answer.short == short
    assert answer.text.startswith(f"**{short}** · ")


BUDGET = (
    ("Item", "Budget (£)", "Forecast (£)", "Spent so far (£)"),
    ("Teaching", "41,200", "42,650", "20,100"),
    ("Premises", "16,450", "20,130", "11,900"),
    ("Transport", "3,180", "2,925", "1,450"),
)
CODES = (
    ("Code", "Meaning", "What to do"),
    ("E1", "Tank empty", "Fill the tank"),
    ("E3", "Pump without water", "Open the wand"),
    ("E7", "Boiler too hot", "Wait for 45 minutes"),
)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("office") / "data") as engine:
        add_document(engine, "budget.pdf", table_pdf("Budget of the school", "", BUDGET))
        add_document(engine, "machine.pdf", table_pdf("Error codes of the machine", "", CODES))
        yield engine


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("By how much does the forecast for premises exceed the budget?", "+£3,680"),
        ("By how much does the forecast for teaching exceed the budget?", "+£1,450"),
        ("By how much does the forecast for transport exceed the budget?", "−£255"),
    ],
)
def test_two_columns_of_a_row_are_compared(office: Engine, question: str, short: str) -> None:
    answer = office.answer(question)
    assert answer.short == short
    assert answer.text.startswith(f"**{short}**")
    assert "Budget" in answer.text
    assert "Forecast" in answer.text


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What does code E7 mean, and what should I do?", ["Boiler too hot", "Wait for 45 minutes"]),
        ("What is the meaning of E3, and what should I do?", ["Pump without water", "Open the wand"]),
        ("What does code E1 mean and what is to be done?", ["Tank empty", "Fill the tank"]),
    ],
)
def test_question_with_two_parts_gets_all_cells_of_the_row(office: Engine, question: str, parts: list[str]) -> None:
    answer = office.answer(question)
    assert answer.short == ""
    assert all(part in answer.text for part in parts), answer.text
    assert "Tank empty" not in answer.text or "Tank empty" in parts
