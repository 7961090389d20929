"""The messages of a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from pages.chat.actions import show_actions, show_rewritten_search
from pages.chat.connecting import offer_model
from pages.chat.interruption import select_shown_part, show_notices
from pages.chat.questions import answer_last
from pages.chat.refusal import show_refusal
from pages.shared import keys
from pages.shared.backend import Backend
from pages.shared.blocks import build_answer_blocks
from pages.shared.current import get_current_id, open_source
from pages.shared.evidence import consists_of_pages, find_linked_sources, format_for_copy, name_sources
from pages.shared.excerpts import build_excerpts, load_whole_tables
from pages.shared.feedback import confirm_passage, show_feedback
from pages.shared.labelling import offer_label
from pages.shared.passages import link_sources, show_passages
from pages.shared.richtext import show_richtext
from pages.shared.source import draw_first_source
from pages.shared.tables import build_cited_tables
from pages.shared.text import count_pages, escape_markdown, format_duration
from pages.shared.translation import _, ngettext, translate_message
from rag_core.engine import Engine
from rag_core.stages import STAGES
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.conversations import Message

# Number of newest messages that are shown at first.
SHOWN = 20
_SCROLL = st.components.v2.component(
    "footnote_scroll_to_question",
    html="",
    js=Path(__file__).with_name("scroll_to_question.js").read_text(encoding="utf-8"),
)

# The region is for screen readers only.
_MESSAGES = st.components.v2.component(
    "footnote_messages",
    html='<div role="status" style="position: absolute; width: 1px; height: 1px; overflow: hidden"></div>',
    js=Path(__file__).with_name("messages.js").read_text(encoding="utf-8"),
)

# The button is seen only while it has the focus.
_FIRST_SOURCE = st.components.v2.component(
    "footnote_first_source",
    html='<button type="button">First source of the newest answer</button>',
    css="button { font: inherit; cursor: pointer; } button:not(:focus) { position: absolute; width: 1px; height: 1px; "
    "overflow: hidden; clip-path: inset(50%); white-space: nowrap; }",
    js=Path(__file__).with_name("first_source.js").read_text(encoding="utf-8"),
)


def show_history(back: Backend, messages: Sequence[Message], *, before: Callable[[int], None]) -> None:
    """Show the messages, and draw the first source of the newest answer in the background.

    ``before`` is called with the position of each shown message, before this message is shown.
    """
    if hidden := _count_hidden(messages):
        st.button(
            ngettext("Show {number} earlier message", "Show {number} earlier messages", hidden),
            type="tertiary",
            on_click=lambda: st.session_state.update({keys.EARLIER: True}),
        )
    for place, message in enumerate(messages[hidden:], hidden):
        before(place)
        _show_message(back, message, last=message is messages[-1])
    _name_messages(messages, hidden)
    if messages and messages[-1].answer:
        draw_first_source(back.engine, messages[-1].answer)


def scroll_to_question(messages: Sequence[Message]) -> None:
    """Bring the newest question into view when it is asked or its conversation is opened, with room for the answer."""
    questions = [one.message_id for one in messages if one.role == "user"]
    if questions:
        shown = [one for one in messages[_count_hidden(messages) :] if one.role == "user"]
        with st.container(key="room_for_answer"):
            _SCROLL(key="scroll_to_question", data={"question": questions[-1], "shown": len(shown)})


def link_first_source(messages: Sequence[Message]) -> None:
    """Show a button, visible only with the keyboard focus, that moves the focus to the newest answer's first source."""
    if messages and messages[-1].answer and messages[-1].answer.passages:
        _FIRST_SOURCE(key="first_source")


def _count_hidden(messages: Sequence[Message]) -> int:
    return 0 if st.session_state.get(keys.EARLIER) else max(0, len(messages) - SHOWN)


def _name_messages(messages: Sequence[Message], hidden: int) -> None:
    """Name the shown messages for screen readers, and announce when an answer is complete."""
    asked = [one.role == "user" for one in messages]
    answer = messages[-1].message_id if messages and not asked[-1] else ""
    text = _("Answer {number} is complete.", number=sum(asked))
    _MESSAGES(key="messages", data={"hidden": sum(asked[:hidden]), "answer": answer, "text": text})


def _show_message(back: Backend, message: Message, *, last: bool) -> None:
    if message.role == "user":
        with st.chat_message("user", avatar=":material/person:"):
            st.text(message.text)
    else:
        with st.chat_message("assistant", avatar=":material/format_quote:"):
            _show_answer_message(back, message, last=last)


def _show_answer_message(back: Backend, message: Message, *, last: bool) -> None:
    answer = message.answer
    if answer is None:
        st.text(translate_message(message.text))
        if last:
            with st.container(horizontal=True, gap="small"):
                show_actions(back, message)
        return
    if answer.as_of:
        st.caption(_(":material/history: As of {as_of}", as_of=escape_markdown(answer.as_of)))
    show_rewritten_search(back, message, answer, last=last)
    _show_text(back.engine, message, select_shown_part(message, answer))
    show_notices(back, message, answer, last=last)
    if answer.state is AnswerState.ABSTAINED:
        show_refusal(back, answer)
    link_sources(
        answer,
        key=f"sources_{message.message_id}",
        on_open=lambda rank: open_source(message.message_id, rank),
    )
    _show_evidence(back.engine, message, answer)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        show_feedback(back.engine, message.message_id)
        offer_label(back.engine, message.message_id, answer)
        if last:
            show_actions(back, message)
    if last and answer.generator == "extractive" and answer.passages and answer.state is AnswerState.ANSWERED:
        offer_model(back)


def _show_evidence(engine: Engine, message: Message, answer: Answer) -> None:
    """Show the passages with their scores, and how the answer was found, in an expander that is closed at first."""
    # An answer about the app or its library is written without a search.
    if not answer.passages and not answer.steps and not answer.usage.calls:
        return
    timings = answer.timings_ms
    total = timings.get("total", sum(timings.values())) / 1000
    label = _describe_passages(answer) if answer.passages else _("Searched")
    # The part before the colon is the API, which is the same for servers of all kinds.
    written_by = (
        _("Written by {model}", model=answer.generator.partition(":")[2]) if answer.generator != "extractive" else ""
    )
    how = "" if answer.strategy == "plain" else translate_message(engine.strategies.find_label(answer.strategy))
    label = " · ".join(filter(None, (f"{label}, {format_duration(total)}", how, escape_markdown(written_by))))
    with st.expander(label, type="compact", key=f"evidence_{message.message_id}"):
        show_passages(
            engine,
            answer,
            key=f"passage_{message.message_id}",
            on_open=lambda rank: open_source(message.message_id, rank),
            on_confirm=lambda rank: confirm_passage(engine, message.message_id, rank),
        )
        lines = [
            f"{translate_message(stage.ended)}: {format_duration(timings[stage.name] / 1000)}"
            for stage in STAGES
            if stage.ended and stage.name in timings
        ]
        writer = _("quoted from the documents") if answer.generator == "extractive" else answer.generator
        usage = [translate_message(answer.usage.label)] if answer.usage.calls else []
        st.text(
            "\n".join([*map(translate_message, answer.steps), *lines, _("Answer: {writer}", writer=writer), *usage])
        )


def _describe_passages(answer: Answer) -> str:
    # Only the passages of a summary have no scores. They are just the passages that the summary cites; the model has
    # read many more.
    number = len(answer.passages)
    if consists_of_pages(answer):
        read = count_pages(number)
    else:
        read = ngettext("{number} passage", "{number} passages", number)
    documents = len({passage.document_id for passage in answer.passages})
    if any(passage.scores for passage in answer.passages):
        return ngettext("Read {read} of {number} document", "Read {read} of {number} documents", documents, read=read)
    return ngettext("Cites {read} of {number} document", "Cites {read} of {number} documents", documents, read=read)


def _show_text(engine: Engine, message: Message, answer: Answer) -> None:
    sources, tables = name_sources(answer), load_whole_tables(engine, answer)
    opened: list[int] = st.session_state.get(f"whole_{message.message_id}", [])

    def toggle(number: int) -> None:
        left = [one for one in opened if one != number]
        st.session_state[f"whole_{message.message_id}"] = left if number in opened else [*opened, number]

    show_richtext(
        [*build_answer_blocks(answer, sources, tables, opened), *build_cited_tables(answer, sources)],
        key=f"answer_{message.message_id}",
        sources=find_linked_sources(answer),
        on_cite=lambda marker: open_source(message.message_id, marker),
        on_toggle=toggle,
        copy=format_for_copy(answer),
    )
    if answer.more:
        with st.expander(_("More passages"), type="compact", key=f"more_{message.message_id}"):
            show_richtext(
                build_excerpts(answer, answer.more, tables, opened),
                key=f"more_text_{message.message_id}",
                sources=sources,
                on_cite=lambda marker: open_source(message.message_id, marker),
                on_toggle=toggle,
            )
    if answer.stopped:
        words = _("Stopped before the end. The text so far is kept.")
        if answer.generator != "extractive":
            words += " " + _("It was not checked against the sources.")
        st.caption(f":material/stop_circle: {words}")


def show_missing_answer(back: Backend) -> None:
    """Show why the newest question has no answer, and a button to try again."""
    problem = back.answers.problem(get_current_id() or "")
    if problem:
        st.error(escape_markdown(translate_message(problem)), icon=":material/error:")
    else:
        st.info(_("This question has no answer yet."), icon=":material/info:")
    st.button(_("Try again"), icon=":material/refresh:", key="try_again", on_click=answer_last, args=[back])
