from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.admin.index import _plan
from rag_core.engine import Engine
from rag_core.settings import Settings
from tests.support.app import BRIDGE, LENGTH, OpenPage, add, ask, settle, texts
from tests.support.engines import add_document


def test_health_counts_and_fingerprint(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    app = open_page("admin")
    assert app.success[0].value == "Everything works."
    assert {one.label: one.value for one in app.metric}["Documents"] == "1"
    tables = [one.value for one in app.dataframe]
    fingerprint = next(one for one in tables if "Index" in one)
    assert list(fingerprint["Index"]) == list(fingerprint["Settings"])
    stores = next(one for one in tables if "Store" in one).set_index("Store")["Entries"]
    assert stores["database"] == stores["words"] == stores["vectors"]
    assert {"database", "words", "files"} <= set(next(one for one in tables if "Part" in one)["Part"])


def test_threshold_and_number_of_passages_are_stored_and_can_be_reset(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("admin")
    app.slider[0].set_value(0.25)
    app.number_input[0].set_value(3)
    next(one for one in app.button if one.label == "Save").click().run()
    assert (engine.preferences.threshold, engine.preferences.top_k) == (0.25, 3)
    next(one for one in app.button if one.label == "Reset to the settings").click().run()
    assert (engine.preferences.threshold, engine.preferences.top_k) == (
        engine.settings.threshold,
        engine.settings.top_k,
    )
    assert app.slider[0].value == engine.settings.threshold


def test_recent_scores_stand_beside_the_threshold(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    assert "newest" not in texts(open_page("admin"))
    for question in (LENGTH, "Who won the cup in Brazil?"):
        ask(open_page(), question)
    answered, refused = sorted(engine.evaluations.recent_gate_scores(), reverse=True)
    assert answered >= engine.preferences.threshold > refused
    assert engine.evaluations.recent_gate_scores(1) == [refused]
    app = open_page("admin")
    assert "newest 2 questions in conversations: 1 reached the threshold" in texts(app)
    assert [one["score"] for one in engine.evaluations.gate_scores_plot([0.2, 0.9])["layer"][0]["data"]["values"]] == [
        0.2,
        0.9,
    ]


def test_settings_that_differ_from_the_index_are_told_and_mended(
    open_page: OpenPage, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine(settings) as before:
        add_document(before, "bridge.pdf", BRIDGE)
    monkeypatch.setenv("RAG_CHUNK_TOKENS", "100")
    app = open_page("admin")
    assert "built with other settings" in app.error[0].value
    assert "is used unchanged" in app.error[0].value
    assert _differing(app) == ["Tokens per chunk"]
    assert "1 document, 2 chunks. Answers use the current index" in texts(app)
    assert "vectors of unchanged text are reused, at most about" in texts(app)
    app.button(key="reindex").click().run()
    # The swap may fall between the looks that one run takes at health and at differences.
    settle(app, lambda app: "Everything works." in texts(app) and not _differing(app))


def test_what_a_re_index_will_do_is_told_before(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE)
    app = open_page("admin")
    assert "complete in every store stay as they are" in texts(app)
    app.selectbox(key="reindex_choice").set_value(ids["bridge"]).run()
    assert "The file is read and indexed again" in texts(app)
    anew = _plan({"embedder", "weights", "chunk_tokens"}, 130.0)
    assert "every vector is computed again, about 2 min at the speed" in anew
    assert "reused, at most about 2 min at the speed" in _plan({"chunk_tokens"}, 130.0)
    assert _plan({"chunk_tokens"}, None).endswith("are reused.")


def _differing(app: AppTest) -> list[str]:
    """What the table of settings marks as different."""
    table = next(one.value for one in app.dataframe if "Difference" in one.value)
    return list(table.loc[table["Difference"] == "differs", ""])
