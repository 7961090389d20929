"""The button that opens a document at a given page in the browser's own viewer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st
from streamlit import runtime

from pages.shared import keys
from pages.shared.translation import _
from rag_core.types.formats import FormatDescription

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "footnote_openpdf",
    html="",
    css=(_HERE / "openpdf.css").read_text(encoding="utf-8"),
    js=(_HERE / "openpdf.js").read_text(encoding="utf-8"),
    # Isolated styles would put the button in a shadow tree, which the Tab key skips in a panel.
    isolate_styles=False,
)


def show_open_button(file_format: FormatDescription, read: Callable[[], bytes], *, page: int, key: str) -> None:
    """Show a button that opens a document at ``page``, counted from 1.

    ``read`` returns the content of the file, and is called only after a click. With `st.link_button`, which needs the
    address in advance, the whole file would be read for every source that is shown.
    """

    def clicked() -> None:
        st.session_state[keys.OPEN_PDF] = True

    address = ""
    if st.session_state.pop(keys.OPEN_PDF, False):
        manager = runtime.get_instance().media_file_mgr
        base = str(st.get_option("server.baseUrlPath") or "").strip("/")
        path = manager.add(read(), file_format.media_type, coordinates=key)
        address = f"{'/' + base if base else ''}{path}#page={page}"
    _COMPONENT(
        key=key,
        data={"label": _("Open {noun} at page {page}", noun=file_format.noun, page=page), "address": address},
        on_open_change=clicked,
    )
