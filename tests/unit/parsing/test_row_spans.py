"""Labels over several rows are in each of their rows, and blank cells stay blank."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.platypus import SimpleDocTemplate, Table, TableStyle

from rag_core.parsing.tables.continuation import continue_tables
from tests.support.drawn_pdfs import read

HEAD = ["Depot", "Vehicle", "Trips", "Driver"]
GRID = ("GRID", (0, 0), (-1, -1), 0.5, "black")
VEHICLES = ["Van", "Lorry", "Coach", "Tram", "Cart"]
DEPOTS = ["Brandt", "Kolding", "Ormsby", "Tarn", "Vester", "Wick", "Yarm", "Zell", "Aske", "Bode", "Carn", "Dorn"]
BLANK = [line.split("|") for line in ("Code|Article|Price", "A7|Chisel|14", "|Mallet|22", "B2|Gouge|17", "|Awl|6")]
SUMS = [line.split("|") for line in ("|2022|2023", "Fares|48|51", "Fuel|17|18", "|65|69", "Tax|6|7", "|71|76")]


def build(sizes: tuple[int, ...]) -> tuple[list[list[str]], list[list[str]], list[tuple[object, ...]]]:
    """Return the rows to draw, the rows to find, and the styles of the cells over several rows."""
    drawn, wanted, spans = [HEAD], [HEAD], []
    for depot, size in zip(DEPOTS, sizes, strict=False):
        spans.append(("SPAN", (0, len(drawn)), (0, len(drawn) + size - 1)))
        for number in range(size):
            rest = [VEHICLES[number], str(10 + len(drawn)), f"Ed {len(drawn)}"]
            drawn.append(["" if number else depot, *rest])
            wanted.append([depot, *rest])
    return drawn, wanted, spans


def draw(path: Path, rows: list[list[str]], *styles: tuple[object, ...], **options: object) -> Path:
    table = Table(rows, style=TableStyle(list(styles)), **options)
    SimpleDocTemplate(str(path / "table.pdf"), pagesize=A4).build([table])
    return path / "table.pdf"


def find(path: Path, rows: list[list[str]], *styles: tuple[object, ...]) -> list[list[str]]:
    (table,) = read(draw(path, rows, *styles)).page.tables
    return table.to_grid()


@pytest.mark.parametrize("place", ["TOP", "MIDDLE", "BOTTOM"])
@pytest.mark.parametrize("sizes", [(3, 3, 3), (2, 4, 2), (1, 4, 3)])
def test_label_in_a_ruled_cell_is_in_each_row(tmp_path: Path, place: str, sizes: tuple[int, ...]) -> None:
    drawn, wanted, spans = build(sizes)
    assert find(tmp_path, drawn, GRID, ("VALIGN", (0, 0), (-1, -1), place), *spans) == wanted


@pytest.mark.parametrize("place", ["TOP", "MIDDLE", "BOTTOM"])
@pytest.mark.parametrize("ruled", [True, False])
def test_label_of_a_group_is_in_each_row(tmp_path: Path, place: str, ruled: bool) -> None:
    drawn, wanted, spans = build((3, 2, 3))
    rules = [("LINEABOVE", start, (-1, start[1]), 0.7, "black") for _, start, _ in spans] if ruled else []
    assert find(tmp_path, drawn, ("VALIGN", (0, 0), (-1, -1), place), *rules, *spans) == wanted


def test_labels_of_two_columns_are_in_each_row(tmp_path: Path) -> None:
    towns = ["County|Town|Year|Births", "Ford|Aston|2021|41", "||2022|43", "|Beech|2021|51", "||2022|52"]
    towns += ["Gale|Corve|2021|61", "||2022|67"]
    found = find(tmp_path, [line.split("|") for line in towns])
    labels = [("Ford", "Aston"), ("Ford", "Beech"), ("Gale", "Corve")]
    assert [tuple(row[:2]) for row in found[1:]] == [label for label in labels for _ in range(2)]


@pytest.mark.parametrize("rows", [BLANK, SUMS])
@pytest.mark.parametrize("styles", [(), (GRID,), (("LINEABOVE", (1, 3), (-1, 3), 0.7, "black"),)])
def test_blank_cells_stay_blank(tmp_path: Path, rows: list[list[str]], styles: tuple[tuple[object, ...], ...]) -> None:
    assert find(tmp_path, rows, *styles) == rows


def test_label_is_not_carried_to_the_total_of_its_rows(tmp_path: Path) -> None:
    rows = [["Depot", "Vehicle", "Trips"], ["Brandt", "Van", "11"], ["", "Lorry", "14"], ["", "Total", "25"]]
    rows += [["Kolding", "Van", "17"], ["", "Lorry", "20"], ["", "Total", "37"]]
    assert [row[0] for row in find(tmp_path, rows)[1:]] == ["Brandt", "Brandt", "", "Kolding", "Kolding", ""]


def test_label_is_carried_over_a_page_end(tmp_path: Path) -> None:
    drawn, wanted, spans = build((5,) * 12)
    edges = [("LINEABOVE", (0, row), (0, row), 0.5, "black") for _, (_, row), _ in spans]
    rules = [("BOX", (0, 0), (0, -1), 0.5, "black"), ("GRID", (1, 0), (-1, -1), 0.5, "black"), *edges]
    path = draw(tmp_path, drawn, *rules, repeatRows=1)
    first, second = read(path).page, read(path, 1).page
    (continued,) = continue_tables(first, second)
    assert [*first.tables[0].to_grid(), *continued.to_grid()[1:]] == wanted
