"""Add the question of an answer to the labelled questions that the Evaluate page uses."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared.dialogs import close_dialog, offer_dialog
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown, name_page
from pages.shared.translation import N_, _
from rag_core.engine import Engine
from rag_core.types.answers import Answer, AnswerState, Citation
from rag_core.types.evaluation import LabelledPage
from rag_core.types.retrieval import Passage

_TITLE = N_("Add to my test set")
_STATED, _NOT_STATED = N_("On these pages"), N_("Not stated in the documents")


def offer_label(engine: Engine, message_id: str, answer: Answer) -> None:
    """Show a button that opens a form for the label of an answer's question."""
    offer_dialog(_(_TITLE), ":material/playlist_add:", f"label_{message_id}", _show_form, engine, message_id, answer)


def _show_form(engine: Engine, message_id: str, answer: Answer) -> None:
    st.text(answer.question)
    cited = [(one.document, one.page_index) for one in answer.citations]
    shown: Sequence[Passage | Citation] = (*answer.passages, *answer.citations)
    names = {(one.document, one.page_index): name_page(one.document, one.page_label) for one in shown}
    is_stated = st.radio(
        _("Where is the right answer?"),
        [_STATED, _NOT_STATED],
        format_func=_,
        index=int(answer.state is AnswerState.ABSTAINED),
        key=f"label_kind_{message_id}",
    )
    pages: list[tuple[str, int]] = []
    if is_stated == _STATED:
        pages = st.multiselect(
            _("Pages with the right answer"),
            list(names),
            # Excerpts come from different places and make no claim, so only the first one is suggested.
            default=list(dict.fromkeys(cited[:1] if answer.consists_of_excerpts else cited)),
            format_func=lambda one: names[one],
            placeholder=_("Choose the pages"),
            key=f"label_pages_{message_id}",
        )
    st.caption(_("Evaluate asks the questions of your test set, and says which are answered right."))

    def save() -> None:
        with show_errors():
            engine.labels.label_answer(message_id, [LabelledPage(*one) for one in pages])
            close_dialog()
            st.toast(
                _("In your test set: {question}", question=escape_markdown(answer.question)), icon=":material/check:"
            )

    can_save = bool(pages) or is_stated == _NOT_STATED
    if st.button(_("Add"), type="primary", key=f"label_save_{message_id}", disabled=not can_save, on_click=save):
        st.rerun()
