"""What the documents say about an entity, and what they mention together with it."""

from __future__ import annotations

import streamlit as st

from pages.shared.text import escape_markdown
from pages.shared.translation import _, format_number
from pages.themes.theme import show_cited
from rag_core.engine import Engine
from rag_core.types.answers import Answer

_NEIGHBOURS = 12


def show_entity(engine: Engine, key: str) -> dict[str, Answer]:
    """Show the statements about the entity with this key; return the answers whose sources can be opened, by id.

    Show nothing and return an empty dictionary if no statement mentions the entity.
    """
    quoted = engine.themes.quote(key)
    if quoted is None:
        return {}
    st.subheader(escape_markdown(quoted.question), anchor=False)
    near = engine.themes.neighbours(key, _NEIGHBOURS)
    if near:
        names = ", ".join(f"{one.name} ({format_number(count)})" for one, count in near)
        st.caption(escape_markdown(_("Mentioned together with {names}", names=names)))
    return show_cited(f"entity_{key}", quoted)
