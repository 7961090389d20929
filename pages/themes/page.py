"""The Themes page: what the documents are about, over all of them, with a summary and a graph of each theme."""

from __future__ import annotations

import streamlit as st

from pages.shared.jobs import show_jobs
from pages.shared.source import show_source
from pages.shared.start import start_page
from pages.shared.translation import _
from pages.themes.building import show_building
from pages.themes.choosing import choose_theme
from pages.themes.entity import show_entity
from pages.themes.graph import choose_entity
from pages.themes.theme import show_theme

back = start_page("themes", _("Themes"))
show_building(back.engine)
show_jobs(back.engine)
themes = back.engine.themes.list()
if not themes:
    st.stop()
left, right = st.columns([2, 3], gap="large")
with left:
    theme = choose_theme(themes)
with right:
    shown = show_theme(theme)
    key = choose_entity(back.engine, theme)
    if key:
        shown |= show_entity(back.engine, key)
show_source(back.engine, shown)
