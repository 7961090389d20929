"""The model and the instructions for the next answers, beside the input."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared import keys
from pages.shared.instructions import PLACEHOLDER, SCOPE_OF_INSTRUCTIONS
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown, truncate
from pages.shared.translation import N_, _
from rag_core.engine import Engine
from rag_core.types.conversations import MAX_INSTRUCTION_CHARS, Conversation
from rag_core.types.searches import Writer

QUOTES_ONLY = N_("Quotes only")
_MAX_COLUMNS = 28
# The option for the model in use. It differs from every name of a model.
_IN_USE = "\0"


def get_writer(conversation: Conversation | None) -> Writer:
    """Return the model and instructions of a conversation, or those chosen for the new chat."""
    if conversation:
        return Writer(conversation.model, conversation.instructions)
    chosen: Writer = st.session_state.get(keys.WRITER, Writer())
    return chosen


def choose_writer(engine: Engine, conversation: Conversation | None) -> str:
    """Let the reader choose the model and its instructions; return the model's name, which is empty for quotes only."""
    writer = get_writer(conversation)
    name = engine.models.find_name(writer.model)
    icon = ":material/smart_toy:" if name else ":material/format_quote:"
    label = escape_markdown(truncate(name, _MAX_COLUMNS)) or _(QUOTES_ONLY)
    has_models = bool(engine.models.endpoint)
    with st.popover(label, icon=icon, type="tertiary", key=keys.WRITER_POPOVER):
        if has_models:
            _choose_model(engine, conversation, writer)
        else:
            st.caption(_("Answers are quotes from the documents. A language model answers in full sentences."))
        link_model_form(_("Model settings") if has_models else _("Connect a model"))
    if has_models:
        _edit_instructions(engine, conversation, writer, by_model=bool(name))
    return name


def link_model_form(label: str) -> None:
    """Show a link to the part of the Settings page that connects a language model."""
    st.page_link(
        "admin/page.py",
        label=label,
        icon=":material/add_link:",
        query_params={keys.ADMIN_PARAM: keys.ADMIN_MODEL},
    )


def _choose_model(engine: Engine, conversation: Conversation | None, writer: Writer) -> None:
    current, chosen = engine.models.current, engine.models.find_name(writer.model)
    place = st.container()
    if not engine.models.settings.gguf and st.button(_("List models"), icon=":material/list:", key="list_chat_models"):
        _list_models(engine)
    endpoint, listed = st.session_state.get(keys.LISTED_MODELS, ("", []))
    is_listed = endpoint == engine.models.endpoint
    names = dict.fromkeys([*([chosen] if chosen else []), *(listed if is_listed else [])])
    options = [*([_IN_USE] if current else []), "", *(one for one in names if one != current)]
    key = f"{keys.WRITER}_{'list' if is_listed else 'model'}_{conversation.conversation_id if conversation else 'new'}"
    st.session_state[key] = _IN_USE if current and chosen == current else chosen

    def changed() -> None:
        model = st.session_state[key]
        _store_model(engine, conversation, None if model == _IN_USE else model)

    def describe(option: str) -> str:
        return _("{model} (model in use)", model=current) if option == _IN_USE else option or _(QUOTES_ONLY)

    label = _("Next answers in this conversation")
    with place:
        if is_listed:
            st.selectbox(label, options, format_func=describe, key=key, accept_new_options=True, on_change=changed)
        else:
            st.radio(label, options, format_func=lambda one: escape_markdown(describe(one)), key=key, on_change=changed)


def _list_models(engine: Engine) -> None:
    """Store the names of the endpoint's models in the session; if that fails, show the error and store no names.

    In both cases, the field for the model then also accepts a typed name.
    """
    endpoint = engine.models.endpoint
    st.session_state[keys.LISTED_MODELS] = endpoint, []
    with show_errors():
        st.session_state[keys.LISTED_MODELS] = endpoint, engine.models.list()


def _edit_instructions(engine: Engine, conversation: Conversation | None, writer: Writer, *, by_model: bool) -> None:
    key = f"{keys.WRITER}_instructions_{conversation.conversation_id if conversation else 'new'}"

    def changed() -> None:
        if len(st.session_state[key].strip()) <= MAX_INSTRUCTION_CHARS:
            _store_instructions(engine, conversation, st.session_state[key])

    label = _("Instructions: on") if writer.instructions else _("Instructions")
    with st.popover(label, icon=":material/tune:", type="tertiary", key=keys.INSTRUCTIONS_POPOVER):
        st.session_state.setdefault(key, writer.instructions)
        st.text_area(
            _("Instructions for answers in this conversation"),
            key=key,
            placeholder=_(PLACEHOLDER),
            on_change=changed,
        )
        # `max_chars` is not used, because the field would then ignore a pasted text that is longer.
        if (length := len(st.session_state[key].strip())) > MAX_INSTRUCTION_CHARS:
            st.error(
                _(
                    "Not saved: {length} characters; the limit is {limit}. Shorten the text.",
                    length=length,
                    limit=MAX_INSTRUCTION_CHARS,
                )
            )
        if not by_model:
            st.caption(_("Answers are quoted from the documents now, so instructions have no effect."))
        elif engine.preferences.instructions:
            st.caption(_("The instructions on the Settings page apply too, before these."))
        st.caption(_(SCOPE_OF_INSTRUCTIONS))


def _store_model(engine: Engine, conversation: Conversation | None, model: str | None) -> None:
    """Store the model with the conversation, or in the session until the new chat starts.

    ``None`` stands for the model in use, and an empty text for quotes.
    """
    if conversation is None:
        st.session_state[keys.WRITER] = replace(get_writer(None), model=model)
        return
    with show_errors():
        engine.conversations.set_model(conversation.conversation_id, model)


def _store_instructions(engine: Engine, conversation: Conversation | None, instructions: str) -> None:
    """Store the instructions with the conversation, or in the session until the new chat starts."""
    if conversation is None:
        st.session_state[keys.WRITER] = replace(get_writer(None), instructions=instructions)
        return
    with show_errors():
        engine.conversations.set_instructions(conversation.conversation_id, instructions)
