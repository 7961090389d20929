"""The fields of the form that connects a language model."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from pages.admin.privacy import show_destination
from pages.shared.translation import N_, _, ngettext, translate_message
from rag_core.engine import Engine
from rag_core.types.status import ModelChoice

_PRESET, _ADDRESS, _KEY, _MODEL = "connect_preset", "connect_address", "connect_key", "connect_model"
_API, _CONTEXT, _CAPABILITY = "connect_api", "connect_context", "connect_capability"
_LISTED, _LOCAL = "connect_listed", "connect_local"
APIS = {"chat": "Chat Completions", "responses": "Responses"}
_CAPABILITIES: dict[Literal["", "small", "capable"], str] = {
    "": N_("Automatic"),
    "small": N_("Small"),
    "capable": N_("Capable"),
}


def choose_address(engine: Engine, saved: ModelChoice | None) -> str:
    """Let the operator choose the kind of model and its address or path; return the id of the kind, which is a preset.

    At first, both are those of the stored connection ``saved``; without one, those of OpenAI.
    """
    presets = {preset.id: preset for preset in engine.models.presets}
    if _PRESET not in st.session_state:
        fill_fields(saved or ModelChoice("openai", presets["openai"].base_url))
    chosen = st.selectbox(
        _("Kind of model"),
        list(presets),
        key=_PRESET,
        format_func=lambda one: translate_message(presets[one].name),
        on_change=lambda: fill_fields(
            ModelChoice(st.session_state[_PRESET], presets[st.session_state[_PRESET]].base_url)
        ),
    )
    preset = presets[chosen]
    st.text_input(_("Path of the file") if preset.is_file else _("Address"), key=_ADDRESS, placeholder=preset.example)
    if not preset.is_file:
        show_destination(engine, st.session_state[_ADDRESS])
    return preset.id


def show_fields(engine: Engine, kind: str, saved: ModelChoice | None) -> bool:
    """Show the fields below the address, and return whether this kind of model is a file.

    A file has more options only; other kinds also have a key and a model.
    """
    preset = next(preset for preset in engine.models.presets if preset.id == kind)
    if not preset.is_file:
        kept = _(" Leave it empty to keep the stored key for the same address.") if engine.models.key_place else ""
        needed = _("This kind needs a key.") if preset.needs_key else _("Most servers on this machine need no key.")
        st.text_input(
            _("API key"),
            key=_KEY,
            type="password",
            autocomplete="off",
            help=f"{needed}{kept}",
        )
        # The place is kept as in `show_destination`.
        place = st.empty()
        if not kept and engine.models.offers_environment_key(st.session_state[_ADDRESS]):
            place.caption(_("The key from `OPENAI_API_KEY` is used if the field is empty. It is sent to OpenAI only."))
        listed = [name for name in (st.session_state.get(_MODEL), *st.session_state.get(_LISTED, [])) if name]
        st.selectbox(
            _("Model"),
            list(dict.fromkeys(listed)),
            key=_MODEL,
            index=None,
            accept_new_options=True,
            placeholder=_("Click List models, or type a name"),
        )
    _show_more_options(saved, is_file=preset.is_file)
    return preset.is_file


def _show_more_options(saved: ModelChoice | None, *, is_file: bool) -> None:
    with st.expander(_("More options")):
        if not is_file:
            st.selectbox(_("API"), list(APIS), key=_API, format_func=APIS.__getitem__, filter_mode=None)
        reported = saved.context_tokens if saved and saved.context_reported else None
        st.number_input(
            _("Context length"),
            *(512, 2_000_000, None, 512),
            key=_CONTEXT,
            placeholder=f"{reported:,}" if reported else _("Automatic"),
            help=_(
                "Tokens of prompt and answer together. If the field is empty, the number that the endpoint reports "
                "is used, or else what is known of its host."
            ),
        )
        st.selectbox(
            _("Capability"),
            list(_CAPABILITIES),
            key=_CAPABILITY,
            format_func=lambda one: _(_CAPABILITIES[one]),
            filter_mode=None,
            help=_(
                "A capable model reads whole pages and cites them. A small one gets a few passages and simple rules. "
                "Automatic uses the result of the test, or else the context length; a file is small unless the list of "
                "downloads says otherwise."
            ),
        )


def fill_fields(choice: ModelChoice) -> None:
    """Fill the fields with the values of a connection; empty the key, and forget the models that were listed."""
    st.session_state[_PRESET] = choice.preset
    st.session_state[_ADDRESS] = choice.gguf or choice.base_url
    st.session_state[_MODEL] = choice.model or None
    st.session_state[_KEY] = ""
    st.session_state[_API] = choice.api
    st.session_state[_CONTEXT] = None if choice.context_reported else choice.context_tokens
    st.session_state[_CAPABILITY] = choice.capability
    st.session_state.pop(_LISTED, None)


def set_found_models(base_url: str, models: list[str]) -> None:
    """Set the address at which models were found, and the models to choose from."""
    st.session_state[_ADDRESS], st.session_state[_LISTED] = base_url, models


def read_choice() -> ModelChoice:
    """Return the connection that the fields describe, without the key."""
    state = st.session_state
    if state[_PRESET] == "gguf":
        # File managers copy a path with quotation marks.
        return ModelChoice(
            "gguf",
            gguf=state[_ADDRESS].strip().strip("\"'"),
            context_tokens=state.get(_CONTEXT),
            capability=state.get(_CAPABILITY, ""),
        )
    return ModelChoice(
        *(state[_PRESET], state[_ADDRESS].strip(), state.get(_MODEL) or ""),
        api=state.get(_API, "chat"),
        context_tokens=state.get(_CONTEXT),
        capability=state.get(_CAPABILITY, ""),
    )


def read_key() -> str | None:
    """Return the typed key; ``None`` if none is typed, so that a stored key is kept."""
    return st.session_state.get(_KEY, "").strip() or None


def offer_local_servers(engine: Engine) -> None:
    """Show a button for each model server found on this machine; each session looks for them once."""
    if _LOCAL not in st.session_state:
        st.session_state[_LOCAL] = engine.models.find_local_servers()
    names = {preset.id: preset.name for preset in engine.models.presets}
    for server in st.session_state[_LOCAL]:
        label = ngettext(
            "Use {name} on this machine ({number} model)",
            "Use {name} on this machine ({number} models)",
            len(server.models),
            name=names[server.preset],
        )
        st.button(
            label,
            key=f"connect_{server.preset}",
            on_click=_use_local_server,
            args=[server.preset, server.base_url, server.models],
        )


def _use_local_server(preset: str, base_url: str, models: tuple[str, ...]) -> None:
    fill_fields(ModelChoice(preset, base_url, models[0] if models else ""))
    st.session_state[_LISTED] = list(models)
