"""Labels over several rows are in each of their rows, and blank cells stay blank."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.platypus import SimpleDocTemplate, Table, TableStyle

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


def draw(path: Path, rows: list[list[str]], *styles: tuple[object, ...]) -> Path:
    table = Table(rows, style=TableStyle(list(styles)))
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


@pytest.mark.parametrize("rows", [BLANK, SUMS])
@pytest.mark.parametrize("styles", [(), (GRID,), (("LINEABOVE", (1, 3), (-1, 3), 0.7, "black"),)])
def test_blank_cells_stay_blank(tmp_path: Path, rows: list[list[str]], styles: tuple[tuple[object, ...], ...]) -> None:
    assert find(tmp_path, rows, *styles) == rows
