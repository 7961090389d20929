"""The component that shows untrusted text: answers with citations, passages and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import streamlit as st

from pages.shared.nodes import Node
from pages.shared.translation import _

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "footnote_richtext",
    html="",
    css=(_HERE / "richtext.css").read_text(encoding="utf-8"),
    js=(_HERE / "richtext.js").read_text(encoding="utf-8"),
)


def show_richtext(
    blocks: Sequence[Node],
    *,
    key: str,
    sources: Mapping[int, str] | None = None,
    on_cite: Callable[[int], None] | None = None,
    on_toggle: Callable[[int], None] | None = None,
    copy: str = "",
    copy_label: str = "",
    small: bool = False,
) -> None:
    """Show trees of nodes, which `pages.shared.nodes` describes.

    Parameters
    ----------
    blocks : sequence of nodes
    key : str
        Unique on the page.
    sources : mapping
        Maps n to the source of ``[n]``, which the tooltip and the accessible name of the button contain.
    on_cite : callable
        Called with n when the reader clicks ``[n]``.
    on_toggle : callable
        Called with the number of a ``toggle`` when the reader clicks it.
    copy : str
        Text that a button copies to the clipboard; if it is empty, there is no button.
    copy_label : str
        The label of that button; if it is empty, that of a whole answer.
    small : bool
        Whether to use the font size of captions.
    """

    def handle(event: str, act: Callable[[int], None] | None) -> None:
        state = st.session_state.get(key)
        number = state.get(event) if state else None
        if act and isinstance(number, int):
            act(number)

    data = {
        "blocks": list(blocks),
        "sources": dict(sources or {}),
        "copy": copy,
        "copyLabel": copy_label or _("Copy answer"),
        "words": {
            "copied": _("Copied"),
            "noCopy": _("The browser did not allow copying"),
            "source": _("Source"),
            "compared": _("Compared with"),
            "table": _("Table"),
        },
        "small": small,
    }
    _COMPONENT(
        key=key,
        data=data,
        on_cite_change=lambda: handle("cite", on_cite),
        on_toggle_change=lambda: handle("toggle", on_toggle),
    )
