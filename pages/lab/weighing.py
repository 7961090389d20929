"""The weight that each passage would have in an answer, and whether the right passage has the most weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import pandas as pd
import streamlit as st

from pages.lab.marginal import show_marginal_answers
from pages.lab.marks import SHOWN, Mark
from pages.lab.mixture import show_mixture
from pages.lab.sliders import choose_weighting
from pages.lab.verdicts import describe_case, show_share
from pages.lab.weight_chart import show_weight_chart
from pages.shared import keys
from pages.shared.text import escape_markdown, get_reader_zone
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.explanations import Explanation, WeightedPassage, WeightingConfig
from rag_core.types.local_time import compute_start_of_day, to_local_time

# The choice that no passage is right.
NOT_HERE = "none"


def show_weights(engine: Engine, explanation: Explanation, marks: Mapping[str, Mark]) -> None:
    """Show the weights of the passages, with sliders. Moving a slider reruns only this part of the page."""
    st.header(
        _("How much each passage counts"),
        anchor=False,
        help=_("The weight p(d|x) of each passage d for the question x: a softmax of the scores."),
    )
    st.caption(
        _(
            "A model reads the first passages together, and those with a higher score count more. So the "
            "right passage can be found and still have little effect on the answer. Say which passage is "
            "right to see how much it counts."
        )
    )
    _show_weighing(engine, explanation, marks)


def get_right_passage() -> str | None:
    """Return the chunk id of the passage that the reader or a label marks as right.

    Return `NOT_HERE` if the reader has chosen that no passage is right, and ``None`` if nothing is marked.
    """
    # The drawer sets `LAB_MARKED`. Its value moves to `LAB_RIGHT` here, because Streamlit does not allow the state of a
    # widget to be set after the widget was drawn in the same run.
    if keys.LAB_MARKED in st.session_state:
        st.session_state[keys.LAB_RIGHT] = st.session_state.pop(keys.LAB_MARKED)
    right: str | None = st.session_state.get(keys.LAB_RIGHT)
    return right


@st.fragment
def _show_weighing(engine: Engine, explanation: Explanation, marks: Mapping[str, Mark]) -> None:
    side, main = st.columns([1, 2], gap="large")
    with side:
        weighting = choose_weighting(WeightingConfig(k=min(SHOWN, engine.preferences.top_k)), SHOWN)
        dated = _edit_dates(explanation)
    with main:
        weighed = engine.explanations.weight_passages(dated, weighting)
        if not weighed:
            st.info(
                _("No passage was compared with the question word by word (rerank), so none has a weight."),
                icon=":material/info:",
            )
            return
        _show_evidence(engine, weighed, weighting.k, marks)
        show_weight_chart(weighed[: max(SHOWN, weighting.k)], marks)
    show_mixture(engine, explanation, weighed, get_right_passage(), marks)
    show_marginal_answers(engine, explanation, weighed, marks)


def _edit_dates(explanation: Explanation) -> Explanation:
    """Let the reader change the dates of documents; return the explanation with the changed dates."""
    names = {one.document_id: one.document for one in explanation.passages}
    zone = get_reader_zone()
    given = pd.DataFrame(
        [
            (to_local_time(added, zone).date(), names[document_id])
            for document_id, added in explanation.added_at.items()
        ],
        # The date is the first column, so that it is visible in the narrow space next to the chart.
        columns=["Date", "Document"],
        index=list(explanation.added_at),
    )
    with st.expander(_("Dates of the documents")):
        st.caption(_("The day each was added. Change a date to see what it changes; nothing is stored."))
        dates = st.data_editor(
            given,
            hide_index=True,
            key="lab_dates",
            disabled=["Document"],
            column_config={
                "Date": st.column_config.DateColumn(_("Date"), required=True, width="small"),
                "Document": st.column_config.TextColumn(_("Document")),
            },
            alt=_("Dates of the documents"),
        )
    return replace_dates(explanation, {str(document_id): date for document_id, date in dates["Date"].items()})


def replace_dates(explanation: Explanation, dates: Mapping[str, date]) -> Explanation:
    """Return the explanation with other dates of documents.

    ``dates`` maps document ids to days in the reader's time zone. A changed day becomes the start of that day; an
    unchanged day keeps the time at which the document was added.
    """
    zone = get_reader_zone()
    changed = {
        document_id: compute_start_of_day(day, zone)
        for document_id, day in dates.items()
        if day != to_local_time(explanation.added_at[document_id], zone).date()
    }
    return replace(explanation, added_at={**explanation.added_at, **changed})


def _show_evidence(engine: Engine, weighed: Sequence[WeightedPassage], k: int, marks: Mapping[str, Mark]) -> None:
    right = st.selectbox(
        _("Which passage is right?"),
        [*marks, NOT_HERE],
        index=None,
        key=keys.LAB_RIGHT,
        format_func=lambda one: f"{marks[one].letter} · {marks[one].where}" if one in marks else _("None of these"),
        placeholder=_("Choose the passage that answers the question"),
    )
    if right is None:
        return
    evidence = engine.explanations.evidence_mass(weighed, k, None if right == NOT_HERE else right)
    rival = next((one for one in weighed if one.candidate.chunk_id == evidence.rival), None)
    name = (
        marks[evidence.rival].letter if evidence.rival is not None and evidence.rival in marks else _("another passage")
    )
    place = "" if evidence.rank is None else _(", rank {rank}", rank=evidence.rank)
    show_share(_("read{place}", place=place) if evidence.covered else _("not read{place}", place=place), evidence.mass)
    st.markdown(escape_markdown(describe_case(evidence, k, name, rival.weight if rival else 0.0)))
