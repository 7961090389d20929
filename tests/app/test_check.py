"""The Check page."""

from __future__ import annotations

from rag_core.engine import Engine
from tests.support.app import OpenPage, add, answer_texts, click, settle, shown, texts
from tests.support.checked import FACTS, UNKNOWN, write_draft
from tests.support.pdfs import make_pdf


def test_empty_library_is_explained(open_page: OpenPage) -> None:
    assert "The library is empty" in texts(open_page("check"))


def test_sentences_are_marked_counted_and_filtered(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, skarvoy=make_pdf(FACTS), other=make_pdf("The tower of the town hall is 39 metres high."))
    app = open_page("check")
    click(app, "Check")
    assert "contains no sentence" in texts(app)
    app.multiselect(key="check_scope").set_value([ids["skarvoy"]])
    app.text_area(key="check_text").set_value(write_draft())
    click(app, "Check")
    settle(app, lambda app: "≠" in str(answer_texts(app)) and not any(one.label == "Stop" for one in app.button))
    (text,) = answer_texts(app)
    assert text.index(FACTS[0]) < text.index(FACTS[5]) < text.index(UNKNOWN)
    assert app.button_group(key="check_only").options[0] == "All 12"
    app.button_group(key="check_only").set_value("not_supported").run()
    assert [UNKNOWN in one for one in answer_texts(app)] == [True]
    assert FACTS[0] not in answer_texts(app)[0]
    assert not shown(app)[0]["sources"]
    app.switch_page("themes/page.py").run()
    app.switch_page("check/page.py").run()
    assert app.text_area(key="check_text").value == write_draft()
    assert answer_texts(app)
