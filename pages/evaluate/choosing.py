"""The choice of labelled questions and configurations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
import streamlit as st

from pages.evaluate.label_format import show_label_format
from pages.evaluate.pseudo_questions import show_pseudo_questions
from pages.evaluate.writing import show_label_form
from pages.shared.problems import show_errors
from pages.shared.text import count_questions, escape_markdown
from pages.shared.translation import N_, _, format_number, translate_message
from rag_core.engine import Engine
from rag_core.stages import SCORE_LABELS
from rag_core.types.evaluation import Baseline, ConfigurationChoice, Label, LabelKind
from rag_core.types.retrieval import RetrievalConfig

_APP, _FILE = N_("My test set"), N_("From a file")


def choose_labels(engine: Engine) -> tuple[str, Sequence[Label]]:
    """Let the reader choose a source of labelled questions; return the name of the source and the labels.

    The labels are empty if there are none or if the file cannot be read. If no file is chosen, the name is empty, too.
    """
    st.caption(_("Ask questions whose answers you know, and see how often Footnote finds and answers them."))
    app_labels = engine.labels.list()
    source = st.segmented_control(
        _("Questions with known answers"),
        [_APP, _FILE],
        default=_APP if app_labels else _FILE,
        required=True,
        format_func=lambda one: f"{_(one)} ({format_number(len(app_labels))})" if one == _APP else _(one),
        key="labels_from",
    )
    if source == _APP:
        show_label_form(engine)
        show_pseudo_questions(engine, app_labels)
        _show_app_labels(engine, app_labels)
        return "labels from the app", app_labels
    file = st.file_uploader(
        _("Questions, with their pages or answers"), type=["jsonl", "json", "csv"], key="labels_file"
    )
    if file is None:
        show_label_format()
        return "", []
    with show_errors():
        labels = engine.labels.parse_file(file.name, file.getvalue())
        st.caption(_summarize_labels(labels))
        return file.name, labels
    return file.name, []


def choose_configurations(engine: Engine) -> list[RetrievalConfig | Baseline]:
    """Let the reader choose what to measure: at most two configurations, or all methods for one table. Return them."""
    if st.toggle(
        _("Compare all ways to search in one table"),
        key="all_methods",
        help=_("Measures two textbook methods, each kind of search, all of them merged, and the later steps, in turn."),
    ):
        with st.container(horizontal=True):
            k = st.number_input(
                _("BM25 k"), 0.0, 10.0, 1.2, 0.1, key="bm25_k", help=_("Saturation of the term frequency")
            )
            b = st.number_input(_("BM25 b"), 0.0, 1.0, 0.75, 0.05, key="bm25_b", help=_("Length normalization"))
        methods = list(engine.evaluations.list_methods(k, b))
        st.caption(
            escape_markdown(
                _(
                    "{number} methods: {names}.",
                    number=len(methods),
                    names="; ".join(translate_message(one.label) for one in methods),
                )
            )
        )
        return methods
    choices = {_name_choice(one): one.configuration for one in _list_choices(engine)}
    names = st.multiselect(
        _("What to measure"),
        list(choices),
        default=next(iter(choices)),
        max_selections=2,
        placeholder=_("Choose one, or two to compare"),
        help=_("Themes can be measured as soon as they are built on the Themes page."),
        key="configurations",
    )
    return [choices[name] for name in names]


def _list_choices(engine: Engine) -> Iterator[ConfigurationChoice]:
    """Yield the configurations that can be measured with the current model, themes and adapter."""
    usable = {one.name for one in engine.strategies.list_usable(engine.models.current)}
    for choice in engine.evaluations.list_choices():
        needs_adapter = isinstance(choice.configuration, RetrievalConfig) and choice.configuration.adapter is not None
        is_strategy = choice.strategy is not None
        if (engine.learning.has_adapter or not needs_adapter) and (not is_strategy or choice.name in usable):
            yield choice


def _name_choice(choice: ConfigurationChoice) -> str:
    if choice.stage:
        label = translate_message(SCORE_LABELS[choice.stage])
        return f"{label[0].upper()}{label[1:]} ({choice.stage})"
    if choice.strategy:
        how = _("uses the model") if choice.strategy.uses_model else choice.name
        return f"{translate_message(choice.strategy.label)} ({how})"
    return translate_message(choice.label)


def _show_app_labels(engine: Engine, labels: Sequence[Label]) -> None:
    if not labels:
        st.info(
            _("None yet. Write a question above, or choose “Add to my test set” below an answer in the chat."),
            icon=":material/info:",
        )
        return
    with st.expander(_summarize_labels(labels), type="compact", key="made_labels"):
        event = st.dataframe(
            pd.DataFrame(
                [
                    (one.question, _describe_answer(one), _("made from a document") if one.is_pseudo else "")
                    for one in labels
                ],
                columns=[_("Question"), _("Right answer"), _("Kind")],
            ),
            hide_index=True,
            on_select="rerun",
            selection_mode="multi-row",
            key=f"labels_{len(labels)}_{labels[-1].label_id}",
            alt=_("My test set"),
        )
        chosen = [labels[row].label_id for row in event.selection.rows if row < len(labels)]
        st.button(
            _("Remove {questions}", questions=count_questions(len(chosen))) if chosen else _("Remove"),
            icon=":material/delete:",
            disabled=not chosen,
            key="remove_labels",
            on_click=_remove_labels,
            args=[engine, chosen],
        )


def _remove_labels(engine: Engine, label_ids: Sequence[str]) -> None:
    with show_errors():
        for label_id in label_ids:
            engine.labels.remove(label_id)


def _describe_answer(label: Label) -> str:
    if label.kind is not LabelKind.ANSWERABLE:
        return _("nothing in the documents")
    pages = [
        _("{document}, page {page}", document=one.document, page=one.page or (one.page_index or 0) + 1)
        if not one.quote
        else one.document
        for one in label.evidence
    ]
    return "; ".join([*pages, *label.answers])


def _summarize_labels(labels: Sequence[Label]) -> str:
    without = sum(one.kind is not LabelKind.ANSWERABLE for one in labels)
    pseudo = sum(one.is_pseudo for one in labels)
    words = _(
        "{questions}, {without} of them without an answer in the documents",
        questions=count_questions(len(labels)),
        without=without,
    )
    if pseudo:
        words += _(", {number} of them pseudo-questions", number=pseudo)
    return escape_markdown(words)
