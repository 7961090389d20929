"""The content of a new chat."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.chat.connecting import offer_model
from pages.chat.questions import ask_first
from pages.shared.backend import Backend
from pages.shared.jobs import track_jobs
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from pages.shared.uploads import show_uploader
from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo
from rag_core.types.formatting import format_count


def show_welcome(back: Backend, documents: Sequence[DocumentInfo]) -> None:
    """Explain what Footnote does, and what the reader can do first."""
    st.title("Ask your documents", anchor=False)
    if not documents:
        _empty(back)
        offer_model(back)
        return
    pages = sum(one.pages for one in documents)
    st.markdown(
        f"{format_count(len(documents), 'document')}, {format_count(pages, 'page')}. Each sentence of an answer shows "
        "the page it comes from. If the documents do not contain the answer, Footnote says so."
    )
    if len(documents) == 1 and "guide" in documents[0].name.lower():
        _examples(back)
    offer_model(back)


def _empty(back: Backend) -> None:
    formats = back.engine.formats.plurals
    st.markdown(f"Footnote answers questions from your {formats} and shows the page that each sentence comes from.")
    show_uploader(back.engine)
    st.caption(_place(back.engine))
    st.button(
        "Try it with the guide",
        icon=":material/menu_book:",
        key="add_guide",
        on_click=_add_guide,
        args=[back],
        disabled=bool(back.engine.jobs.list(active=True)),
    )


def _place(engine: Engine) -> str:
    """Say where documents are kept, and whether their text is sent elsewhere for answers."""
    host = engine.models.find_host(engine.models.endpoint)
    if host is None or host.is_this_machine:
        return "They stay on this computer."
    return f"They are kept on this computer. Passages that answer a question are sent to {escape_markdown(host.name)}."


def _add_guide(back: Backend) -> None:
    with show_errors():
        track_jobs([back.engine.documents.add_guide()])


def _examples(back: Backend) -> None:
    st.caption("For example")
    for number, question in enumerate(back.engine.GUIDE_QUESTIONS):
        st.button(
            escape_markdown(question),
            key=f"example_{number}",
            icon=":material/chat:",
            on_click=ask_first,
            args=[back, question],
        )
