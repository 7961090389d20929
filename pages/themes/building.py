"""The state of the themes, and the button that builds or updates them."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.jobs import track_jobs
from pages.shared.problems import show_errors
from pages.shared.text import count_documents, escape_markdown, format_duration, format_time
from pages.shared.translation import N_, _, ngettext
from rag_core.engine import Engine
from rag_core.types.themes import ModelUse, ThemesState

_USES: dict[ModelUse, str] = {
    "none": N_("Without a model"),
    "summaries": N_("The model writes the summaries"),
    "entities": N_("The model also finds the names and terms"),
}
_HELP = N_("Summaries take one request for each theme; names and terms, one for each passage of each document.")


def show_building(engine: Engine) -> None:
    """Show when the themes were built, and let the reader build or update them."""
    state = engine.theme_builder.state()
    st.caption(_describe_state(state))
    if not state.documents and not state.added:
        st.info(_("The library is empty. Add documents on the Documents page first."), icon=":material/info:")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if engine.models.current:
            st.selectbox(
                _("Language model"),
                list(_USES),
                format_func=lambda use: _(_USES[use]),
                key=keys.THEME_MODEL_USE,
                label_visibility="collapsed",
                help=_(_HELP),
                width=300,
            )
        st.button(
            _("Build themes") if state.built_at is None else _("Update"),
            icon=":material/hub:" if state.built_at is None else ":material/refresh:",
            type="primary" if not state.is_current else "secondary",
            key="build_themes",
            on_click=_build_themes,
            args=[engine],
        )
        if engine.models.current and st.session_state.get(keys.THEME_MODEL_USE, "none") != "none":
            st.caption(f"{escape_markdown(engine.models.current)}. {_(_HELP)}", width="content")


def _describe_state(state: ThemesState) -> str:
    if state.built_at is None:
        return _(
            "Names and terms that the documents mention together form themes. Each theme gets a summary with its "
            "sources, and questions about all documents can be answered from the themes."
        )
    parts = [
        _(
            "Built {time} over {documents} in {duration}.",
            time=format_time(state.built_at),
            documents=count_documents(state.documents),
            duration=format_duration(state.seconds),
        )
    ]
    if state.added:
        parts.append(
            ngettext("{number} document is not in them yet.", "{number} documents are not in them yet.", state.added)
        )
    if state.removed:
        parts.append(
            ngettext(
                "{number} document was removed or replaced since.",
                "{number} documents were removed or replaced since.",
                state.removed,
            )
        )
    return " ".join(parts)


def _build_themes(engine: Engine) -> None:
    with show_errors():
        track_jobs([engine.theme_builder.build(st.session_state.get(keys.THEME_MODEL_USE, "none"))])
