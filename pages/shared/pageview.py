"""The component that shows the image of a page at any zoom."""

from __future__ import annotations

import base64
from pathlib import Path

import streamlit as st

from rag_core.types.documents import PageImage

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "footnote_pageview",
    html="",
    css=(_HERE / "pageview.css").read_text(encoding="utf-8"),
    js=(_HERE / "pageview.js").read_text(encoding="utf-8"),
    # Isolated styles would put the image in a shadow tree, which the Tab key skips in a panel.
    isolate_styles=False,
)


def show_page_image(image: PageImage, *, alt: str, zoom: float, key: str) -> None:
    """Show the image of a page; at ``zoom`` 1, the image is as wide as its container.

    `st.image` is not used, because its image cannot be wider than the container.
    """
    source = "data:image/png;base64," + base64.b64encode(image.png).decode("ascii")
    _COMPONENT(key=key, data={"src": source, "alt": alt, "zoom": zoom})
