"""The choice of labelled questions and configurations."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.evaluate.label_format import show_label_format
from pages.evaluate.pseudo_questions import show_pseudo_questions
from pages.evaluate.writing import show_label_form
from pages.shared.problems import show_errors
from pages.shared.stages import format_stage
from pages.shared.strategies import STRATEGY_NAMES, list_strategies
from pages.shared.text import escape_markdown
from rag_core.engine import Engine
from rag_core.types import Baseline, Label, LabelKind, RetrievalConfig, format_count

_APP, _FILE = "From the app", "From a file"
_CHOICES: dict[str, RetrievalConfig | Baseline] = {
    "As in the chat": RetrievalConfig(),
    **{
        format_stage(one): RetrievalConfig(one)
        for one in ("cross_encoder", "named", "financials", "rerank", "rrf", "bm25", "sparse", "dense")
    },
    "Themes, local search only (themes)": RetrievalConfig(strategy="themes"),
    "With the query adapter": RetrievalConfig(adapter=True),
    "Without the query adapter": RetrievalConfig(adapter=False),
    "Textbook tf-idf (rankings only)": Baseline("tf-idf"),
    "Textbook BM25 (rankings only)": Baseline("bm25"),
}
_WITHOUT_MODEL = ("plain", "summary", "themes")


def choose_labels(engine: Engine) -> tuple[str, Sequence[Label]]:
    """Let the reader choose a source of labelled questions; return the name of the source and the labels."""
    app_labels = engine.labels.list()
    source = st.segmented_control(
        "Labelled questions",
        [_APP, _FILE],
        default=_APP if app_labels else _FILE,
        required=True,
        format_func=lambda one: f"{one} ({len(app_labels):,})" if one == _APP else one,
        key="labels_from",
    )
    if source == _APP:
        show_label_form(engine)
        show_pseudo_questions(engine, app_labels)
        _made_in_app(engine, app_labels)
        return "labels from the app", app_labels
    file = st.file_uploader("Questions with their pages or answers", type=["jsonl", "json", "csv"], key="labels_file")
    if file is None:
        show_label_format()
        return "", []
    with show_errors():
        labels = engine.labels.parse_file(file.name, file.getvalue())
        st.caption(_summary(labels))
        return file.name, labels
    return file.name, []


def choose_configurations(engine: Engine) -> list[RetrievalConfig | Baseline]:
    """Let the reader choose one configuration to measure, two to compare, or all methods for one table."""
    if st.toggle(
        "All retrieval methods in one table",
        key="all_methods",
        help="Measures the textbook rankers, each retriever, their fusion and the rerankers, one after another.",
    ):
        with st.container(horizontal=True):
            k = st.number_input("BM25 k", 0.0, 10.0, 1.2, 0.1, key="bm25_k", help="Saturation of the term frequency")
            b = st.number_input("BM25 b", 0.0, 1.0, 0.75, 0.05, key="bm25_b", help="Length normalization")
        methods = list(engine.evaluations.list_methods(k, b))
        st.caption(escape_markdown(f"{len(methods)} methods: {'; '.join(one.label for one in methods)}."))
        return methods
    strategies = [one for one in list_strategies(engine, engine.models.current) if one not in _WITHOUT_MODEL]
    choices = _CHOICES | {
        f"{STRATEGY_NAMES[one]} (uses the model)": RetrievalConfig(strategy=one) for one in strategies
    }
    if not engine.learning.has_adapter:
        choices = {name: one for name, one in choices.items() if "query adapter" not in name}
    names = st.multiselect(
        "What to measure",
        list(choices),
        default=next(iter(choices)),
        max_selections=2,
        placeholder="Choose one, or two to compare",
        help="Themes are measured by their local search, around the entities of a question. Build them first.",
        key="configurations",
    )
    return [choices[name] for name in names]


def _made_in_app(engine: Engine, labels: Sequence[Label]) -> None:
    if not labels:
        st.info(
            "None yet. Write a label above. You can also rate an answer in the chat as good, or mark one of its "
            "passages as right: its question and page then become a label.",
            icon=":material/info:",
        )
        return
    with st.expander(_summary(labels), type="compact", key="made_labels"):
        event = st.dataframe(
            pd.DataFrame(
                [(one.question, _answered_by(one), "pseudo-question" if one.is_pseudo else "") for one in labels],
                columns=["Question", "Answered by", "Kind"],
            ),
            hide_index=True,
            on_select="rerun",
            selection_mode="multi-row",
            key=f"labels_{len(labels)}_{labels[-1].label_id}",
            alt="Labels from the app",
        )
        chosen = [labels[row].label_id for row in event.selection.rows if row < len(labels)]
        st.button(
            f"Remove {format_count(len(chosen), 'label')}" if chosen else "Remove",
            icon=":material/delete:",
            disabled=not chosen,
            key="remove_labels",
            on_click=_remove,
            args=[engine, chosen],
        )


def _remove(engine: Engine, label_ids: Sequence[str]) -> None:
    with show_errors():
        for label_id in label_ids:
            engine.labels.remove(label_id)


def _answered_by(label: Label) -> str:
    if label.kind is not LabelKind.ANSWERABLE:
        return "nothing in the documents"
    pages = [
        f"{one.document}, page {one.page or (one.page_index or 0) + 1}" if not one.quote else one.document
        for one in label.evidence
    ]
    return "; ".join([*pages, *label.answers])


def _summary(labels: Sequence[Label]) -> str:
    without = sum(one.kind is not LabelKind.ANSWERABLE for one in labels)
    pseudo = sum(one.is_pseudo for one in labels)
    return escape_markdown(
        f"{format_count(len(labels), 'question')}, {without:,} of them without an answer in the documents"
        + (f", {pseudo:,} of them pseudo-questions" if pseudo else "")
    )
