"""The content of a new chat."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.chat.cards import list_questions, show_questions
from pages.shared.backend import Backend
from pages.shared.jobs import track_jobs
from pages.shared.problems import show_errors
from pages.shared.text import count_documents, count_pages, escape_markdown
from pages.shared.translation import _
from pages.shared.uploads import show_uploader
from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo

# Number of documents whose questions a new chat shows.
_SHOWN = 3


def show_welcome(back: Backend, documents: Sequence[DocumentInfo]) -> None:
    """Explain what Footnote does, and what the reader can do first."""
    st.title(_("Ask your documents"), anchor=False)
    if not documents:
        _show_empty_library(back)
        return
    pages = sum(one.pages for one in documents)
    st.markdown(
        _(
            "{documents}, {pages}. Each sentence of an answer shows the page it comes from. If the documents do not "
            "contain the answer, Footnote says so.",
            documents=count_documents(len(documents)),
            pages=count_pages(pages),
        )
    )


def _show_empty_library(back: Backend) -> None:
    st.markdown(
        _(
            "Footnote answers questions from your documents and shows the page that each sentence comes from. Drop "
            "files anywhere on this page."
        )
    )
    show_uploader(back.engine)
    st.caption(_describe_storage(back.engine))
    st.button(
        _("Try it with the guide"),
        icon=":material/menu_book:",
        key="add_guide",
        on_click=_add_guide,
        args=[back],
        disabled=bool(back.engine.jobs.list(active=True)),
    )


def _describe_storage(engine: Engine) -> str:
    """Say where documents are kept, and whether their text is sent elsewhere for answers."""
    host = engine.models.find_host(engine.models.endpoint)
    if host is None or host.is_this_machine:
        return _("They stay on this computer.")
    return _(
        "They are kept on this computer. Passages that answer a question are sent to {name}.",
        name=escape_markdown(host.name),
    )


def _add_guide(back: Backend) -> None:
    with show_errors():
        track_jobs([back.engine.documents.add_guide()])


def show_examples(back: Backend, documents: Sequence[DocumentInfo]) -> None:
    """Show questions that the newest documents answer."""
    newest = sorted(documents, key=lambda one: one.added_at, reverse=True)[:_SHOWN]
    cards = back.engine.cards.find([one.document_id for one in newest])
    for document in newest:
        if questions := list_questions(back, document, cards.get(document.document_id)):
            with st.container(gap="xsmall"):
                st.caption(escape_markdown(_("{name} answers, for example", name=document.name)))
                show_questions(back, document, questions)
