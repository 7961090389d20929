"""The form that connects a language model: find models, test, connect and disconnect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.admin.model_options import (
    choose_address,
    fill_fields,
    offer_local_servers,
    read_choice,
    read_key,
    set_found_models,
    show_fields,
)
from pages.shared.problems import show_errors, show_errors_next_run, show_stored_error
from pages.shared.translation import N_, _, ngettext
from rag_core.engine import Engine
from rag_core.types.status import ModelCheck, ModelChoice

_CHECKS, _NOTE, _PROBLEM = "connect_checks", "connect_note", "connect_problem"
NO_LIST = N_("This endpoint lists no models. Type the name of the model into the field Model.")
_PLACES = {
    "keyring": N_("The API key is in this machine's keyring."),
    "file": N_(
        "This machine has no usable keyring, so the API key is in the file `model-key` of the data folder, which "
        "only its owner can read."
    ),
    "": N_("No API key is stored."),
}


def show_form(engine: Engine, show_checks: Callable[[list[ModelCheck]], None]) -> None:
    """Show the form that connects a model; ``show_checks`` draws the results of a test of the connection."""
    offer_local_servers(engine)
    saved = engine.models.choice
    kind = choose_address(engine, saved)
    # Without a form, the browser does not send a key if the reader leaves its field with the tab key.
    with st.form("connect", border=False, enter_to_submit=False):
        is_file = show_fields(engine, kind, saved)
        # Results stand above the buttons, because what is below them may be outside of the window.
        results = st.container()
        with st.container(horizontal=True, gap="small"):
            if not is_file:
                _show_button(_("List models"), "connect_find", _find_models, engine, icon=":material/list:")
            tested = st.form_submit_button(_("Test"), key="connect_test", icon=":material/network_check:")
            _show_button(_("Connect"), "connect_save", _save_connection, engine, type="primary")
            if engine.models.current:
                _show_button(_("Disconnect"), "connect_remove", _disconnect_model, engine)
    with results:
        _show_results(engine, show_checks, tested=tested)
    if saved and not saved.gguf:
        st.caption(_(_PLACES[engine.models.key_place]))


def _show_results(engine: Engine, show_checks: Callable[[list[ModelCheck]], None], *, tested: bool) -> None:
    """Show the error or note of the last click, and the results of the last test.

    If ``tested``, test the connection in the fields first. The results are hidden as soon as a field other than the key
    differs from the connection that was tested.
    """
    show_stored_error(_PROBLEM)
    if note := st.session_state.pop(_NOTE, ""):
        st.info(note, icon=":material/info:")
    if tested:
        st.session_state.pop(_CHECKS, None)
        with show_errors(), st.spinner(_("Testing the model")):
            choice = read_choice()
            st.session_state[_CHECKS] = choice, list(engine.models.check(choice, read_key()))
    tested_choice, checks = st.session_state.get(_CHECKS, (None, []))
    if checks and tested_choice == read_choice():
        show_checks(checks)


def _show_button(label: str, key: str, act: Callable[[Engine], None], engine: Engine, **look: Any) -> None:
    st.form_submit_button(label, key=key, on_click=act, args=[engine], **look)


def _find_models(engine: Engine) -> None:
    with show_errors_next_run(_PROBLEM):
        found, models = engine.models.find_models(read_choice(), read_key())
        set_found_models(found.base_url, list(models))
        found_models = ngettext(
            "{number} model found. Choose one in the field Model.",
            "{number} models found. Choose one in the field Model.",
            len(models),
        )
        st.session_state[_NOTE] = found_models if models else _(NO_LIST)


def _save_connection(engine: Engine) -> None:
    with show_errors_next_run(_PROBLEM):
        choice = read_choice()
        tested_choice, checks = st.session_state.get(_CHECKS, (None, []))
        found = next((check.capability for check in checks if check.capability), None)
        if tested_choice == choice:
            choice = replace(choice, tested_capability=found)
        engine.models.connect(choice, read_key())
        saved = engine.models.choice
        if saved:
            fill_fields(saved)
        st.toast(_("Connected. All questions use this model from now on."), icon=":material/check:")


def _disconnect_model(engine: Engine) -> None:
    with show_errors_next_run(_PROBLEM):
        engine.models.disconnect()
        fill_fields(ModelChoice("openai", next(one.base_url for one in engine.models.presets if one.id == "openai")))
