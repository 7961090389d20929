"""Draw tables in many layouts, with their true cells, for `benchmarks.tables`.

A drawn document is a PDF of one or two pages. Its true cells are ``(row label, column header, text)``; the levels of a
header are joined with blanks. Documents without a table have no true cells.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

STYLES = getSampleStyleSheet()
NAMES = "Aldermoor Brackwell Corrin Dunholt Eskdale Farrow Glenmuir Hexley Inverlay Jarrow Keld Lomond".split()
GOODS = [
    "Hex bolts",
    "Gate valves",
    "Ball bearings",
    "Shaft seals",
    "Pipe clamps",
    "Thrust rings",
    "Couplings",
    "Pumps",
]
MEASURES = ["Revenue", "Costs", "Staff", "Orders", "Margin", "Stock"]
ITEMS = [
    "Net sales", "Cost of sales", "Gross profit", "Research and development", "Selling expenses", "Interest expense",
    "Income before taxes", "Income taxes", "Net income", "Dividends paid", "Depreciation", "Other income, net",
]  # fmt: skip
LONG = [
    "Net income attributable to the shareholders of the parent company and its subsidiaries",
    "Purchases of property, plant and equipment, and of other intangible assets in the year",
    "Proceeds from the sale of businesses and investments after the tax that was paid on them",
    "Effect of changes in exchange rates on cash and on cash equivalents of foreign operations",
]
SENTENCES = [
    "The company sells tools to people who repair bridges and has done so for many years.",
    "Its founder, a retired engineer, came back from the coast with a plan for a wrench that would not rust.",
    "Orders grew in 2021 by 12 percent, although the works in Corrin were closed for three weeks.",
    "The board expects that costs will fall once the new line is running at full capacity.",
    "Most of the staff moved to the second site, where the halls are larger and the rent is lower.",
]
Cell = tuple[str, str, str]


@dataclass
class Drawn:
    """A drawn document: the kind of its layout, and its true cells."""

    kind: str
    cells: list[Cell] = field(default_factory=list)


def _amount(rng: random.Random, *, negative: bool = False) -> str:
    text = f"{rng.randint(120, 98000):,}"
    return f"({text})" if negative and rng.random() < 0.25 else text


def _grid(
    rng: random.Random, rows: list[str], columns: list[str], **options: bool
) -> tuple[list[list[str]], list[Cell]]:
    body = [[label, *(_amount(rng, **options) for _ in columns)] for label in rows]
    return body, [(row[0], header, text) for row in body for header, text in zip(columns, row[1:], strict=True) if text]


def _build(path: Path, flow: list[Any]) -> None:
    SimpleDocTemplate(str(path), pagesize=A4, invariant=1, topMargin=50, bottomMargin=50).build(flow)


def _paragraph(text: str, size: int = 9) -> Paragraph:
    return Paragraph(text, ParagraphStyle("cell", fontSize=size, leading=size * 1.2))


def _prose(rng: random.Random, count: int = 6) -> str:
    return " ".join(rng.choice(SENTENCES) for _ in range(count))


def _platypus(
    rng: random.Random, path: Path, head: list[list[str]], body: list[list[Any]], *styles: Any, **options: Any
) -> None:
    size = rng.choice([8, 9, 10])
    table = Table([*head, *body], **options)
    table.setStyle(TableStyle([("FONTSIZE", (0, 0), (-1, -1), size), ("ALIGN", (1, 0), (-1, -1), "RIGHT"), *styles]))
    _build(
        path,
        [_paragraph(_prose(rng)), Spacer(1, 14), _paragraph("Amounts in thousands of dollars"), Spacer(1, 6), table],
    )


GRID = ("GRID", (0, 0), (-1, -1), 0.4, colors.grey)


def draw_ruled(rng: random.Random, path: Path) -> list[Cell]:
    columns = rng.sample(MEASURES, rng.randint(2, 5))
    body, cells = _grid(rng, rng.sample(NAMES, rng.randint(3, 8)), columns)
    _platypus(rng, path, [["Site", *columns]], body, GRID)
    return cells


def draw_unruled(rng: random.Random, path: Path) -> list[Cell]:
    columns = [str(2023 - place) for place in range(rng.randint(2, 4))]
    body, cells = _grid(rng, rng.sample(ITEMS, rng.randint(3, 8)), columns, negative=True)
    _platypus(rng, path, [["", *columns]], body, ("LINEBELOW", (0, 0), (-1, 0), 0.6, colors.black))
    return cells


def _draw_spanning(rng: random.Random, path: Path, align: str) -> list[Cell]:
    lower = rng.sample(MEASURES, rng.randint(2, 3))
    upper = ["2022", "2023"] if rng.random() < 0.5 else ["Year ended June 30,", "Quarter ended June 30,"]
    columns = [f"{first} {second}" for first in upper for second in lower]
    body, cells = _grid(rng, rng.sample(NAMES, 5), columns)
    width = len(lower)
    head = [["", upper[0], *[""] * (width - 1), upper[1], *[""] * (width - 1)], ["Region", *lower, *lower]]
    spans = [("SPAN", (1, 0), (width, 0)), ("SPAN", (width + 1, 0), (-1, 0)), ("ALIGN", (1, 0), (-1, 0), align)]
    _platypus(rng, path, head, body, *spans, ("LINEBELOW", (0, 1), (-1, 1), 0.6, colors.black))
    return cells


def draw_spanning_centred(rng: random.Random, path: Path) -> list[Cell]:
    return _draw_spanning(rng, path, "CENTER")


def draw_spanning_right(rng: random.Random, path: Path) -> list[Cell]:
    return _draw_spanning(rng, path, "RIGHT")


def draw_wrapped_labels(rng: random.Random, path: Path) -> list[Cell]:
    labels = [*rng.sample(LONG, 3), *rng.sample(ITEMS, 3)]
    rng.shuffle(labels)
    columns = ["2023", "2022", "2021"]
    body, cells = _grid(rng, labels, columns)
    rows: list[list[Any]] = [[_paragraph(row[0]), *row[1:]] for row in body]
    styles: list[Any] = [("VALIGN", (0, 0), (-1, -1), rng.choice(["TOP", "MIDDLE", "BOTTOM"]))]
    styles += [GRID] if rng.random() < 0.5 else []
    _platypus(rng, path, [["", *columns]], rows, *styles, colWidths=[190, 70, 70, 70])
    return cells


def draw_wrapped_headers(rng: random.Random, path: Path) -> list[Cell]:
    columns = rng.sample(
        ["Book value in pounds", "Cost of purchase", "Expected life in years", "Insured sum (EUR)", "Rent per month"], 4
    )
    body, cells = _grid(rng, rng.sample(NAMES, 5), columns)
    head = [["Asset", *(_paragraph(column, 8) for column in columns)]]
    _platypus(
        rng, path, head, body, ("VALIGN", (0, 0), (-1, -1), rng.choice(["TOP", "BOTTOM"])), colWidths=[90, *[62] * 4]
    )
    return cells


def draw_empty_cells(rng: random.Random, path: Path) -> list[Cell]:
    columns = rng.sample(MEASURES, 5)
    body, _ = _grid(rng, rng.sample(NAMES, 8), columns)
    for row in body:
        for place in rng.sample(range(1, 6), 2):
            row[place] = rng.choice(["", "", "–"])
    _platypus(rng, path, [["Site", *columns]], body)
    return [(row[0], head, text) for row in body for head, text in zip(columns, row[1:], strict=True) if text]


def draw_mixed_columns(rng: random.Random, path: Path) -> list[Cell]:
    columns = ["Description", "Site", "Bought", "Cost", "Life", "State"]
    codes = rng.sample(range(1000, 9999), 9)
    body = [
        [
            f"KX-{code}", rng.choice(GOODS), rng.choice(NAMES), str(rng.randint(2009, 2023)), _amount(rng),
            f"{rng.randint(3, 20)} years", rng.choice(["good", "fair", "poor"]),
        ]
        for code in codes
    ]  # fmt: skip
    style = [GRID] if rng.random() < 0.5 else []
    _platypus(rng, path, [["Part no.", *columns]], body, ("ALIGN", (0, 0), (-1, -1), "LEFT"), *style)
    return [(row[0], head, text) for row in body for head, text in zip(columns, row[1:], strict=True)]


def draw_percentages(rng: random.Random, path: Path) -> list[Cell]:
    columns = ["Weight", "Share", "Change"]
    body = [
        [
            name,
            f"{rng.randint(2, 90)} kg",
            f"{rng.randint(1, 999) / 10} %",
            f"{rng.choice('+-')}{rng.randint(1, 99) / 10}%",
        ]
        for name in rng.sample(GOODS, 6)
    ]
    _platypus(rng, path, [["Goods", *columns]], body)
    return [(row[0], head, text) for row in body for head, text in zip(columns, row[1:], strict=True)]


def draw_text_table(rng: random.Random, path: Path) -> list[Cell]:
    columns = ["Risk", "Owner", "Response"]
    risks = rng.sample(
        [
            "Supplier fails to deliver",
            "Key staff leave the company",
            "Fire in the main hall",
            "Data are lost",
            "Price rises",
        ],
        4,
    )
    responses = rng.sample([sentence.rstrip(".") for sentence in SENTENCES], 4)
    body = [
        [str(10 + place), risk, rng.choice(NAMES), answer]
        for place, (risk, answer) in enumerate(zip(risks, responses, strict=True))
    ]
    rows: list[list[Any]] = [[row[0], _paragraph(row[1]), row[2], _paragraph(row[3])] for row in body]
    styles = [
        ("ALIGN", (0, 0), (-1, -1), "LEFT"),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"),
    ]
    _platypus(
        rng,
        path,
        [["Ref.", *columns]],
        rows,
        *styles,
        *([GRID] if rng.random() < 0.5 else []),
        colWidths=[40, 110, 80, 190],
    )
    return [(row[0], head, text) for row in body for head, text in zip(columns, row[1:], strict=True)]


def draw_short_texts(rng: random.Random, path: Path) -> list[Cell]:
    columns = ["Owner", "Status", "Next step"]
    body = [
        [
            task,
            rng.choice(NAMES),
            rng.choice(["done", "open", "in progress"]),
            rng.choice(["none", "ask legal", "order parts"]),
        ]
        for task in rng.sample(GOODS, 6)
    ]
    _platypus(
        rng,
        path,
        [["Task", *columns]],
        body,
        ("ALIGN", (0, 0), (-1, -1), "LEFT"),
        *([GRID] if rng.random() < 0.5 else []),
    )
    return [(row[0], head, text) for row in body for head, text in zip(columns, row[1:], strict=True)]


def draw_continued(rng: random.Random, path: Path, repeat: int) -> list[Cell]:
    columns = [f"Rain {year} (mm)" for year in (2022, 2023, 2024)]
    firsts, seconds = "Kor Bel Tam Ost Var Lun Hed Mir".split(), "vath mere sund wick holm feld".split()
    names = [f"{first}{second}" for first in firsts for second in seconds]
    body, cells = _grid(rng, names, columns)
    table = Table([["Station", *columns], *body], repeatRows=repeat)
    table.setStyle(
        TableStyle(
            [GRID, ("ALIGN", (1, 0), (-1, -1), "RIGHT")]
            if rng.random() < 0.5
            else [("ALIGN", (1, 0), (-1, -1), "RIGHT")]
        )
    )
    _build(path, [Paragraph("Rain by station and year", STYLES["Title"]), table])
    return cells


def draw_continued_with_headers(rng: random.Random, path: Path) -> list[Cell]:
    return draw_continued(rng, path, 1)


def draw_continued_without_headers(rng: random.Random, path: Path) -> list[Cell]:
    return draw_continued(rng, path, 0)


def _lines(canvas: Canvas, texts: list[str], x: float, y: float, size: float = 9) -> float:
    canvas.setFont("Helvetica", size)
    for text in texts:
        canvas.drawString(x, y, text)
        y -= 1.3 * size
    return y


def _wrap(text: str, width: float, size: float = 9) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if stringWidth(longer, "Helvetica", size) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def draw_statement(rng: random.Random, path: Path) -> list[Cell]:
    """Draw a statement with sections, indented labels, separate currency signs and brackets, and dashes."""
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    y = _lines(canvas, _wrap(_prose(rng), 480), 50, 780) - 20
    size, ends = 9.0, (400, 480, 560)
    canvas.setFont("Helvetica-Bold", size)
    canvas.drawCentredString(305, y, "Consolidated statements")
    canvas.drawCentredString(450, y - 15, "Years ended December 31,")
    y -= 28
    canvas.drawString(50, y, "(in millions)")
    for end, year in zip(ends, ("2023", "2022", "2021"), strict=True):
        canvas.drawRightString(end, y, year)
    cells, labels = [], rng.sample(ITEMS, 9)
    canvas.setFont("Helvetica", size)
    for section in ("Operations:", "Financing:", "Other items:"):
        y -= 13
        canvas.drawString(50, y, section)
        for row in range(3):
            y -= 13
            label = labels.pop()
            if row == 1 and rng.random() < 0.7:
                label = rng.choice(LONG)
                first, *rest = _wrap(label, 240)
                canvas.drawString(62, y, first)
                for line in rest:
                    y -= 11
                    canvas.drawString(70, y, line)
            else:
                canvas.drawString(62, y, label)
            for end, year in zip(ends, ("2023", "2022", "2021"), strict=True):
                text = rng.choice(["—", *[_amount(rng, negative=True)] * 6])
                if row == 0:
                    canvas.drawString(end - 50, y, "$")
                canvas.drawRightString(end, y, text.rstrip(")"))
                if text.endswith(")"):
                    canvas.drawString(end + 0.5, y, ")")
                cells.append((label, f"Years ended December 31, {year}", ("$" if row == 0 else "") + text))
    _lines(canvas, _wrap(_prose(rng), 480), 50, y - 30)
    canvas.save()
    return cells


def draw_footnotes(rng: random.Random, path: Path) -> list[Cell]:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    _lines(canvas, _wrap(_prose(rng), 480), 50, 780)
    ends, columns = (330, 420, 510), ("Tonnes", "Price", "Index")
    y, cells = 640.0, []
    for end, column in zip(ends, columns, strict=True):
        canvas.drawRightString(end, y, column)
    for number, label in enumerate(rng.sample(GOODS, 5)):
        y -= 14
        shown = f"{label} ({number + 1})" if number % 2 else label
        canvas.setFont("Helvetica", 9)
        canvas.drawString(60, y, shown)
        for place, (end, column) in enumerate(zip(ends, columns, strict=True)):
            text = _amount(rng)
            canvas.setFont("Helvetica", 9)
            canvas.drawRightString(end, y, text)
            mark = place == 1 and number == 2
            if mark:
                canvas.setFont("Helvetica", 6)
                canvas.drawString(end + 0.5, y + 3, "2")
            cells.append((shown, column, text + ("²" if mark else "")))
    _lines(
        canvas,
        ["(2) Sold to the works in Corrin only.", "² Estimated from the prices of the year before."],
        60,
        y - 20,
        8,
    )
    canvas.save()
    return cells


def draw_side_by_side(rng: random.Random, path: Path) -> list[Cell]:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    _lines(canvas, _wrap(_prose(rng), 480), 50, 780)
    cells: list[Cell] = []
    shift = rng.choice([0, 0, 6])
    for left, names, columns in ((50, NAMES[:6], ("2022", "2023")), (320, GOODS[:6], ("Sold", "Left"))):
        y = 640.0 - (shift if left > 50 else 0)
        canvas.setFont("Helvetica-Bold", 9)
        for place, column in enumerate(columns):
            canvas.drawRightString(left + 130 + 60 * place, y, column)
        canvas.setFont("Helvetica", 9)
        for name in names:
            y -= 14
            canvas.drawString(left, y, name)
            for place, column in enumerate(columns):
                text = _amount(rng)
                canvas.drawRightString(left + 130 + 60 * place, y, text)
                cells.append((name, column, text))
    canvas.save()
    return cells


def draw_label_value_list(rng: random.Random, path: Path) -> list[Cell]:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setFont("Helvetica-Bold", 14)
    canvas.drawString(60, 790, "Application for membership")
    pairs = [
        ("Surname", rng.choice(NAMES)), ("First name", rng.choice(["Maren", "Jo", "Ida"])),
        ("Date of birth", "17.09.1988"), ("Account number", "XX12 3456 7890"),
        ("Yearly fee in euros", str(rng.randint(40, 99))),
        ("Town", rng.choice(NAMES)), ("Boat class", "coxed four"), ("Key wanted", "yes"),
    ]  # fmt: skip
    pairs, y = rng.sample(pairs, 6), 750
    for label, value in pairs:
        _lines(canvas, [label], 60, y, 10)
        _lines(canvas, [value], rng.choice([220]), y, 10)
        y -= rng.choice([16, 16, 26])
    _lines(canvas, _wrap(_prose(rng), 440), 60, y - 40)
    canvas.save()
    return [(label, "", value) for label, value in pairs]


def draw_in_column(rng: random.Random, path: Path) -> list[Cell]:
    """Draw a table within one of two columns of prose."""
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    y = _lines(canvas, _wrap(_prose(rng, 14), 235), 50, 790)
    columns, cells = rng.sample(MEASURES, 2), []
    y -= 14
    for place, column in enumerate(columns):
        canvas.drawRightString(200 + 70 * place, y, column)
    for name in rng.sample(NAMES, 5):
        y -= 13
        canvas.drawString(50, y, name)
        for place, column in enumerate(columns):
            text = _amount(rng)
            canvas.drawRightString(200 + 70 * place, y, text)
            cells.append((name, column, text))
    _lines(canvas, _wrap(_prose(rng, 9), 235), 50, y - 25)
    _lines(canvas, _wrap(_prose(rng, 26), 235), 310, 790)
    canvas.save()
    return cells


def draw_prose(rng: random.Random, path: Path) -> list[Cell]:
    style = ParagraphStyle("body", alignment=rng.choice([0, 4]), fontSize=10, leading=13)
    _build(path, [part for _ in range(5) for part in (Paragraph(_prose(rng, 8), style), Spacer(1, 10))])
    return []


def draw_two_columns(rng: random.Random, path: Path) -> list[Cell]:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    for left in (50, 310):
        _lines(canvas, _wrap(_prose(rng, rng.randint(20, 40)), 235), left, 790)
    canvas.save()
    return []


def draw_contents(rng: random.Random, path: Path) -> list[Cell]:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    page = 1
    for number, title in enumerate(rng.sample(LONG + ITEMS + GOODS, 14)):
        y = 760 - 16 * number
        page += rng.randint(0, 6)
        _lines(canvas, [title[:60] + (" " + "." * 40 if rng.random() < 0.5 else "")], 60, y)
        canvas.drawRightString(540, y, str(page))
    canvas.save()
    return []


def draw_lists(rng: random.Random, path: Path) -> list[Cell]:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    y = 780.0
    for number in range(12):
        _lines(canvas, [rng.choice(["•", f"{number + 1}.", f"({chr(97 + number)})"])], 60, y)
        y = _lines(canvas, _wrap(rng.choice(SENTENCES) + " " + rng.choice(SENTENCES), 400), 85, y) - 4
    canvas.save()
    return []


LAYOUTS: dict[str, Callable[[random.Random, Path], list[Cell]]] = {
    name.removeprefix("draw_").replace("_", " "): function
    for name, function in list(globals().items())
    if name.startswith("draw_") and name != "draw_continued"
}
