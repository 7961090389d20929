"""Ask the reader what to do with a new file if a document has the same name but other content."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages.shared import keys
from pages.shared.jobs import submit_file
from pages.shared.text import escape_markdown
from pages.shared.translation import N_, _
from rag_core.engine import Engine
from rag_core.types.documents import SameName
from rag_core.types.jobs import Job

OnAdded = Callable[[Sequence[Job]], object]
_CHOICES: dict[str, SameName | None] = {N_("Replace"): "replace", N_("Keep both"): "keep", N_("Skip this file"): None}


def ask_about_clashes(engine: Engine, on_added: OnAdded | None = None) -> None:
    """Ask about each file that waits for a decision; call ``on_added`` with the job of each file that is added."""
    for number, (name, *_rest) in st.session_state.get(keys.CLASHES, {}).items():
        with st.container(border=True):
            st.markdown(
                _(
                    ":material/content_copy: The library has a document **{name}** with other content. Replace it or "
                    "keep both?",
                    name=escape_markdown(name),
                )
            )
            with st.container(horizontal=True, gap="small"):
                for label, choice in _CHOICES.items():
                    st.button(
                        _(label),
                        key=f"clash_{choice or 'drop'}_{number}",
                        on_click=_resolve_clash,
                        args=[engine, number, choice, on_added],
                    )


def _resolve_clash(engine: Engine, number: int, choice: SameName | None, on_added: OnAdded | None) -> None:
    # If the reader clicks twice, the file no longer waits at the second click, so nothing happens.
    file = st.session_state[keys.CLASHES].pop(number, None)
    if file and choice:
        jobs = submit_file(engine, *file, on_same_name=choice)
        if on_added:
            on_added(jobs)
