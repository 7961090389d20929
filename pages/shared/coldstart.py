"""A workaround for the first page view after a start."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

# In a project with a folder named "pages", the first run of Streamlit looks for pages in that folder,
# before app.py defines them, and shows "Page not found" over the right page. Later runs use app.py, so
# the page is reloaded once, before the reader uses it.
_RELOAD = st.components.v2.component(
    "footnote_reload", html="", js="export default function () { window.location.reload(); }"
)
_served = False


def settle_cold_start() -> None:
    """Reload the page if this is the first run of the process and the address is not the root."""
    global _served  # state of the process, not of a session
    if _served:
        return
    _served = True
    if urlsplit(st.context.url or "").path.strip("/"):
        _RELOAD(key="reload")
        st.stop()
