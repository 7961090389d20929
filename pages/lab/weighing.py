"""How much each passage would count in an answer, and whether the right one does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time

import pandas as pd
import streamlit as st

from pages.lab.marks import SHOWN, Mark
from pages.lab.verdicts import percent, sentence
from pages.lab.weight_chart import weight_chart
from pages.shared import keys
from pages.shared.text import plain
from rag_core.engine import Engine
from rag_core.types import Explanation, WeightedPassage, WeightingConfig

NOT_HERE = "none"
_TEMPERATURES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


def weighing(engine: Engine, explanation: Explanation, marks: Mapping[str, Mark]) -> None:
    """Let the reader weigh the passages; only this part is drawn anew when a slider moves."""
    st.subheader("What a reader would weigh", anchor=False)
    st.caption(
        "A model reads the first passages at once, and the higher a score, the more it counts. So the right passage "
        "can be found and still not make the answer."
    )
    _part(engine, explanation, marks)


def right_passage() -> str | None:
    """Chunk id of the passage that the reader, or a label, says is right; `NOT_HERE` for none of them."""
    # The drawer cannot set it itself: it is drawn after the widget of that key.
    if keys.LAB_MARKED in st.session_state:
        st.session_state[keys.LAB_RIGHT] = st.session_state.pop(keys.LAB_MARKED)
    right: str | None = st.session_state.get(keys.LAB_RIGHT)
    return right


@st.fragment
def _part(engine: Engine, explanation: Explanation, marks: Mapping[str, Mark]) -> None:
    side, main = st.columns([1, 2], gap="large")
    with side:
        weighting = _sliders(min(SHOWN, engine.preferences.top_k))
        dated = _dates(explanation)
    with main:
        weighed = engine.explanations.weight_passages(dated, weighting)
        if not weighed:
            st.info("No passage has a rerank score to be weighed by.", icon=":material/info:")
            return
        _evidence(engine, weighed, weighting.k, marks)
        weight_chart(weighed[: max(SHOWN, weighting.k)], marks)


def _sliders(k: int) -> WeightingConfig:
    seed = st.session_state.setdefault(keys.LAB_SEED, 0)
    values = WeightingConfig(
        k=st.slider("Passages read, k", 1, SHOWN, k, key="lab_k"),
        temperature=st.select_slider(
            "Temperature, τ",
            _TEMPERATURES,
            WeightingConfig().temperature,
            key="lab_temperature",
            help="Low: the best score takes nearly all. High: every passage that is read counts the same.",
        ),
        decay=st.slider(
            "Freshness, λ",
            0.0,
            0.5,
            0.0,
            0.01,
            key="lab_decay",
            help="Added to the score of a passage from a new document; half of it a year later, and so on.",
        ),
        noise=st.slider(
            "Noise", 0.0, 0.2, 0.0, 0.01, key="lab_noise", help="Standard deviation of what chance adds to a score."
        ),
        seed=seed,
    )
    if st.button("Draw the noise again", icon=":material/casino:", key="lab_draw", disabled=not values.noise):
        st.session_state[keys.LAB_SEED] = seed + 1
        return replace(values, seed=seed + 1)
    return values


def _dates(explanation: Explanation) -> Explanation:
    """The explanation with the dates that the reader gave its documents."""
    names = {one.document_id: one.document for one in explanation.passages}
    given = pd.DataFrame(
        [(added.date(), names[identity]) for identity, added in explanation.added_at.items()],
        # The date first: beside the chart there is hardly room for more than it.
        columns=["Date", "Document"],
        index=list(explanation.added_at),
    )
    with st.expander("Dates of the documents"):
        st.caption("The day each was added. Change one to see what freshness does; nothing is stored.")
        dates = st.data_editor(
            given,
            hide_index=True,
            key="lab_dates",
            disabled=["Document"],
            column_config={"Date": st.column_config.DateColumn(required=True, width="small")},
            alt="Dates of the documents",
        )
    return dated(explanation, {str(identity): date for identity, date in dates["Date"].items()})


def dated(explanation: Explanation, dates: Mapping[str, date]) -> Explanation:
    """The explanation with other dates, by document id; a day that did not change keeps its hour."""
    changed = {
        identity: datetime.combine(day, time(), UTC)
        for identity, day in dates.items()
        if day != explanation.added_at[identity].date()
    }
    return replace(explanation, added_at={**explanation.added_at, **changed})


def _evidence(engine: Engine, weighed: Sequence[WeightedPassage], k: int, marks: Mapping[str, Mark]) -> None:
    right = st.selectbox(
        "Which passage is right?",
        [*marks, NOT_HERE],
        index=None,
        key=keys.LAB_RIGHT,
        format_func=lambda one: f"{marks[one].letter} · {marks[one].where}" if one in marks else "None of these",
        placeholder="Choose the passage that answers the question",
    )
    if right is None:
        return
    found = engine.explanations.evidence_mass(weighed, k, None if right == NOT_HERE else right)
    rival = next((one for one in weighed if one.candidate.chunk_id == found.rival), None)
    name = marks[found.rival].letter if found.rival is not None and found.rival in marks else "another passage"
    covered, mass = st.columns(2)
    place = "" if found.rank is None else f", rank {found.rank}"
    covered.metric("Coverage", f"read{place}" if found.covered else f"not read{place}")
    mass.metric("Evidence mass", percent(found.mass))
    st.markdown(plain(sentence(found, k, name, rival.weight if rival else 0.0)))
