"""The model and the instructions of the next questions, beside the input."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared import keys
from pages.shared.instructions import PLACEHOLDER, SCOPE_OF_INSTRUCTIONS
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown, truncate
from rag_core.engine import Engine
from rag_core.types import MAX_INSTRUCTION_CHARS, Conversation
from rag_core.types.searches import Writer

QUOTES_ONLY = "Quotes only"
_MOST_COLUMNS = 28
# The option for the model in use, which is none of the names of models.
_IN_USE = "\0"


def get_writer(conversation: Conversation | None) -> Writer:
    """Return the model and instructions of a conversation, or those chosen for the new chat."""
    if conversation:
        return Writer(conversation.model, conversation.instructions)
    chosen: Writer = st.session_state.get(keys.WRITER, Writer())
    return chosen


def choose_writer(engine: Engine, conversation: Conversation | None) -> str:
    """Let the reader choose who writes the answers, and how; return the name of the model, empty for quotes."""
    if not engine.models.endpoint:
        st.page_link("pages/admin/page.py", label=f"{QUOTES_ONLY} · Connect a model", icon=":material/format_quote:")
        return ""
    writer = get_writer(conversation)
    name = engine.models.find_name(writer.model)
    icon = ":material/smart_toy:" if name else ":material/format_quote:"
    label = escape_markdown(truncate(name, _MOST_COLUMNS)) or QUOTES_ONLY
    popover = st.popover(label, icon=icon, type="tertiary", key=keys.WRITER_POPOVER, on_change="rerun")
    if popover.open:
        with popover:
            _choose_model(engine, conversation, writer)
    _edit_instructions(engine, conversation, writer, by_model=bool(name))
    return name


def _choose_model(engine: Engine, conversation: Conversation | None, writer: Writer) -> None:
    current, endpoint = engine.models.current, engine.models.endpoint
    key = f"{keys.WRITER}_model_{conversation.conversation_id if conversation else 'new'}"
    is_file = bool(engine.models.settings.gguf)
    place = st.container()
    if not is_file and st.button("List models", icon=":material/list:", key="list_chat_models"):
        with show_errors():
            st.session_state[keys.LISTED_MODELS] = endpoint, engine.models.list()
    listed_at, listed = st.session_state.get(keys.LISTED_MODELS, ("", []))
    chosen = engine.models.find_name(writer.model)
    others = dict.fromkeys([*([chosen] if chosen else []), *(listed if listed_at == endpoint else [])])
    options = [*([_IN_USE] if current else []), "", *(one for one in others if one != current)]
    st.session_state[key] = _IN_USE if current and chosen == current else chosen

    def changed() -> None:
        model = st.session_state[key]
        _store(engine, conversation, replace(writer, model=None if model == _IN_USE else model))

    place.selectbox(
        "Answers in this conversation",
        options,
        key=key,
        format_func=lambda one: f"{current} (model in use)" if one == _IN_USE else one or QUOTES_ONLY,
        accept_new_options=not is_file,
        on_change=changed,
        help="Applies to the next questions. Earlier answers keep the name of their model.",
    )


def _edit_instructions(engine: Engine, conversation: Conversation | None, writer: Writer, *, by_model: bool) -> None:
    key = f"{keys.WRITER}_instructions_{conversation.conversation_id if conversation else 'new'}"

    def changed() -> None:
        _store(engine, conversation, replace(writer, instructions=st.session_state[key]))

    label = "Instructions: on" if writer.instructions else "Instructions"
    with st.popover(label, icon=":material/tune:", type="tertiary", key=keys.INSTRUCTIONS_POPOVER):
        st.session_state.setdefault(key, writer.instructions)
        st.text_area(
            "Instructions for answers in this conversation",
            key=key,
            max_chars=MAX_INSTRUCTION_CHARS,
            placeholder=PLACEHOLDER,
            on_change=changed,
        )
        if not by_model:
            st.caption("Answers are quoted from the documents now, so instructions have no effect.")
        elif engine.preferences.instructions:
            st.caption("The instructions on the page Admin apply too, before these.")
        st.caption(SCOPE_OF_INSTRUCTIONS)


def _store(engine: Engine, conversation: Conversation | None, writer: Writer) -> None:
    """Store the choice with the conversation, or in the session until the new chat starts."""
    with show_errors():
        if conversation is None:
            st.session_state[keys.WRITER] = writer
        elif writer.model != conversation.model:
            engine.conversations.set_model(conversation.conversation_id, writer.model)
        else:
            engine.conversations.set_instructions(conversation.conversation_id, writer.instructions)
