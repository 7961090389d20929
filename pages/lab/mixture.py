"""The mixture of the answers that the passages of a search give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.lab.marks import OTHERS, Mark
from pages.lab.mixture_chart import show_answer_chart, show_mixture_report
from pages.shared import keys
from pages.shared.problems import show_errors
from pages.shared.text import name_page, truncate
from pages.shared.translation import N_, _
from rag_core.engine import Engine
from rag_core.types.explanations import Explanation, WeightedPassage
from rag_core.types.mixtures import UNKNOWN
from rag_core.types.retrieval import Passage

_READER, _MODEL = N_("Reading model"), N_("Language model")


def show_mixture(
    engine: Engine,
    explanation: Explanation,
    weighted: Sequence[WeightedPassage],
    right: str | None,
    marks: Mapping[str, Mark],
) -> None:
    """Show the answers that the passages with a weight give, mixed by these weights.

    ``right`` is the result of `get_right_passage`.
    """
    st.header(
        _("What the passages answer together"),
        anchor=False,
        help=_("The mixture p(y|x) = Σ p(d|x) p(y|x, d) of the answers y that each passage d gives to the question x."),
    )
    st.caption(_("Each passage gives its own answers, which are weighted by the weight of the passage."))
    by_id = {one.chunk_id: one for one in explanation.passages}
    read = [by_id[one.candidate.chunk_id] for one in weighted if one.weight > 0]
    probabilities = _get_probabilities(engine, explanation.question, read)
    if probabilities is None:
        return
    answers = list(dict.fromkeys(answer for one in probabilities.values() for answer in one if answer != UNKNOWN))
    labelled = engine.labels.find_answers(explanation.question)
    matching = (at for at, one in enumerate(answers) if any(text.casefold() in one.casefold() for text in labelled))
    expected = st.selectbox(
        _("Which answer is right?"),
        answers,
        index=next(matching, None),
        key=f"lab_expected_{hash((explanation.question, *answers))}",
        format_func=lambda one: truncate(one, 80),
        placeholder=_("Choose the right answer"),
    )
    outdated = engine.labels.find_pages(explanation.question, current=False)
    mixture = engine.mixtures.mix(
        weighted,
        probabilities,
        right=[right] if right in by_id else [],
        expected=[expected] if expected else [],
        stale=[one.chunk_id for one in read if (one.document_id, one.page_index) in outdated],
    )
    names = {
        one.chunk_id: (marks[one.chunk_id].letter, marks[one.chunk_id].colour)
        if one.chunk_id in marks
        else (name_page(one.document, one.page_label), OTHERS)
        for one in read
    }
    show_mixture_report(mixture, names[mixture.cited][0])
    show_answer_chart(weighted, probabilities, mixture, names, "lab_answers_chart")


def _get_probabilities(engine: Engine, question: str, read: Sequence[Passage]) -> dict[str, dict[str, float]] | None:
    """Return the probability of each answer, by chunk id and answer; the session keeps the probabilities.

    If the model in use predicts tokens, the reader chooses between its probabilities and those of the reading model.
    Return ``None`` if they cannot be computed, or before the reader asks the language model for them.
    """
    signature = (question, engine.models.find_name(None), tuple(sorted(one.chunk_id for one in read)))
    kept = st.session_state.get(keys.LAB_ANSWERS)
    if kept is None or kept["signature"] != signature:
        kept = st.session_state[keys.LAB_ANSWERS] = {"signature": signature}
    with show_errors():
        if _READER not in kept:
            kept[_READER] = engine.mixtures.read_answers(question, read)
        source = _READER
        if engine.models.predicts_tokens:
            source = st.segmented_control(
                _("Probabilities from"),
                [_READER, _MODEL],
                format_func=_,
                default=_READER,
                required=True,
                key="lab_answers_from",
            )
        if source == _READER:
            st.caption(
                _("How probable an answer is, given one passage, says the small model that reads passages in this app.")
            )
            return dict(kept[_READER])
        st.caption(_("How likely the language model is to write each of these answers, given one passage."))
        if _MODEL not in kept:
            if not st.button(
                _("Ask the language model"), key="lab_likelihoods", help=_("A few seconds for each passage")
            ):
                return None
            answers = list(dict.fromkeys(answer for one in kept[_READER].values() for answer in one))
            with st.spinner(_("Reading the passages with the language model")):
                kept[_MODEL] = engine.mixtures.score_answers(question, read, answers)
        return dict(kept[_MODEL])
    return None
