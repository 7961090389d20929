"""The entities of a theme as a graph and as a list, in which the reader chooses an entity."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.shared import keys
from pages.shared.text import truncate
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.themes import Theme, ThemeDrawing

_LABEL_WIDTH = 28
_HEIGHT = 440
_PARAM = "entity"


def choose_entity(engine: Engine, theme: Theme) -> str:
    """Draw the entities of a theme, with a list of their names below.

    Return the key of the entity that the reader has chosen in the graph or the list; an empty text without a choice.
    """
    drawing = engine.themes.draw(theme)
    if not drawing.entities:
        return ""
    st.caption(_("Click a name to read what is said about it. Lines connect names that occur in the same sentences."))
    event = st.vega_lite_chart(
        build_spec(drawing, is_dark=st.context.theme.type == "dark"),
        key=f"theme_graph_{theme.theme_id}",
        on_select="rerun",
        selection_mode=_PARAM,
        alt=_("Graph of the names and terms of {title}", title=theme.title),
    )
    clicked = event.selection.get(_PARAM) or []
    names = {one.entity.key: one.entity.name for one in drawing.entities}
    if clicked and clicked[0].get("key") in names:
        st.session_state[keys.THEME_ENTITY] = clicked[0]["key"]
    # The list below does the same as the graph, for keyboards and screen readers.
    current = st.session_state.get(keys.THEME_ENTITY)
    chosen = st.selectbox(
        _("Name or term"),
        list(names),
        index=list(names).index(current) if current in names else None,
        format_func=lambda key: names[key],
        placeholder=_("Choose a name or term"),
        label_visibility="collapsed",
        key=f"theme_entity_{theme.theme_id}_{current}",
    )
    return chosen or ""


def build_spec(drawing: ThemeDrawing, *, is_dark: bool) -> dict[str, Any]:
    """Return the Vega-Lite specification of the graph."""
    places = {one.entity.key: (one.x, one.y) for one in drawing.entities}
    nodes = [
        {
            "key": one.entity.key,
            "name": one.entity.name,
            "label": truncate(one.entity.name, _LABEL_WIDTH),
            "x": one.x,
            "y": one.y,
            "mentions": one.entity.mentions,
            "documents": one.entity.documents,
        }
        for one in drawing.entities
    ]
    edges = [
        {
            **dict(zip(("x", "y"), places[one.source], strict=True)),
            **dict(zip(("x2", "y2"), places[one.target], strict=True)),
            "statements": one.statements,
        }
        for one in drawing.links
    ]
    hidden = {"type": "quantitative", "axis": None, "scale": {"domain": [-1.25, 1.25]}}
    place = {"x": {"field": "x", **hidden}, "y": {"field": "y", **hidden}}
    titles = {"name": _("Name"), "mentions": _("Mentions"), "documents": _("Documents")}
    tooltip = [{"field": name, "title": title} for name, title in titles.items()]
    return {
        "height": _HEIGHT,
        "view": {"stroke": None},
        "layer": [
            {
                "data": {"values": edges},
                "mark": {"type": "rule", "color": "#8a94a0", "opacity": 0.45},
                "encoding": {
                    **place,
                    "x2": {"field": "x2"},
                    "y2": {"field": "y2"},
                    "strokeWidth": {
                        "field": "statements",
                        "type": "quantitative",
                        "scale": {"type": "sqrt", "range": [0.5, 5]},
                        "legend": None,
                    },
                },
            },
            {
                "data": {"values": nodes},
                "mark": {"type": "circle", "opacity": 0.95, "cursor": "pointer"},
                "params": [{"name": _PARAM, "select": {"type": "point", "fields": ["key"]}}],
                "encoding": {
                    **place,
                    "size": {
                        "field": "mentions",
                        "type": "quantitative",
                        "scale": {"type": "sqrt", "range": [90, 900]},
                        "legend": None,
                    },
                    "color": {"condition": {"param": _PARAM, "value": "#1f77b4", "empty": True}, "value": "#9db8cf"},
                    "tooltip": tooltip,
                },
            },
            {
                "data": {"values": nodes},
                "mark": {"type": "text", "dy": -14, "fontSize": 12, "color": "#e6e9ec" if is_dark else "#1d2329"},
                "encoding": {**place, "text": {"field": "label"}},
            },
        ],
    }
