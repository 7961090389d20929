"""The list of themes."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.shared import keys
from pages.shared.current import close_source
from pages.shared.translation import _
from rag_core.types.themes import Theme


def choose_theme(themes: Sequence[Theme]) -> Theme:
    """Let the reader choose a theme, and return it; the address contains its title, so that a reader can link to it.

    At first, that is the theme of the address, or the first one in the list.
    """
    words = st.text_input(
        _("Filter"), key="theme_filter", placeholder=_("Filter by a word or a name"), label_visibility="collapsed"
    )
    shown = [one for one in themes if _contains_words(one, words or "")]
    if not shown:
        st.caption(_("No theme contains these words."))
        shown = list(themes)
    linked = st.query_params.get(keys.THEME_PARAM, "")
    first = next((place for place, one in enumerate(shown) if one.title == linked), 0)
    event = st.dataframe(
        pd.DataFrame([(one.title, one.documents) for one in shown], columns=[_("Theme"), _("Documents")]),
        key=f"themes_{hash(tuple(one.theme_id for one in shown))}",
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [first], "columns": []}},
        hide_index=True,
        column_config={
            _("Theme"): st.column_config.TextColumn(width=220),
            _("Documents"): st.column_config.NumberColumn(width=80),
        },
        height=min(38 + 36 * len(shown), 560),
        alt=_("Themes"),
    )
    theme = shown[event.selection.rows[0]] if event.selection.rows else shown[first]
    if theme.title != linked:
        st.query_params[keys.THEME_PARAM] = theme.title
        st.session_state.pop(keys.THEME_ENTITY, None)
        close_source()
    return theme


def _contains_words(theme: Theme, words: str) -> bool:
    text = " ".join([theme.title, *(one.name for one in theme.entities)]).casefold()
    return all(word in text for word in words.casefold().split())
