"""Create training examples for the answerability model from labelled sets and from invented tables.

FOLDER contains gzipped JSON lines. ``answerability_train.jsonl.gz`` and ``answerability_dev.jsonl.gz`` have pairs of a
question and a text: ``question``, ``text``, ``answers`` (whether the text answers the question), ``answer`` (empty or
absent if it is unknown), ``set`` and ``class``. ``train.jsonl.gz`` and ``dev.jsonl.gz`` have the tables of sets of
claims: ``source`` (the table), ``statement``, ``set`` and ``class``; the statements are not used. A table is its
caption, if any, and one line per row with ``|`` between the cells; an information box has a title and lines
``key: value``. The files whose names contain ``dev`` are held out. No text is in both.

The pairs are from these public sets: SelQA (emorynlp/selqa, Apache-2.0), MedQuAD (abachaa/MedQuAD, CC BY 4.0), FinQA
and ConvFinQA (czyssrs/FinQA and czyssrs/ConvFinQA, MIT), COVID-QA (deepset-ai/COVID-QA, Apache-2.0), PubMedQA
(pubmedqa/pubmedqa, MIT), FeTaQA (Yale-LILY/FeTaQA, CC BY-SA 4.0), AIT-QA (IBM/AITQA, CDLA-Sharing-1.0),
WikiTableQuestions (ppasupat/WikiTableQuestions, CC BY-SA 4.0), and, from MaorLavi/unanswerability-directions (MIT),
samples of RepLiQA (CC BY 4.0), MuSiQue (CC BY 4.0), SQuAD 2.0 (CC BY-SA 4.0) and Natural Questions (CC BY-SA 3.0). The
tables are from InfoTabS (infotabs/infotabs, Apache-2.0), TabFact (wenhuchen/Table-Fact-Checking, MIT), FinQA and SciTab
(XinyuanLu00/SciTab, MIT); of them, only those with ``class`` "ok", a permissive licence, are used.

Tables become texts as in ``rag_core.reading.excerpts.build_row_excerpt``, one row with its caption, its label and the
headers of its values, or lines without headers at the values. Negative texts are near misses: another row, the row
without the column that is asked for, the lines without the row, or a table whose title names another year.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import invented_tables
from benchmarks.answerability_examples import Example

INVENTED, INVENTED_HELD_OUT = 20_000, 900
LOOKUPS, LOOKUPS_HELD_OUT = 15_000, 900
# Share of the questions about tables and boxes that are about tables.
TABLES = 0.62
# Longer answers, in characters, are not learned as spans.
MAX_ANSWER = 160
# Sets of pairs of which single rows are examples too, and sets of tables.
ROW_SETS = frozenset({"FinQA-lookups", "AIT-QA", "WikiTableQuestions", "FeTaQA"})
TABLE_SETS = frozenset({"TabFact", "FinQA-claims", "SciTab"})
BOX_SET = "InfoTabS"
_SEPARATOR = " | "
_EMPTY_CELLS = frozenset({"", "-", "n/a", "—"})
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CELL_QUESTIONS = (
    "What is the {c} of {r}?",
    "What was the {c} of {r}?",
    "What is {r}'s {c}?",
    "{c} for {r}?",
    "What {c} does {r} have?",
    "What is the {c} for {r}?",
    "Which {c} is given for {r}?",
    "How much is the {c} of {r}?",
    "What does the table give as {c} for {r}?",
    "{r}: what is the {c}?",
)
_YEAR_QUESTIONS = (
    "What was {r} in {c}?",
    "What were {r} in {c}?",
    "How much was {r} in {c}?",
    "What is {r} for {c}?",
    "How high was {r} in {c}?",
    "{r} in {c}?",
    "What did {r} amount to in {c}?",
)
_BOX_QUESTIONS = (
    "What is the {k}?",
    "What is the {k} of {n}?",
    "Which {k} is given?",
    "What {k} does {n} have?",
    "{k} of {n}?",
    "What is {n}'s {k}?",
    "Who or what is the {k} of {n}?",
)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with one line of headers. Each row has as many cells as there are headers."""

    caption: str
    headers: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Box:
    """An information box: a title, which may be empty, and pairs of key and value."""

    title: str
    pairs: list[tuple[str, str]]


def examples(folder: Path, seed: int = 1) -> list[Example]:
    """Return the examples of the labelled sets in a folder, and of invented tables, shuffled."""
    draw = random.Random(seed)
    result: list[Example] = []
    for name, held_out, lookups, invented in (
        ("train", False, LOOKUPS, INVENTED),
        ("dev", True, LOOKUPS_HELD_OUT, INVENTED_HELD_OUT),
    ):
        for row in _read_rows(folder / f"answerability_{name}.jsonl.gz"):
            result += _pair_examples(row, held_out, draw)
        grids, boxes = _read_tables(_read_rows(folder / f"{name}.jsonl.gz"))
        result += islice(_lookup_examples(grids, boxes, held_out, draw), lookups)
        result += islice(invented_tables.examples(held_out, draw), invented)
    draw.shuffle(result)
    return result


def parse_grid(text: str) -> Grid | None:
    """Return the table of a text; ``None`` if there is none."""
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if "|" in line), len(lines))
    cells = [
        [cell.strip() for cell in line.split(_SEPARATOR if _SEPARATOR in line else "|")]
        for line in lines[first:]
        if "|" in line
    ]
    rows = [row for row in cells if len(row) == len(cells[0])]
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    return Grid(" ".join(lines[:first]).strip(), rows[0], rows[1:])


def _read_rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _read_tables(rows: Iterable[dict[str, Any]]) -> tuple[list[Grid], list[Box]]:
    grids, boxes = [], []
    sources = {row["source"]: row["set"] for row in rows if row["class"] == "ok"}
    for source, name in sources.items():
        if name in TABLE_SETS and (grid := parse_grid(source)):
            grids.append(grid)
        elif name == BOX_SET:
            lines = source.split("\n")
            pairs = [(key, value) for key, found, value in (line.partition(": ") for line in lines) if found]
            if len(pairs) > 3:
                boxes.append(Box("" if ": " in lines[0] else lines[0], pairs))
    return grids, boxes


def _pair_examples(row: dict[str, Any], held_out: bool, draw: random.Random) -> Iterator[Example]:
    """Yield the example of a labelled pair, and further examples if its text is a table that has the answer."""
    question, text, name = row["question"], row["text"], row["set"]
    answer = (row.get("answer") or "").strip() if row["answers"] else ""
    start, end = _locate(text, answer, question)
    if end - start > MAX_ANSWER:
        start = end = -1
    kind = "answers" if row["answers"] else "near miss"
    yield Example(question, text, start, end, kind, held_out, name, row["answers"])
    if answer and name in ROW_SETS and (grid := parse_grid(text)):
        yield from _grid_examples(question, answer, grid, name, held_out, draw)


def _grid_examples(
    question: str, answer: str, grid: Grid, name: str, held_out: bool, draw: random.Random
) -> Iterator[Example]:
    for row in grid.rows:
        has_answer = answer in row
        if not has_answer and draw.random() >= 0.25:
            continue
        text = _row_text(grid, row, draw)
        start, end = _locate(text, answer, question)
        if has_answer == (start >= 0):
            kind = "answers" if has_answer else "other row"
            yield Example(question, text, start, end, kind, held_out, f"{name}, rows", has_answer)
    text = "\n".join(line for line in (grid.caption, *_flat(grid.headers, *grid.rows[:12])) if line)
    start, end = _locate(text, answer, question)
    if start >= 0 and draw.random() < 0.6:
        yield Example(question, text, start, end, "answers", held_out, f"{name}, lines", True)


def _locate(text: str, answer: str, question: str) -> tuple[int, int]:
    """Return where the answer is in the text, and if it is there more than once, where most words of the question are.

    Return (-1, -1) if the answer is empty or not in the text.
    """
    lower, sought = text.lower(), answer.lower()
    places = [match.start() for match in re.finditer(re.escape(sought), lower)] if sought else []
    words = set(re.findall(r"\w{3,}", question.lower()))

    def count_shared(at: int) -> int:
        return len(words & set(re.findall(r"\w{3,}", lower[max(0, at - 120) : at + len(sought) + 80])))

    best = max(places, key=count_shared, default=None)
    return (-1, -1) if best is None else (best, best + len(sought))


def _flat(*rows: Sequence[str]) -> list[str]:
    return [" ".join(row) for row in rows]


def _row_text(grid: Grid, row: Sequence[str], draw: random.Random, without: int = 0) -> str:
    """Return the excerpt of a row, without one column if ``without`` is not 0, the column of the labels."""
    label = f"{grid.headers[0]}: {row[0]}" if grid.headers[0] and draw.random() < 0.3 else row[0]
    cells = [pair for at, pair in enumerate(zip(grid.headers, row, strict=True)) if at not in (0, without)]
    return invented_tables.build_row_text([grid.caption], label, cells)[0]


def _lookup_examples(
    grids: Sequence[Grid], boxes: Sequence[Box], held_out: bool, draw: random.Random
) -> Iterator[Example]:
    """Yield examples, without end, whose questions ask for a cell of a table or for a value of a box."""
    while True:
        if draw.random() >= TABLES:
            yield from _box_examples(draw.choice(boxes), held_out, draw)
            continue
        grid = draw.choice(grids)
        at, column = draw.randrange(len(grid.rows)), draw.randrange(1, len(grid.headers))
        if not _is_askable(grid, at, column):
            continue
        question = _ask_for_cell(grid, at, column, draw)
        make = _row_examples if draw.random() < 0.5 else _line_examples
        yield from make(question, grid, at, column, held_out, draw)


def _is_askable(grid: Grid, at: int, column: int) -> bool:
    label, header, value = grid.rows[at][0], grid.headers[column], grid.rows[at][column]
    has_texts = bool(label and header) and value not in _EMPTY_CELLS
    is_unique = sum(row[0] == label for row in grid.rows) == 1
    return len(grid.rows) > 2 and has_texts and is_unique and len(value) <= 60 and len(label) <= 80


def _ask_for_cell(grid: Grid, at: int, column: int, draw: random.Random) -> str:
    header = grid.headers[column]
    question = draw.choice(_YEAR_QUESTIONS if _YEAR.search(header) else _CELL_QUESTIONS)
    question = question.format(c=header, r=grid.rows[at][0])
    if grid.caption and draw.random() < 0.25:
        question = f"{question.rstrip('?')}{draw.choice((' in ', ', '))}{grid.caption[:60]}?"
    return question[0].upper() + question[1:] if draw.random() < 0.5 else question


def _row_examples(
    question: str, grid: Grid, at: int, column: int, held_out: bool, draw: random.Random
) -> Iterator[Example]:
    row, source = grid.rows[at], "tables, rows"
    label = f"{grid.headers[0]}: {row[0]}" if grid.headers[0] and draw.random() < 0.3 else row[0]
    captions = [grid.caption] if draw.random() < 0.8 else []
    cells = list(zip(grid.headers[1:], row[1:], strict=True))
    excerpt = invented_tables.build_row_text(captions, label, cells, column - 1)
    yield Example(question, *excerpt, "answers", held_out, source, True)
    other = draw.choice([one for number, one in enumerate(grid.rows) if number != at])
    yield Example(question, _row_text(grid, other, draw), -1, -1, "other row", held_out, source, False)
    if len(grid.headers) > 2 and draw.random() < 0.4:
        text = _row_text(grid, row, draw, column)
        yield Example(question, text, -1, -1, "column left out", held_out, source, False)


def _line_examples(
    question: str, grid: Grid, at: int, column: int, held_out: bool, draw: random.Random
) -> Iterator[Example]:
    before = _flat(*grid.rows[max(0, at - draw.randrange(5)) : at])
    after = _flat(*grid.rows[at + 1 : at + 1 + draw.randrange(5)])
    heads = [grid.caption] if grid.caption and draw.random() < 0.6 else []
    if draw.random() < 0.85:
        heads += _flat(grid.headers)
    row = grid.rows[at]
    start = sum(len(line) + 1 for line in (*heads, *before)) + sum(len(cell) + 1 for cell in row[:column])
    text = "\n".join([*heads, *before, *_flat(row), *after])
    yield Example(question, text, start, start + len(row[column]), "answers", held_out, "tables, lines", True)
    if rest := [*heads, *before, *after]:
        yield Example(question, "\n".join(rest), -1, -1, "row left out", held_out, "tables, lines", False)


def _box_examples(box: Box, held_out: bool, draw: random.Random) -> Iterator[Example]:
    at = draw.randrange(len(box.pairs))
    key, value = box.pairs[at]
    if not value or len(value) > 80 or len(key) > 40:
        return
    question = draw.choice(_BOX_QUESTIONS).format(k=key.lower(), n=box.title or "it")
    count, between = draw.randrange(2, 8), draw.choice((": ", " ", " .... ", "   "))
    first = max(0, at - draw.randrange(count))
    lines = [f"{one}{between}{other}" for one, other in box.pairs[first : first + count]]
    shown = [box.title] if box.title and draw.random() < 0.6 else []
    start = sum(len(line) + 1 for line in (*shown, *lines[: at - first])) + len(key + between)
    text = "\n".join([*shown, *lines])
    yield Example(question, text, start, start + len(value), "answers", held_out, "boxes", True)
    rest = [line for line, (one, _) in zip(lines, box.pairs[first:], strict=False) if one != key]
    if rest:
        text = "\n".join([box.title, *rest] if box.title else rest)
        yield Example(question, text, -1, -1, "line left out", held_out, "boxes", False)
