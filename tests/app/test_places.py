"""The cells of sheets and the figures of captions in the source beside an answer."""

from __future__ import annotations

from rag_core.engine import Engine
from tests.integration.answering.test_figures import draw_plan
from tests.support.app import OpenPage, ask, click, shown, texts
from tests.support.documents import make_xlsx
from tests.support.drawn_pdfs import make
from tests.support.engines import add_document


def test_source_names_cells_and_shows_figures(open_page: OpenPage, engine: Engine, tmp_path) -> None:
    add_document(engine, "fleet.xlsx", make_xlsx("Boats of the harbour"))
    add_document(engine, "plan.pdf", make(tmp_path / "plan.pdf", draw_plan).read_bytes())
    app = ask(open_page(), "What is in Boats!C4?")
    assert shown(app)[0]["sources"]["1"] == "fleet.xlsx, Boats!C4"
    click(app, "Open source")
    assert "Boats!C4" in texts(app)
    [page] = shown(app, "footnote_pageview")
    assert page["alt"] == "Page 1 of fleet.xlsx"
    app = ask(open_page(), "Show figure 3")
    click(app, "Open source")
    assert [one["alt"] for one in shown(app, "footnote_pageview")] == [
        "The figure of the quoted caption",
        "Page 1 of plan.pdf",
    ]
