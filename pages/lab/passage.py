"""The drawer of a passage: its rank in every stage, and the words that match the question."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.lab.labels import save_label
from pages.lab.marks import Mark
from pages.lab.matches import show_token_matches
from pages.shared import keys
from pages.shared.problems import show_errors
from pages.shared.richtext import show_richtext
from pages.shared.scores import build_score_bars
from pages.shared.text import escape_markdown
from pages.shared.translation import _, format_number
from rag_core.engine import Engine
from rag_core.types.explanations import Explanation, TokenMatches

_WIDTH = 640


def open_passage_drawer(engine: Engine, explanation: Explanation, marks: Mapping[str, Mark]) -> None:
    """Open the drawer of the passage that the reader has clicked, if there is one."""
    mark = marks.get(st.session_state.pop(keys.LAB_OPEN, ""))
    if mark is not None:
        st.session_state[keys.DIALOG_OPEN] = True
        drawer = st.dialog(
            _("Passage {letter}", letter=mark.letter), width=_WIDTH, position="right", icon=":material/search_insights:"
        )
        drawer(_show_drawer)(engine, explanation, mark)


def _show_drawer(engine: Engine, explanation: Explanation, mark: Mark) -> None:
    passage = mark.passage
    st.markdown(f"**{escape_markdown(passage.document)}** · {_('p. {page}', page=escape_markdown(passage.page_label))}")
    ranks = [
        f"{stage.name} {stage.ranks[int(passage.chunk_id)]}"
        for stage in explanation.stages
        if int(passage.chunk_id) in stage.ranks
    ]
    st.caption(_("Rank in {ranks}", ranks=", ".join(ranks)))
    is_labelled = (passage.document_id, passage.page_index) in engine.labels.find_pages(explanation.question)
    st.button(
        _("Mark as right"),
        icon=":material/check:",
        key="lab_right_passage",
        disabled=is_labelled,
        help=_("The question is in your test set with this page.")
        if is_labelled
        else _("Add the question with this page to your test set (Evaluate)."),
        on_click=save_label,
        args=[engine, explanation, passage],
    )
    if keys.LAB_MARKED in st.session_state:
        # Rerun the whole page, because the weights on the page depend on the right passage. The rerun also closes the
        # drawer.
        st.rerun()
    with show_errors():
        _show_matches(engine.explanations.token_matches(explanation.question, passage.chunk_id))
    show_richtext(
        [build_score_bars(passage, explanation.passages, explanation.gate)], key="lab_passage_scores", small=True
    )


def _show_matches(matches: TokenMatches) -> None:
    if not matches.matches:
        st.info(_("This passage cannot be compared word by word."), icon=":material/info:")
        return
    st.caption(
        _(
            "Each word of the question is compared with the most similar word of the passage; rare words "
            "weigh more. The sum of weight times similarity is {whole}. Together with the best sentence of "
            "the passage, at half the weight, the score is {score}. The document's name, the heading and the "
            "table header are compared too.",
            whole=format_number(matches.whole, 2),
            score=format_number(matches.score, 2),
        )
    )
    show_token_matches(matches, key="lab_matches")
