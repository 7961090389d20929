"""The Settings page: health, settings and re-indexing."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.admin.index import _describe_rebuild
from rag_core.engine import Engine
from rag_core.settings import Settings
from tests.support.app import BRIDGE, LENGTH, PAGES, OpenPage, ask, click, metric, settle, table, texts
from tests.support.engines import add_document


def test_health_counts_fingerprint_and_failures(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    app = open_page("admin")
    assert app.success[0].value == "Everything works."
    assert metric(app, "Documents") == "1"
    fingerprint = table(app, "Index")
    assert list(fingerprint["Index"]) == list(fingerprint["Settings"])
    stores = table(app, "Store").set_index("Store")["Entries"]
    assert stores["database"] == stores["words"] == stores["vectors"]
    assert {"database", "words", "files"} <= set(table(app, "Part")["Part"])
    assert [one.label for one in app.get("download_button")] == ["Export the library"]
    assert "Not added" not in texts(app)
    engine.jobs.wait([engine.documents.submit("notes.pdf", b"These are only notes.").job_id])
    assert "Not added: notes.pdf" in texts(app.run()).replace("\\", "")


def test_threshold_and_top_k_can_be_saved_and_reset(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("admin")
    app.slider[0].set_value(0.25)
    app.number_input(key="gate_top_k").set_value(3)
    click(app, "Save")
    assert (engine.preferences.threshold, engine.preferences.top_k) == (0.25, 3)
    click(app, "Reset to the defaults")
    defaults = engine.settings.threshold, engine.settings.top_k
    assert (engine.preferences.threshold, engine.preferences.top_k) == defaults
    assert app.slider[0].value == engine.settings.threshold


def test_threshold_is_shown_again_after_another_page(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("admin")
    for name in ("lab", "admin"):
        app.switch_page(PAGES[name]).run()
    assert app.slider[0].value == engine.preferences.threshold


def test_recent_scores_are_shown_with_the_threshold(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    assert "newest" not in texts(open_page("admin"))
    for question in (LENGTH, "Who won the cup in Brazil?"):
        ask(open_page(), question)
    answered, refused = sorted(engine.evaluations.recent_gate_scores(), reverse=True)
    assert answered >= engine.preferences.threshold > refused
    assert engine.evaluations.recent_gate_scores(1) == [refused]
    app = open_page("admin")
    assert "newest 2 questions in conversations: 1 reached the threshold" in texts(app)
    values = engine.evaluations.gate_scores_plot([0.2, 0.9])["layer"][0]["data"]["values"]
    assert [value["score"] for value in values] == [0.2, 0.9]


def test_changed_settings_are_reported_and_reindexed(
    open_page: OpenPage, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine(settings) as before:
        add_document(before, "bridge.pdf", BRIDGE)
    monkeypatch.setenv("RAG_CHUNK_TOKENS", "100")
    app = open_page("admin")
    assert "built with other settings" in app.info[0].value
    assert "is used unchanged" in app.info[0].value
    assert _differing(app) == ["Tokens per chunk"]
    assert "1 document, 2 chunks. Answers use the current index" in texts(app)
    assert "vectors of unchanged text are reused, at most about" in texts(app)
    app.button(key="reindex").click().run()
    # The swap may happen in a run of the page between the queries of health and of differences.
    settle(app, lambda app: "Everything works." in texts(app) and not _differing(app))


def test_reindex_plan_is_shown_in_advance(open_page: OpenPage, bridge: str) -> None:
    app = open_page("admin")
    assert "complete in every store stay as they are" in texts(app)
    app.selectbox(key="reindex_choice").set_value(bridge).run()
    assert "The file is read and indexed again" in texts(app)
    plan = _describe_rebuild({"embedder", "weights", "chunk_tokens"}, 130.0)
    assert "every vector is computed again, about 2 min at the speed" in plan
    assert "reused, at most about 2 min at the speed" in _describe_rebuild({"chunk_tokens"}, 130.0)
    assert _describe_rebuild({"chunk_tokens"}, None).endswith("are reused.")


def _differing(app: AppTest) -> list[str]:
    """Return the settings that the table marks as different."""
    settings = table(app, "Difference")
    return list(settings.loc[settings["Difference"] == "differs", "Property"])


def test_token_is_created_shown_once_and_revoked(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("admin")
    app.text_input(key="token_name").set_value("notes")
    click(app, "Create token")
    secret = next(one.value for one in app.code if one.value.startswith("footnote_"))
    token = engine.tokens.find(secret)
    assert token is not None
    assert token.caller.rights == ("read",)
    app.run()
    assert secret not in [one.value for one in app.code]
    assert "search and read · all collections · last used" in texts(app)
    app.text_input(key="token_name").set_value("notes")
    click(app, "Create token")
    assert "one is named “notes” already" in app.error[0].value
    click(app, "Revoke")
    assert engine.tokens.find(secret) is None
