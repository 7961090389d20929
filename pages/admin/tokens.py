"""Access tokens, with which other programs use the application."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.shared.problems import show_errors_next_run, show_stored_error
from pages.shared.text import escape_markdown, format_time
from pages.shared.translation import N_, _
from rag_core.engine import Engine
from rag_core.types.access import RIGHTS, AccessToken, Right

_NAME, _RIGHTS, _COLLECTIONS, _PROBLEM, _SECRET = (
    f"token_{name}" for name in ("name", "rights", "collections", "problem", "secret")
)
_WORDS: Mapping[Right, str] = {
    "read": N_("Search and read"),
    "add": N_("Add documents"),
    "manage": N_("Delete documents and manage tokens"),
}
# The same within a sentence.
_WITHIN: Mapping[Right, str] = {
    "read": N_("search and read"),
    "add": N_("add documents"),
    "manage": N_("delete documents and manage tokens"),
}


def show_tokens(engine: Engine) -> None:
    """List the tokens with their last use, and let the operator create and revoke them."""
    st.header(_("Other programs"), anchor=False)
    st.caption(
        _(
            "Programs on this computer can use the application without a token. Others send a token, which allows "
            "what you choose. The page docs/api.md shows how."
        )
    )
    for token in engine.tokens.list():
        _show_token(engine, token)
    with st.form("token", clear_on_submit=True):
        st.text_input(_("Name of the program"), key=_NAME)
        st.pills(
            _("It may"),
            RIGHTS,
            key=_RIGHTS,
            selection_mode="multi",
            default=RIGHTS[:1],
            format_func=lambda one: _(_WORDS[one]),
        )
        if collections := list(engine.collections.list()):
            st.multiselect(
                _("Only in these collections"), collections, key=_COLLECTIONS, placeholder=_("All collections")
            )
        show_stored_error(_PROBLEM)
        st.form_submit_button(_("Create token"), key="create_token", on_click=_create_token, args=[engine])
    if secret := st.session_state.pop(_SECRET, ""):
        st.success(_("This is the token. Copy it now: it is not shown again."), icon=":material/key:")
        st.code(secret, language=None)


def _show_token(engine: Engine, token: AccessToken) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        used = _("last used {time}", time=format_time(token.used_at)) if token.used_at else _("never used")
        allowed = ", ".join(_(_WITHIN[one]) for one in token.caller.rights)
        where = ", ".join(token.caller.collections) or _("all collections")
        words = f"{allowed} · {where} · {used}"
        st.markdown(f"**{escape_markdown(token.name)}**  \n{escape_markdown(words)}", width="stretch")
        st.button(_("Revoke"), key=f"revoke_{token.token_id}", on_click=_revoke_token, args=[engine, token])


def _create_token(engine: Engine) -> None:
    with show_errors_next_run(_PROBLEM):
        values = st.session_state
        secret, _token = engine.tokens.create(values[_NAME], values[_RIGHTS], values.get(_COLLECTIONS, ()))
        values[_SECRET] = secret


def _revoke_token(engine: Engine, token: AccessToken) -> None:
    with show_errors_next_run(_PROBLEM):
        engine.tokens.revoke(token.token_id)
        st.toast(_("{name} is revoked", name=escape_markdown(token.name)), icon=":material/check:")
