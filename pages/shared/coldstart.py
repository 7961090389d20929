"""A workaround for the message "Page not found", which Streamlit shows on the first page view after its start."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

# If a project has a folder named "pages", Streamlit looks for pages in that folder during its first script run,
# because app.py has not defined the pages yet. It then shows "Page not found" over the right page. Later runs use
# the pages of app.py, so it is enough to reload the page once.
_RELOAD = st.components.v2.component(
    "footnote_reload", html="", js="export default function () { window.location.reload(); }"
)
_served = False


def settle_cold_start() -> None:
    """Reload the page if this is the first script run of the process and the address has a path."""
    global _served  # the state of the whole process, not of one session
    if _served:
        return
    _served = True
    if urlsplit(st.context.url or "").path.strip("/"):
        _RELOAD(key="reload")
        st.stop()
