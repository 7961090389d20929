"""The Themes page."""

from __future__ import annotations

from pages.shared.text import escape_markdown
from pages.themes.graph import build_spec
from rag_core.engine import Engine
from rag_core.types.themes import EntityLink, LinkedEntity, PlacedEntity, ThemeDrawing
from tests.support.app import OpenPage, add, answer_texts, click, settle, shown, texts
from tests.support.engines import wait_until
from tests.support.pdfs import make_pdf
from tests.support.themed import LIBRARY


def add_library(engine: Engine) -> None:
    add(engine, **{name.removesuffix(".pdf"): make_pdf(*pages) for name, pages in LIBRARY.items()})


def test_empty_library_is_explained(open_page: OpenPage) -> None:
    app = open_page("themes")
    assert "The library is empty" in texts(app)


def test_themes_are_built_and_shown_with_their_sources(open_page: OpenPage, engine: Engine) -> None:
    add_library(engine)
    app = open_page("themes")
    assert "Each theme gets a summary" in texts(app)
    click(app, "Build themes")
    # The themes and the state of the run are read one after the other.
    settle(app, lambda app: bool(answer_texts(app)) and "over 2 documents" in texts(app))
    assert list(app.dataframe[0].value.columns) == ["Theme", "Documents"]
    assert "[1]" in answer_texts(app)[0]


def test_chosen_entity_is_quoted(open_page: OpenPage, engine: Engine) -> None:
    add_library(engine)
    engine.jobs.wait([engine.theme_builder.build().job_id])
    theme = engine.themes.get("Tern Island Council")
    app = open_page("themes", theme=theme.title)
    assert escape_markdown(theme.title) in texts(app)
    entities = app.selectbox[-1]
    entities.set_value("ida brandt").run()
    assert any("Ida Brandt leads the" in one for one in answer_texts(app))
    assert "Mentioned together with" in texts(app)
    assert shown(app)[0]["sources"]


def test_new_documents_are_counted_until_the_themes_contain_them(open_page: OpenPage, engine: Engine) -> None:
    add_library(engine)
    engine.jobs.wait([engine.theme_builder.build().job_id])
    engine.theme_builder.stop()
    add(engine, mora=make_pdf("The Mora Works opened in the year 1931 on the river Tell."))
    wait_until(lambda: engine.theme_builder.state().added == 1)
    assert "1 document is not in them yet" in texts(open_page("themes"))


def test_graph_shows_names_as_data() -> None:
    entities = (
        PlacedEntity(LinkedEntity("a", "<img src=x>", "name", 3, 1), 0.5, 0.1),
        PlacedEntity(LinkedEntity("b", "A very long name of an entity in a document", "name", 2, 1), -0.5, 0.1),
    )
    spec = build_spec(ThemeDrawing(entities, (EntityLink("a", "b", 4),)), is_dark=True)
    edges, nodes, labels = spec["layer"]
    assert edges["data"]["values"] == [{"x": 0.5, "y": 0.1, "x2": -0.5, "y2": 0.1, "statements": 4}]
    assert [one["name"] for one in nodes["data"]["values"]] == [one.entity.name for one in entities]
    assert labels["data"]["values"][1]["label"].endswith("…")
