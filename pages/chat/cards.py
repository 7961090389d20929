"""The cards of documents that were just added, and the questions that documents answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from pages.chat.questions import ask_about
from pages.shared import keys
from pages.shared.backend import Backend
from pages.shared.current import get_current_id
from pages.shared.jobs import MAX_JOBS
from pages.shared.text import count_pages, escape_markdown
from pages.shared.translation import _, translate_language, translate_message
from rag_core.types.cards import DocumentCard
from rag_core.types.conversations import Message
from rag_core.types.documents import DocumentInfo

# Maximum number of cards at one place of the conversation.
_SHOWN = 3


def find_added(
    back: Backend, documents: Sequence[DocumentInfo], messages: Sequence[Message]
) -> Mapping[int, Sequence[DocumentInfo]]:
    """Return the documents added in this conversation, grouped by the number of messages above their cards.

    Each group has up to `_SHOWN` documents, the newest first. Documents whose cards the reader has closed are left out.
    """
    by_id = {one.document_id: one for one in documents}
    added: dict[int, list[DocumentInfo]] = {}
    for document_id, place in _find_places(back, by_id, len(messages)).items():
        added.setdefault(place, []).append(by_id[document_id])
    return {place: shown[:_SHOWN] for place, shown in added.items()}


def show_cards(back: Backend, shown: Sequence[DocumentInfo], messages: Sequence[Message], *, is_last: bool) -> None:
    """Show the cards of added documents.

    If ``is_last``, no message follows: show the cards in full, and wait for those that are not complete. Otherwise
    collapse the cards into one line.
    """
    cards = back.engine.cards.find([one.document_id for one in shown])
    asked = {one.text for one in messages if one.role == "user"}
    known = [(document, card) for document in shown if (card := cards.get(document.document_id))]
    if is_last:
        for document, card in known:
            with st.container(border=True, gap="small", key=f"card_{document.document_id}"):
                _show_card(back, document, card, asked)
        if waiting := [one.document_id for one in shown if _is_awaited(back, one.document_id, cards)]:
            _wait_for_cards(back, waiting, cards)
    elif known:
        names = ", ".join(escape_markdown(document.name) for document, _card in known)
        with st.expander(_("Added: {names}", names=names), type="compact", key=f"cards_{known[0][0].document_id}"):
            for document, card in known:
                _show_card(back, document, card, asked)


def _is_awaited(back: Backend, document_id: str, cards: Mapping[str, DocumentCard]) -> bool:
    """Return whether the card of a document is missing, incomplete, or about to get questions from the model."""
    card = cards.get(document_id)
    return card is None or not card.is_complete or back.engine.cards.is_requested(document_id)


def _find_places(back: Backend, searchable: Collection[str], message_count: int) -> dict[str, int]:
    """Return the number of messages above the card of each document added in the open conversation, by document id.

    The newest documents come first, and closed cards are left out. Documents that were added in a new chat belong to
    the conversation that the first question of this chat starts.
    """
    conversation_id = get_current_id()
    stored_for, stored = st.session_state.get(keys.CARDS, (conversation_id, {}))
    added: dict[str, int] = stored if stored_for in (None, conversation_id) else {}
    recent = st.session_state.get(keys.RECENT_JOBS, [])
    if recent:
        jobs = back.engine.jobs.list(limit=MAX_JOBS)
        ours = [job.document_id for job in jobs if job.job_id in recent]
        ready = [one for one in ours if one and one in searchable]
        # A file that becomes ready while a question is answered was attached to this question or added before it, so
        # its card stands above the question.
        place = message_count - message_count % 2
        added = {one: added.get(one, place) for one in dict.fromkeys([*filter(None, ready), *added])}
    st.session_state[keys.CARDS] = conversation_id, added
    closed = st.session_state.get(keys.CLOSED_CARDS, ())
    return {one: place for one, place in added.items() if one in searchable and one not in closed}


def _show_card(back: Backend, document: DocumentInfo, card: DocumentCard, asked: Collection[str]) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f":material/description: **{escape_markdown(card.title or document.name)}**", width="stretch")
        st.button(
            _("Close the card of {name}", name=escape_markdown(document.name)),
            icon=":material/close:",
            type="tertiary",
            key=f"close_card_{document.document_id}",
            on_click=_close_card,
            args=[document.document_id],
        )
    about = (
        document.name if card.title else "",
        translate_message(card.kind),
        card.organization,
        card.period,
        count_pages(card.pages),
        translate_language(card.language),
    )
    st.caption(escape_markdown(" · ".join(filter(None, about))))
    if card.figures:
        with st.container(horizontal=True, gap="medium"):
            for one in card.figures:
                st.metric(
                    escape_markdown(f"{one.label}, {one.column}"),
                    escape_markdown(one.value),
                    help=escape_markdown("; ".join(filter(None, (one.unit, _("page {page}", page=one.page_label))))),
                    width="content",
                )
        units = dict.fromkeys(one.unit for one in card.figures if one.unit)
        st.caption(escape_markdown("; ".join(units)))
    elif card.contents:
        listed = " · ".join(f"{title} ({_('p. {page}', page=label)})" for title, label in card.contents)
        st.caption(escape_markdown(_("Contents: {listed}", listed=listed)))
    show_questions(back, document, list_questions(back, document, card), asked)
    if problem := back.engine.cards.problems.get(document.document_id):
        st.warning(escape_markdown(translate_message(problem)), icon=":material/info:")
    if back.engine.models.current and not back.engine.cards.is_requested(document.document_id):
        st.button(
            _("Let the model write questions"),
            icon=":material/edit_note:",
            type="tertiary",
            key=f"write_questions_{document.document_id}",
            help=_("Sends the first pages of the document to the model."),
            on_click=back.engine.cards.request_questions,
            args=[document.document_id],
        )


def list_questions(back: Backend, document: DocumentInfo, card: DocumentCard | None) -> Sequence[str]:
    """Return the questions that a card suggests, none without a card; the guide has fixed questions."""
    if document.name == back.engine.GUIDE_NAME:
        return back.engine.GUIDE_QUESTIONS
    return card.questions if card else ()


def show_questions(
    back: Backend, document: DocumentInfo, questions: Sequence[str], asked: Collection[str] = ()
) -> None:
    """Show a button for each of the questions about a document, except those in ``asked``."""
    for number, question in enumerate(questions):
        if question not in asked:
            st.button(
                escape_markdown(question),
                key=f"ask_{document.document_id}_{number}",
                icon=":material/chat:",
                on_click=ask_about,
                args=[back, document.document_id, question],
            )


def _wait_for_cards(back: Backend, waiting: Sequence[str], before: Mapping[str, DocumentCard]) -> None:
    """Show that cards are awaited; rerun the page when one of them differs from ``before``, or none is awaited."""

    @st.fragment(run_every=1.0)
    def look() -> None:
        cards = back.engine.cards.find(waiting)
        has_changed = any(cards.get(one) != before.get(one) for one in waiting)
        is_over = not any(_is_awaited(back, one, cards) for one in waiting)
        if (has_changed or is_over) and not st.session_state.get(keys.DIALOG_OPEN):
            st.rerun()
        st.caption(_(":material/hourglass_empty: Looking for questions that the documents answer"))

    look()


def _close_card(document_id: str) -> None:
    st.session_state[keys.CLOSED_CARDS] = (*st.session_state.get(keys.CLOSED_CARDS, ()), document_id)
