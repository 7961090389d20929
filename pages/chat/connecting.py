"""Offer a language model that fits this machine, or a link to the form that connects another one."""

from __future__ import annotations

import streamlit as st

from pages.chat.writer import link_model_form
from pages.shared.backend import Backend
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown, format_bytes
from pages.shared.translation import _, translate_message
from rag_core.types.model_setup import ModelOffer, SetupStep


def recommend_model(back: Backend) -> None:
    """Offer to download the model that the catalogue recommends for this machine; without one, call `offer_model`.

    While a model is being set up, show the progress instead. Show nothing if a model is set or the offer is hidden.
    """
    setup = back.engine.model_downloads.current
    if setup is not None and setup.step.is_active:
        _show_setup(back)
        return
    if not back.engine.preferences.is_model_offered:
        return
    offer: ModelOffer | None = None
    with show_errors():
        offer = next((one for one in back.engine.model_downloads.list() if one.is_recommended), None)
    if offer is None:
        offer_model(back)
        return
    with st.container(border=True, gap="small", key="recommended_model"):
        st.markdown(
            _(
                ":material/auto_awesome: **Answers in full sentences: {name}**  \n{benefit} Without a model, "
                "answers are quotes. It runs on this machine; nothing is sent elsewhere.",
                name=escape_markdown(offer.name),
                benefit=translate_message(offer.benefit),
            )
        )
        st.caption(
            _(
                "{size} to download · needs {memory} of memory, which this machine has · licence {licence}",
                size=format_bytes(offer.size_bytes),
                memory=format_bytes(offer.memory_bytes),
                licence=escape_markdown(offer.licence),
            )
        )
        if setup is not None and setup.problem:
            st.error(escape_markdown(translate_message(setup.problem)), icon=":material/error:")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                _("Download and use"),
                icon=":material/download:",
                key="use_recommended_model",
                on_click=_start_setup,
                args=[back, offer],
            )
            link_model_form(_("Connect a model"))
            _show_hide_button(back)


def _start_setup(back: Backend, offer: ModelOffer) -> None:
    with show_errors():
        back.engine.model_downloads.start(offer.name, install=True)


def _show_setup(back: Backend) -> None:
    """Show how far the setup of a model is, and rerun the page when it has ended."""

    @st.fragment(run_every=1.0)
    def look() -> None:
        setup = back.engine.model_downloads.current
        if setup is None or not setup.step.is_active:
            st.rerun()
        share = f" {setup.done / setup.total:.0%}" if setup.step is SetupStep.DOWNLOADING and setup.total else ""
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            name = escape_markdown(setup.name)
            st.caption(
                f":material/hourglass_empty: {translate_message(setup.step.value.capitalize())} {name}{share}",
                width="content",
            )
            link_model_form(_("Details"))

    look()


def offer_model(back: Backend) -> None:
    """Say what a language model adds, and link to the form that connects one.

    Show nothing if a model is set or the offer is hidden.
    """
    if not back.engine.preferences.is_model_offered:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="offer_model"):
        st.caption(_("A model answers in full sentences; without one, in quotes."), width="content")
        link_model_form(_("Connect a model"))
        _show_hide_button(back)


def _show_hide_button(back: Backend) -> None:
    st.button(
        _("Don't show again"),
        type="tertiary",
        key="hide_model_offer",
        help=_("Hides this offer for everyone who uses this app. The form stays on the Settings page."),
        on_click=_hide_offer,
        args=[back],
    )


def _hide_offer(back: Backend) -> None:
    with show_errors():
        back.engine.preferences.hide_model_offer()
