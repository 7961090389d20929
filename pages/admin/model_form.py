"""The form that connects a language model: kind, address, key, model, test, connect and disconnect."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.admin.privacy import show_destination
from pages.shared.problems import show_errors, show_errors_next_run, show_stored_error
from rag_core.engine import Engine
from rag_core.types import ModelCheck, ModelChoice, format_count

_PRESET, _ADDRESS, _KEY, _MODEL = "connect_preset", "connect_address", "connect_key", "connect_model"
_LISTED, _LOCAL, _CHECKS = "connect_listed", "connect_local", "connect_checks"
_PROBLEM = "connect_problem"
_PLACES = {
    "keyring": "The API key is in this machine's keyring.",
    "file": "This machine has no usable keyring, so the API key is in the file `model-key` of the data folder, which "
    "only its owner can read.",
    "": "No API key is stored.",
}


def show_form(engine: Engine, show_checks: Callable[[list[ModelCheck]], None]) -> None:
    """Show the form; ``show_checks`` shows the result of a test."""
    _offer_local_servers(engine)
    presets = {preset.id: preset for preset in engine.models.presets}
    saved = engine.models.choice
    if _PRESET not in st.session_state:
        _fill(saved or ModelChoice("openai", presets["openai"].base_url))
    preset = presets[
        st.selectbox(
            "Kind of model",
            list(presets),
            key=_PRESET,
            format_func=lambda one: presets[one].name,
            on_change=lambda: _fill(
                ModelChoice(st.session_state[_PRESET], presets[st.session_state[_PRESET]].base_url)
            ),
        )
    ]
    st.text_input("Path of the file" if preset.is_file else "Address", key=_ADDRESS, placeholder=preset.example)
    if not preset.is_file:
        show_destination(engine, st.session_state[_ADDRESS])
        kept = " Leave it empty to keep the stored key for the same address." if engine.models.key_place else ""
        needed = "This kind needs a key." if preset.needs_key else "Most servers on this machine need no key."
        st.text_input(
            "API key",
            key=_KEY,
            type="password",
            autocomplete="off",
            help=f"{needed}{kept}",
            # The Tab key moves from the text to the button that shows it, and Streamlit then sends no text. Nothing on
            # the page depends on the key, so no rerun is needed.
            live="0ms",
            on_change="ignore",
        )
        listed = [name for name in (st.session_state.get(_MODEL), *st.session_state.get(_LISTED, [])) if name]
        st.selectbox(
            "Model",
            list(dict.fromkeys(listed)),
            key=_MODEL,
            index=None,
            accept_new_options=True,
            placeholder="Find models, or type a name",
        )
    with st.container(horizontal=True, gap="small"):
        if not preset.is_file:
            st.button("Find models", key="connect_find", icon=":material/list:", on_click=_find, args=[engine])
        tested = st.button("Test", key="connect_test", icon=":material/network_check:")
        st.button("Connect", key="connect_save", type="primary", on_click=_save, args=[engine])
        if saved:
            st.button("Disconnect", key="connect_remove", on_click=_disconnect, args=[engine])
    show_stored_error(_PROBLEM)
    if tested:
        st.session_state.pop(_CHECKS, None)
        with show_errors(), st.spinner("Testing the model"):
            choice = _read_choice()
            st.session_state[_CHECKS] = choice, list(engine.models.check(choice, _read_key()))
    tested_choice, checks = st.session_state.get(_CHECKS, (None, []))
    if checks and tested_choice == _read_choice():
        show_checks(checks)
    if saved:
        st.caption(_PLACES[engine.models.key_place])


def _fill(choice: ModelChoice) -> None:
    st.session_state[_PRESET] = choice.preset
    st.session_state[_ADDRESS] = choice.gguf or choice.base_url
    st.session_state[_MODEL] = choice.model or None
    st.session_state[_KEY] = ""
    st.session_state.pop(_LISTED, None)
    st.session_state.pop(_CHECKS, None)


def _read_choice() -> ModelChoice:
    state = st.session_state
    if state[_PRESET] == "gguf":
        return ModelChoice("gguf", gguf=state[_ADDRESS].strip())
    return ModelChoice(state[_PRESET], state[_ADDRESS].strip(), state.get(_MODEL) or "")


def _read_key() -> str | None:
    """Return the typed key; ``None`` if none is typed, so that a stored key is kept."""
    return st.session_state.get(_KEY, "").strip() or None


def _find(engine: Engine) -> None:
    with show_errors_next_run(_PROBLEM):
        found, models = engine.models.find_models(_read_choice(), _read_key())
        st.session_state[_ADDRESS], st.session_state[_LISTED] = found.base_url, list(models)
        st.toast(f"{format_count(len(models), 'model')} found", icon=":material/check:")


def _save(engine: Engine) -> None:
    with show_errors_next_run(_PROBLEM):
        engine.models.connect(_read_choice(), _read_key())
        saved = engine.models.choice
        if saved:
            _fill(saved)
        st.toast("Connected. All questions use this model from now on.", icon=":material/check:")


def _disconnect(engine: Engine) -> None:
    with show_errors_next_run(_PROBLEM):
        engine.models.disconnect()
        _fill(ModelChoice("openai", next(one.base_url for one in engine.models.presets if one.id == "openai")))


def _offer_local_servers(engine: Engine) -> None:
    if _LOCAL not in st.session_state:
        st.session_state[_LOCAL] = engine.models.find_local_servers()
    names = {preset.id: preset.name for preset in engine.models.presets}
    for server in st.session_state[_LOCAL]:
        label = f"Use {names[server.preset]} on this machine ({format_count(len(server.models), 'model')})"
        st.button(
            label,
            key=f"connect_{server.preset}",
            on_click=_use_local,
            args=[server.preset, server.base_url, server.models],
        )


def _use_local(preset: str, base_url: str, models: tuple[str, ...]) -> None:
    _fill(ModelChoice(preset, base_url, models[0] if models else ""))
    st.session_state[_LISTED] = list(models)
