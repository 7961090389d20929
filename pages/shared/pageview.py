"""The component that shows an image of a page at any zoom."""

from __future__ import annotations

import base64
from pathlib import Path

import streamlit as st

from rag_core.types import PageImage

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "footnote_pageview",
    html="",
    css=(_HERE / "pageview.css").read_text(encoding="utf-8"),
    js=(_HERE / "pageview.js").read_text(encoding="utf-8"),
    # A drawer keeps the focus within it, and Tab passes over what stands in a shadow tree.
    isolate_styles=False,
)


def pageview(image: PageImage, *, alt: str, zoom: float, key: str) -> None:
    """Show a page; at ``zoom`` 1 it is as wide as the place it stands in.

    `st.image` never grows beyond its container, so it cannot enlarge.
    """
    source = "data:image/png;base64," + base64.b64encode(image.png).decode("ascii")
    _COMPONENT(key=key, data={"src": source, "alt": alt, "zoom": zoom})
