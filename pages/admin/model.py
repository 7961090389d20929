"""The language model: choose it, and test whether it works."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.admin.model_catalogue import show_catalogue
from pages.admin.model_form import show_form
from pages.admin.model_options import APIS
from pages.admin.privacy import show_privacy
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from pages.shared.translation import _, ngettext, translate_message
from rag_core.engine import Engine
from rag_core.types.status import ModelCheck

_CHOSEN, _LISTED, _FOUND = "model_chosen", "models_listed", "model_found"
_ICONS = {
    True: ":green[:material/check_circle:]",
    False: ":red[:material/error:]",
    None: ":orange[:material/help:]",
}


def show_model(engine: Engine) -> None:
    """Show which model writes the answers; let the operator test it or choose another one."""
    st.header(_("Language model"), anchor=False)
    with show_errors():
        _show_model_in_use(engine)
        if engine.models.endpoint:
            show_privacy(engine)
        if engine.models.is_from_environment:
            st.caption(
                _(
                    "The environment or `.env` sets this model. To use the form instead, unset `RAG_OPENAI_MODEL`, "
                    "`RAG_OPENAI_BASE_URL`, `OPENAI_BASE_URL` and `RAG_GGUF`, and restart."
                )
            )
            _show_controls(engine)
        else:
            show_catalogue(engine, _show_checks)
            show_form(engine, _show_checks)


def _show_model_in_use(engine: Engine) -> None:
    settings = engine.models.settings
    if not engine.models.endpoint:
        st.caption(
            _(
                "None: answers are quoted from the documents. Connect a model to have it write them. The chat "
                "then also offers ways to search with the model's help."
            )
        )
        return
    if settings.gguf:
        st.text(_("{endpoint}, run inside this app", endpoint=engine.models.endpoint))
    else:
        model, api = engine.models.current or _("No model chosen"), APIS[settings.openai_api]
        st.text(_("{model}, at {endpoint}, over {api}", model=model, endpoint=engine.models.endpoint, api=api))
    if problem := engine.models.key_problem:
        st.error(escape_markdown(translate_message(problem)), icon=":material/key_off:")
        st.button(
            _("Read the key again"), key="read_key", icon=":material/refresh:", on_click=engine.models.read_key_again
        )
    if not engine.models.current:
        st.caption(_("Answers are quoted from the documents until you choose a model here or set `RAG_OPENAI_MODEL`."))
    in_use = engine.models.active()
    if in_use:
        place = "`RAG_MODEL_CAPABILITY`" if engine.models.is_from_environment else _("More options")
        _show_capability(in_use, _("Choose another capability with {place}.", place=place))
    where = _("with the settings `RAG_OPENAI_…`")
    if not engine.models.is_from_environment:
        where = _("{where}, the context also under More options", where=where)
    st.caption(
        _(
            "{context}Time-out after {seconds} s without a reply · {retries} retries. Change these {where}.",
            context=_describe_context(in_use),
            seconds=f"{settings.openai_timeout_s:g}",
            retries=settings.openai_retries,
            where=where,
        )
    )


def _describe_context(model: Any) -> str:
    if model is None:
        return ""
    return _(
        "Context {tokens} tokens, {for_answer} of them for the answer · ",
        tokens=model.context_tokens,
        for_answer=model.answer_tokens,
    )


def _show_capability(model: Any, how: str) -> None:
    found = _(", as the test found") if model.profile.is_tested else ""
    reads = _("a few passages, and gets simple rules")
    if model.capability == "capable":
        reads = _("whole pages, up to {tokens} tokens per question", tokens=model.context_budget)
    st.caption(
        _(
            "Capability: {capability}{found}. The model reads {reads}. {how}",
            capability=model.capability,
            found=found,
            reads=reads,
            how=how,
        )
    )
    if model.profile.advice:
        st.warning(escape_markdown(translate_message(model.profile.advice)), icon=":material/info:")


def _show_controls(engine: Engine) -> None:
    chosen = engine.models.current
    if not engine.settings.gguf:
        listed = st.session_state.get(_LISTED, [])
        st.session_state.setdefault(_CHOSEN, engine.models.current or None)
        options = list(
            dict.fromkeys(one for one in (engine.models.current, *listed, st.session_state.get(_CHOSEN)) if one)
        )
        chosen = st.selectbox(
            _("Model"),
            options,
            key=_CHOSEN,
            accept_new_options=True,
            placeholder=_("Choose or type a name"),
            help=_("Click List models to load the models of the endpoint, or type a name."),
        )
    with st.container(horizontal=True, gap="small"):
        tested = st.button(_("Test"), icon=":material/network_check:", key="test_model", disabled=not chosen)
        if not engine.settings.gguf:
            st.button(_("List models"), icon=":material/list:", key="list_models", on_click=_list_models, args=[engine])
            if chosen and chosen != engine.models.current:
                st.button(
                    _("Use this model"), key="use_model", type="primary", on_click=_use_model, args=[engine, chosen]
                )
            if engine.models.current != engine.settings.model:
                st.button(_("Reset to the default"), key="reset_model", on_click=_use_model, args=[engine, None])
    if tested and chosen:
        with st.spinner(_("Testing the model")):
            st.session_state[_FOUND] = (chosen, list(engine.models.test(chosen)))
    name, checks = st.session_state.get(_FOUND, ("", []))
    if checks and name == chosen:
        _show_checks(checks)


def _list_models(engine: Engine) -> None:
    with show_errors():
        st.session_state[_LISTED] = engine.models.list()
        st.toast(
            ngettext("{number} model listed", "{number} models listed", len(st.session_state[_LISTED])),
            icon=":material/check:",
        )


def _use_model(engine: Engine, name: str | None) -> None:
    with show_errors():
        engine.models.select(name)
        st.session_state[_CHOSEN] = engine.models.current or None


def _show_checks(checks: list[ModelCheck]) -> None:
    with st.container(border=True, gap="xsmall"):
        for check in checks:
            words = escape_markdown(translate_message(check.words))
            st.markdown(f"{_ICONS[check.passed]} **{translate_message(check.name)}.** {words}")
