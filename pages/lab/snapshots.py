"""One question as of two snapshots, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.lab.explained import list_conditions
from pages.shared import keys
from pages.shared.nodes import build_marked_text
from pages.shared.problems import show_errors
from pages.shared.richtext import show_richtext
from pages.shared.text import escape_markdown
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.answers import AnswerState
from rag_core.types.conversations import Scope
from rag_core.types.documents import DocumentInfo
from rag_core.types.snapshots import SnapshotComparison, SnapshotSide

_PRESENT = ""
_PREVIEW = 400


def show_snapshot_comparison(engine: Engine, documents: Sequence[DocumentInfo], question: str, scope: Scope) -> None:
    """Let the reader compare two snapshots, and show the answers and passages of both; nothing without snapshots."""
    labels = {one.name: one.label for one in engine.snapshots.list()}
    if not labels:
        return
    st.header(_("Then and now"), anchor=False)
    st.caption(_("The same question, asked of two snapshots of the documents. What only one side has is marked."))

    def choose(label: str, place: int) -> str:
        return str(
            st.selectbox(
                label,
                [*labels, _PRESENT],
                index=place,
                key=f"lab_snapshot_{place == 0}",
                format_func=lambda one: labels.get(one, _("Documents as they are now")),
            )
        )

    left, right = st.columns(2)
    with left:
        first = choose(_("First snapshot"), 0)
    with right:
        second = choose(_("Second snapshot"), len(labels))
    signature = (question, scope, first, second, list_conditions(engine, documents))
    if st.button(_("Compare"), icon=":material/compare_arrows:", key="lab_compare_snapshots"):
        with st.spinner(_("Asking twice")), show_errors():
            compared = engine.snapshot_comparisons.compare(
                question, first, second, documents=scope.documents, collections=scope.collections
            )
            st.session_state[keys.LAB_SNAPSHOTS] = (signature, compared)
    kept = st.session_state.get(keys.LAB_SNAPSHOTS)
    if kept and kept[0] == signature:
        _show_comparison(kept[1])


def _show_comparison(compared: SnapshotComparison) -> None:
    if compared.is_same:
        st.info(_("Both have the same answer and the same passages."), icon=":material/check:")
    for column, side in zip(st.columns(2), (compared.first, compared.second), strict=True):
        with column:
            _show_side(side, "first" if side is compared.first else "second")


def _show_side(side: SnapshotSide, key: str) -> None:
    answer = side.answer
    title = _("As of {label}", label=side.as_of) if side.as_of else _("Documents as they are now")
    st.markdown(f"**{escape_markdown(title)}**")
    state = _("Answer") if answer.state is AnswerState.ANSWERED else _("Refused")
    with st.container(border=True):
        st.caption(state)
        show_richtext(build_marked_text(side.text, side.own_words), key=f"lab_snapshot_answer_{key}")
    for passage in answer.passages:
        only = passage.chunk_id in side.own_passages
        with st.container(border=True):
            marker = _(" · :material/difference: only on this side")
            where = f"[{passage.rank}] {passage.document} · {_('p. {page}', page=passage.page_label)}"
            st.caption(f"{escape_markdown(where)}{marker if only else ''}")
            text = passage.text if len(passage.text) <= _PREVIEW else f"{passage.text[:_PREVIEW]}…"
            marked = build_marked_text(text, side.own_passages.get(passage.chunk_id, ()))
            show_richtext(marked, key=f"lab_snapshot_{key}_{passage.rank}", small=True)
