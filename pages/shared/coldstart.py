"""The first page view after a start, when its address names a page."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

# In a project with a folder named "pages", Streamlit's very first run looks pages up the old way,
# before app.py has named them, and tells the reader "Page not found" over the right page. Every
# later run asks app.py. So the page is loaded once more, which nobody has begun to use yet.
_RELOAD = st.components.v2.component(
    "footnote_reload", html="", js="export default function () { window.location.reload(); }"
)
_served = False


def settle_cold_start() -> None:
    """Load the page again if this is the process's first run and its address is not the root's."""
    global _served  # about the process, not about a session
    if _served:
        return
    _served = True
    if urlsplit(st.context.url or "").path.strip("/"):
        _RELOAD(key="reload")
        st.stop()
