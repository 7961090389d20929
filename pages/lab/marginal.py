"""RAG-Sequence and RAG-Token: which passage carried which token of a short answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing

import streamlit as st

from pages.lab.marks import Mark
from pages.lab.token_chart import show_token_chart
from pages.shared import keys
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown, name_page
from pages.shared.translation import N_, _, format_number
from rag_core.engine import Engine
from rag_core.types.explanations import Explanation, WeightedPassage
from rag_core.types.marginalization import Decoding, MarginalAnswer, Marginalization

_METHODS: dict[str, tuple[Marginalization, Decoding]] = {
    N_("RAG-Sequence, thorough"): ("rag-sequence", "thorough"),
    N_("RAG-Sequence, fast"): ("rag-sequence", "fast"),
    N_("RAG-Token"): ("rag-token", "thorough"),
}


def show_marginal_answers(
    engine: Engine, explanation: Explanation, weighted: Sequence[WeightedPassage], marks: Mapping[str, Mark]
) -> None:
    """Let the reader generate a short answer over the passages that have a weight, and show its tokens."""
    st.header(
        _("Which passage wrote which word"),
        anchor=False,
        help=_(
            "RAG-Sequence weighs whole answers, each written from one passage. RAG-Token mixes the passages anew for "
            "each token, a piece of a word, so that an answer can begin with one passage and continue with another."
        ),
    )
    st.caption(_("A short answer, with the part that each passage has in each of its words."))
    if not engine.models.predicts_tokens:
        st.info(
            _(
                "This needs a language model in a GGUF file, because only that gives the probabilities of single "
                "tokens. Connect one on the Settings page, or set RAG_GGUF."
            ),
            icon=":material/info:",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            _("Method"),
            list(_METHODS),
            format_func=_,
            index=list(_METHODS).index("RAG-Token"),
            key="lab_method",
            width=240,
        )
        pressed = st.button(_("Generate"), icon=":material/play_arrow:", key="lab_generate")
    read = [one for one in weighted if one.weight > 0]
    model = engine.models.find_name(None)
    signature = (explanation.question, model, name, tuple((one.candidate.chunk_id, one.weight) for one in read))
    if pressed:
        with show_errors():
            answer = _generate(engine, explanation, read, *_METHODS[name])
            st.session_state[keys.LAB_MARGINAL] = (signature, answer)
    kept = st.session_state.get(keys.LAB_MARGINAL)
    if kept and kept[0] == signature:
        _show_answer(kept[1], explanation, marks)


def _generate(
    engine: Engine,
    explanation: Explanation,
    read: Sequence[WeightedPassage],
    method: Marginalization,
    decoding: Decoding,
) -> MarginalAnswer:
    by_id = {one.chunk_id: one for one in explanation.passages}
    passages, weights = [by_id[one.candidate.chunk_id] for one in read], [one.weight for one in read]
    place = st.empty()
    answer: MarginalAnswer
    with closing(engine.mixtures.generate(explanation.question, passages, weights, method, decoding)) as steps:
        done = 0
        while True:
            # Each call of Streamlit lets the reader stop the work by leaving the page.
            place.caption(_("Generating over {number} passages, step {done}", number=len(passages), done=done))
            try:
                next(steps)
            except StopIteration as end:
                answer = end.value
                break
            done += 1
    place.empty()
    return answer


def _show_answer(answer: MarginalAnswer, explanation: Explanation, marks: Mapping[str, Mark]) -> None:
    st.markdown(
        _(
            "**{answer}** with probability {probability}",
            answer=escape_markdown(answer.text),
            probability=format_number(answer.probability, 3),
        )
    )
    others = "; ".join(f"“{text}” {format_number(probability, 3)}" for text, probability in answer.candidates[1:])
    where = {one.chunk_id: name_page(one.document, one.page_label) for one in explanation.passages}
    names = [f"{marks[one].letter} · {where[one]}" if one in marks else where[one] for one in answer.chunk_ids]
    show_token_chart(answer, names)
    means = (
        _("how probable each passage is after this piece of a word")
        if answer.method == "rag-sequence"
        else (_("the share of each passage in this piece of a word"))
    )
    st.caption(
        escape_markdown(
            _(
                "Each column sums to 100 %: {means}. {predictions} tokens predicted in {seconds} s.",
                means=means,
                predictions=answer.predictions,
                seconds=format_number(answer.seconds, 0),
            )
            + (_(" Further answers: {others}.", others=others) if others else "")
        )
    )
