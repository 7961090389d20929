"""Create training examples for the answerability model from invented tables.

The tables are registers and lists, statements with columns of years, and rates. A positive text is a row as in
``rag_core.reading.excerpts.build_row_excerpt``. Negative texts are other rows, the row without the column that is asked
for, and the row under a title with another year. Labels that are codes often differ in one character only.
"""

from __future__ import annotations

import random
import re
import string
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.answerability_examples import Example

SOURCE = "invented tables"
# Words and questions by name.
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


_TITLE_YEAR = re.compile(r" (20\d\d)$")


def _split(text: str) -> list[str]:
    return text.split("|")


@dataclass(frozen=True, slots=True)
class InventedTable:
    """A table, and a question about a value of its first row.

    ``rows`` are pairs of a label and values, ``headers`` are those of the values, and ``column`` is the index of the
    value that is asked for.
    """

    title: str
    unit: str
    headers: list[str]
    rows: list[tuple[str, list[str]]]
    column: int
    question: str


def examples(held_out: bool, draw: random.Random) -> Iterator[Example]:
    """Yield examples without end."""
    while True:
        make = draw.choice((_make_register, _make_register, _make_statement, _make_rates, _make_rates))
        table = make(draw)
        if sum(label == table.rows[0][0] for label, _ in table.rows) == 1:
            yield from _of(table, held_out, draw)


def build_row_text(
    lines: Sequence[str], label: str, cells: Sequence[tuple[str, str]], asked: int = -1
) -> tuple[str, int, int]:
    """Return the text of a row, and the start and end of the value of the cell ``asked``; -1 if ``asked`` is -1.

    ``lines`` are the lines above the row, of which empty ones are left out, and ``cells`` are headers and values.
    """
    text = "".join(f"{line}\n" for line in lines if line) + label
    start = end = -1
    for at, (header, value) in enumerate(cells):
        text += " | " + (f"{header}: " if header else "")
        if at == asked:
            start, end = len(text), len(text) + len(value)
        text += value
    return text, start, end


def _of(table: InventedTable, held_out: bool, draw: random.Random) -> Iterator[Example]:
    shown = table.title if draw.random() < 0.75 else ""
    question = table.question
    if table.title and not table.title.isupper() and draw.random() < 0.7:
        question = _name_table(question, table.title, draw)
    if draw.random() < 0.15:
        question = question[0].lower() + question[1:]
    label, values = table.rows[0]
    cells = list(zip(table.headers, values, strict=True))
    answering = build_row_text([shown, table.unit], label, cells, table.column)
    yield Example(question, *answering, "answers", held_out, SOURCE, True)

    def build_negative(kind: str, title: str, label: str, cells: Sequence[tuple[str, str]]) -> Example:
        return Example(question, *build_row_text([title, table.unit], label, cells), kind, held_out, SOURCE, False)

    for other, others in draw.sample(table.rows[1:], draw.choice((1, 1, 2))):
        yield build_negative("other row", shown, other, list(zip(table.headers, others, strict=True)))
    if len(cells) > 2 and draw.random() < 0.3:
        rest = [cell for at, cell in enumerate(cells) if at != table.column]
        yield build_negative("column left out", shown, label, rest)
    year = _TITLE_YEAR.search(shown)
    if year and table.title in question and draw.random() < 0.6:
        other_title = f"{shown[: year.start()]} {int(year[1]) + draw.choice((-2, -1, 1, 2))}"
        yield build_negative("other title", other_title, label, cells)


def _name_table(question: str, title: str, draw: random.Random) -> str:
    kind, name = draw.random(), title.removeprefix("The ")
    if kind < 0.4:
        return question
    if kind < 0.55:
        return f"{question} ({name.lower()})"
    if kind < 0.7:
        return f"{question.rstrip('?')} according to the {name}?"
    if kind < 0.85:
        return f"In the {name}, {question[0].lower()}{question[1:]}"
    return f"{question.rstrip('?')} in the {name}?"


def _make_title(draw: random.Random) -> str:
    first = draw.choice(("", "", "The ", "Annual ", "Internal "))
    year = draw.choice(("", " 2021", " 2022", " 2023", " 2024", " 2025"))
    return f"{first}{draw.choice(_WORDS['topics'])} {draw.choice(_WORDS['forms'])}{year}"


def _make_register(draw: random.Random) -> InventedTable:
    headers = draw.sample(list(_WORDS["questions"]), draw.randrange(2, 8))
    count, is_coded = draw.randrange(4, 9), draw.random() < 0.6
    labels = [_make_code(draw) if is_coded else _make_thing(draw) for _ in range(count)]
    if is_coded and draw.random() < 0.6:
        labels[1] = _change_character(labels[0], draw)
    rows = [(label, [_VALUES[header](draw) for header in headers]) for label in labels]
    shift = 0
    if is_coded and draw.random() < 0.5:
        shift = 1
        rows = [(label, [draw.choice(_WORDS["things"]), *values]) for label, values in rows]
    at = draw.randrange(len(headers))
    name = labels[0]
    if is_coded and draw.random() < 0.6:
        name = f"{draw.choice(_WORDS['nouns'])} {name}"
    elif not is_coded and draw.random() < 0.7:
        name = f"the {name}"
    question = draw.choice(_WORDS["questions"][headers[at]]).format(x=name)
    return InventedTable(_make_title(draw), "", ["Description"] * shift + headers, rows, at + shift, question)


def _make_statement(draw: random.Random) -> InventedTable:
    years = sorted(draw.sample(range(2012, 2026), draw.choice((2, 3))), reverse=draw.random() < 0.7)
    day = draw.choice(("June 30", "September 30", "December 31"))
    form = draw.choice(("{0}", "Year ended December 31 › {0}", "FY{1:02}", "Fiscal {0}", day + ", {0}"))
    headers = [form.format(year, year % 100) for year in years]
    rows = [
        (label, [_make_amount(draw) for _ in years]) for label in draw.sample(_WORDS["lines"], draw.randrange(4, 8))
    ]
    column, name = draw.randrange(len(years)), rows[0][0]
    if draw.random() < 0.8:
        name = name[0].lower() + name[1:]
    question = draw.choice(_WORDS["period_questions"]).format(x=name, y=years[column])
    return InventedTable(
        draw.choice(_WORDS["statements"]), draw.choice(_WORDS["statement_units"]), headers, rows, column, question
    )


def _make_rates(draw: random.Random) -> InventedTable:
    labels, headers, patterns = draw.choice((_zones, _plans, _regions, _places, _quarters))(draw)
    rows = [(label, [_make_rate(header, draw) for header in headers]) for label in labels]
    column = draw.randrange(len(headers))
    header = headers[column]
    if patterns:
        question = draw.choice(patterns).format(x=labels[0], h=header, lower=header.lower())
    else:
        year, measure = header.split(" › ")
        choices = _WORDS["region_questions"].get(measure, _WORDS["region_others"])
        question = draw.choice(choices).format(x=labels[0], y=year, m=measure.lower())
    unit = draw.choice(("", "Prices in euros", "(in thousands of dollars)", "All amounts in GBP"))
    question = question[0].upper() + question[1:]
    return InventedTable(_make_title(draw), unit, headers, rows, column, question)


# Labels, headers, and patterns of questions; without patterns, the headers are pairs of a year and a measure.
Axes = tuple[list[str], list[str], list[str]]


def _zones(draw: random.Random) -> Axes:
    unit, noun = draw.choice(("kg", "km", "m²", "persons")), draw.choice(("Zone", "Band", "Class", "Level", "Area"))
    limits = draw.sample((1, 2, 3, 5, 8, 10, 15, 20, 25, 30, 50, 100), 5)
    what = draw.choice(("a parcel ", "a trip ", ""))
    patterns = _split(
        "what does {x} to {lower} cost?|how much is {x} in {lower}?|what is the rate for {x}, {lower}?|"
        "what does {x} cost for {lower}?"
    )
    headers = [f"{noun} {number}" for number in range(1, draw.randrange(4, 8))]
    return (
        [f"up to {limit} {unit}" for limit in limits],
        headers,
        [one.replace("{x}", what + "{x}") for one in patterns],
    )


def _plans(draw: random.Random) -> Axes:
    headers = draw.sample(_split("Monthly fee|Users|Storage|Support|Trial|Setup fee|Calls included"), 4)
    patterns = _split("what is the {lower} of the {x} plan?|which {lower} does {x} have?|what {lower} comes with {x}?")
    return draw.sample(_WORDS["plans"], 5), headers, patterns


def _regions(draw: random.Random) -> Axes:
    measures = ("Revenue", "Costs", "Staff", "Units", "Profit")
    headers = [f"{year} › {one}" for year in draw.sample(range(2017, 2026), 2) for one in draw.sample(measures, 2)]
    return draw.sample(_WORDS["regions"], 6), headers, []


def _places(draw: random.Random) -> Axes:
    patterns = _split(
        "what was the figure for {h} in {x}?|what does the table give for {x} and {h}?|how much was it in {h} in {x}?|"
        "what was the rainfall in {h} in {x}?"
    )
    return draw.sample(_WORDS["months"], 6), draw.sample(_WORDS["sites"], 4), patterns


def _quarters(draw: random.Random) -> Axes:
    patterns = _split("what were {x} sales in {h}?|how much {x} was sold in {h}?|what did {x} bring in {h}?")
    return draw.sample(_WORDS["products"], 6), ["Q1", "Q2", "Q3", "Q4"], patterns


def _make_rate(header: str, draw: random.Random) -> str:
    match header:
        case "Storage":
            return f"{draw.choice((5, 10, 50, 100, 500))} GB"
        case "Support":
            return draw.choice(("e-mail", "phone", "24 h", "none"))
        case "Users":
            return str(draw.randrange(1, 200))
        case "Trial":
            return f"{draw.choice((7, 14, 30))} days"
        case _:
            return _decimal(draw, 1, 90) if draw.random() < 0.5 else _integer(draw, 10, 9000)


def _make_amount(draw: random.Random) -> str:
    number = _integer(draw, 100, 99999)
    return draw.choice((number, f"${number}", f"({_integer(draw, 10, 9999)})", _decimal(draw, 0, 9)))


def _make_thing(draw: random.Random) -> str:
    thing: str = draw.choice(_WORDS["things"])
    return thing + draw.choice(("", f" {draw.randrange(1, 20)}", f" type {draw.choice('ABC')}"))


def _make_code(draw: random.Random) -> str:
    """Return a code such as ``AB-1234``: in the pattern, A is any letter, and 0 is any digit."""
    pattern = draw.choice(("AA-0000", "A00000", "000-000", "AAA000", "AAA000/0", "AAA000-A", "00000", "AA00.000"))
    kinds = {"A": string.ascii_uppercase, "0": string.digits}
    return "".join(draw.choice(kinds.get(one, one)) for one in pattern)


def _change_character(code: str, draw: random.Random) -> str:
    at = draw.choice([at for at, one in enumerate(code) if one.isalnum()])
    others = (string.digits if code[at].isdigit() else string.ascii_uppercase).replace(code[at], "")
    return code[:at] + draw.choice(others) + code[at + 1 :]


def _integer(draw: random.Random, least: int, limit: int) -> str:
    return f"{draw.randrange(least, limit):,}"


def _decimal(draw: random.Random, least: int, limit: int) -> str:
    return f"{draw.uniform(least, limit):,.2f}"


def _date(draw: random.Random) -> str:
    day, month, year = draw.randrange(1, 29), draw.randrange(12), draw.randrange(2015, 2027)
    name = _WORDS["months"][month]
    return draw.choice((f"{day} {name} {year}", f"{year}-{month + 1:02}-{day:02}", f"{name[:3]} {day}"))


def _any_of(*values: str) -> Callable[[random.Random], str]:
    return lambda draw: draw.choice(values)


_VALUES: dict[str, Callable[[random.Random], str]] = {
    "Price (EUR)": lambda draw: _decimal(draw, 1, 400),
    "Unit price (USD)": lambda draw: _decimal(draw, 1, 900),
    "Cost (GBP)": lambda draw: _integer(draw, 100, 99999),
    "Book value (CHF)": lambda draw: _integer(draw, 100, 99999),
    "Site": _any_of(*_WORDS["sites"]),
    "Location": lambda draw: draw.choice(_WORDS["sites"]) + draw.choice((" hall 2", " office", "", " depot")),
    "Owner": _any_of(*_WORDS["people"]),
    "Responsible": _any_of(*_WORDS["people"]),
    "Status": _any_of("open", "closed", "done", "in progress", "overdue", "on hold", "OPEN", "DONE"),
    "Due": _date,
    "Date": _date,
    "Bought": lambda draw: str(draw.randrange(2005, 2027)),
    "Condition": _any_of("good", "fair", "poor", "new", "worn", "as new"),
    "Weight (kg)": lambda draw: _decimal(draw, 1, 90),
    "Size": lambda draw: f"{draw.randrange(5, 300)} mm",
    "Pack": _any_of("1", "5", "10", "20", "25", "50", "100", "250"),
    "Quantity": lambda draw: _integer(draw, 1, 5000),
    "Supplier": _any_of(*_WORDS["suppliers"]),
    "Warranty": lambda draw: f"{draw.randrange(1, 11)} years",
    "Life": lambda draw: f"{draw.randrange(2, 25)} years",
    "Max. voltage": _any_of("12 V", "24 V", "48 V", "230 V", "400 V"),
    "Interval": _any_of("monthly", "every 3 months", "yearly", "every 2 years", "weekly", "every 500 hours"),
    "Telephone": lambda draw: f"0{draw.randrange(20, 99)} {draw.randrange(100, 999)} {draw.randrange(1000, 9999)}",
    "Room": lambda draw: f"{draw.choice('ABCDE')}{draw.randrange(100, 499)}",
    "Score": lambda draw: str(draw.randrange(1, 100)),
    "Staff": lambda draw: _integer(draw, 5, 4000),
    "Revenue": lambda draw: _integer(draw, 50, 90000),
    "Costs": lambda draw: _integer(draw, 50, 90000),
    "Units": lambda draw: _integer(draw, 50, 90000),
    "Address": lambda draw: f"0x{draw.randrange(16**4):04X}",
    "Default": _any_of("0", "1", "5", "10", "30", "60", "100", "255", "off", "auto"),
    "Range": lambda draw: f"{draw.randrange(20)}–{draw.randrange(21, 500)}",
    "Meaning": _any_of(*_WORDS["meanings"]),
}
