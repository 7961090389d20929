"""The form for writing a labelled question."""

from __future__ import annotations

import streamlit as st

from pages.shared.library import find_searchable
from pages.shared.problems import show_errors
from pages.shared.translation import N_, _
from rag_core.engine import Engine
from rag_core.types.evaluation import LabelKind, LabelledPage
from rag_core.types.searches import MAX_QUESTION_CHARS

_TEXT_FIELDS = ("question", "page", "quote", "stale_page", "answer")
_ANSWERED, _UNANSWERED = N_("Yes"), N_("No")


def show_label_form(engine: Engine) -> None:
    """Show the form for a question and the page that answers it; a question without an answer needs no page."""
    names = list(dict.fromkeys(one.name for one in find_searchable(engine.documents.list())))
    with (
        st.expander(_("Write a question"), icon=":material/edit_note:", key="write_label"),
        st.form("label", border=False),
    ):
        st.text_input(_("Question"), max_chars=MAX_QUESTION_CHARS, key="label_question")
        st.radio(
            _("Do the documents answer it?"), [_ANSWERED, _UNANSWERED], format_func=_, horizontal=True, key="label_kind"
        )
        st.selectbox(
            _("Document"),
            names,
            index=None,
            placeholder=_("The document that answers it"),
            key="label_document",
        )
        with st.container(horizontal=True):
            st.text_input(_("Page number, as printed"), key="label_page")
            st.text_input(_("Or words on the page"), key="label_quote")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox(
                _("Outdated document (optional)"),
                names,
                index=None,
                placeholder=_("Its answer no longer holds"),
                key="label_stale_document",
                help=_("Evaluate then says whether this page outweighs the one that answers the question."),
            )
            st.text_input(_("Its page number"), key="label_stale_page")
        st.text_input(_("Answer (optional): words that a right answer contains"), key="label_answer")
        st.form_submit_button(_("Save question"), type="primary", key="label_keep", on_click=_save_label, args=[engine])


def _save_label(engine: Engine) -> None:
    """Save the label and empty the form; if the label is invalid, show why and keep the form."""
    typed = {name: str(st.session_state[f"label_{name}"] or "").strip() for name in _TEXT_FIELDS}
    answered = st.session_state["label_kind"] == _ANSWERED
    document, stale = st.session_state["label_document"], st.session_state["label_stale_document"]
    evidence = []
    if answered and document:
        evidence.append(LabelledPage(document, page=typed["page"], quote="" if typed["page"] else typed["quote"]))
    if answered and stale:
        evidence.append(LabelledPage(stale, page=typed["stale_page"], state="stale"))
    with show_errors():
        engine.labels.add(
            typed["question"],
            kind=LabelKind.ANSWERABLE if answered else LabelKind.NO_ANSWER,
            evidence=evidence,
            answers=[typed["answer"]] if answered and typed["answer"] else [],
        )
        st.session_state.update({f"label_{name}": "" for name in typed})
        st.session_state["label_document"] = st.session_state["label_stale_document"] = None
