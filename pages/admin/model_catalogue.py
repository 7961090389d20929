"""The catalogue of models that run on this machine, each with a button that downloads and connects the model."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.shared import keys
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown, format_bytes
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine
from rag_core.types.model_setup import ModelOffer, ModelSetup, SetupStep
from rag_core.types.status import ModelCheck

# The session key of the field "Kind of model" in the form. While the key is missing, the form shows the stored
# connection.
_FORM_KIND = "connect_preset"
# The session key of the step of a setup that this session has seen last.
_SEEN = "catalogue_seen"


def show_catalogue(engine: Engine, show_checks: Callable[[list[ModelCheck]], None]) -> None:
    """Show the models of the catalogue, and the progress of the one that is being set up.

    A setup downloads a model, tests it and connects it. ``show_checks`` draws the test results of a failed setup.
    """
    before = engine.model_downloads.current
    _announce_connection(before)
    is_open = not engine.models.endpoint or before is not None
    with st.expander(_("Download a model that runs on this machine"), icon=":material/download:", expanded=is_open):
        st.caption(
            _(
                "No account and no key are needed. Questions and documents stay on this machine. The package "
                "`xllamacpp`, which runs the model (about 110 MB on disk), is installed too if it is missing. "
                "Choose the first model, unless its answers take too long."
            )
        )

        @st.fragment(run_every=1.0 if before and before.step.is_active else None)
        def panel() -> None:
            setup = engine.model_downloads.current
            # The rest of the page shows the model in use, so it must be drawn again when a step begins or ends.
            if _identify_step(setup) != _identify_step(before) and not st.session_state.get(keys.DIALOG_OPEN):
                st.rerun()
            with show_errors():
                for offer in engine.model_downloads.list():
                    with st.container(border=True, gap="xsmall"):
                        _show_offer(engine, offer, setup, show_checks)

        panel()


def _announce_connection(setup: ModelSetup | None) -> None:
    """Tell the reader once that a model has been connected, and let the form show this connection."""
    step = _identify_step(setup)
    is_new = step != st.session_state.setdefault(_SEEN, step)
    st.session_state[_SEEN] = step
    if is_new and setup and setup.step is SetupStep.CONNECTED:
        st.session_state.pop(_FORM_KIND, None)
        st.toast(
            _("Connected. All questions use {name} from now on.", name=escape_markdown(setup.name)),
            icon=":material/check:",
        )


def _identify_step(setup: ModelSetup | None) -> object:
    return setup and (setup.name, setup.step, setup.is_stopping)


def _format_badge(offer: ModelOffer) -> str:
    if offer.in_use:
        return _(" :green-badge[In use]")
    return _(" :green-badge[Recommended for this machine]") if offer.is_recommended else ""


def _show_offer(
    engine: Engine, offer: ModelOffer, setup: ModelSetup | None, show_checks: Callable[[list[ModelCheck]], None]
) -> None:
    own = setup if setup and setup.name == offer.name else None
    st.markdown(f"**{escape_markdown(offer.name)}**" + _format_badge(offer))
    where = _("to download") if offer.downloaded_bytes < offer.size_bytes else _("on this disk")
    fits = _("fits the memory and the disk of this machine") if not offer.problem else _("does not fit this machine")
    st.caption(
        _(
            "{size} {where} · needs {memory} of memory · {fits} · licence {licence}",
            size=format_bytes(offer.size_bytes),
            where=where,
            memory=format_bytes(offer.memory_bytes),
            fits=fits,
            licence=escape_markdown(offer.licence),
        )
    )
    st.caption(translate_message(offer.benefit))
    if offer.problem:
        st.warning(escape_markdown(translate_message(offer.problem)), icon=":material/error:")
    if own and own.step.is_active:
        _show_progress(engine, own)
        return
    if own and own.problem:
        st.error(escape_markdown(translate_message(own.problem)), icon=":material/error:")
        if own.checks:
            show_checks(list(own.checks))
    if not offer.in_use:
        _show_buttons(engine, offer, own, is_busy=bool(setup and setup.step.is_active))


def _show_progress(engine: Engine, setup: ModelSetup) -> None:
    share = setup.done / setup.total
    if setup.step is SetupStep.INSTALLING:
        st.caption(_(":material/hourglass_empty: Installing the package xllamacpp"))
    elif setup.step is SetupStep.TESTING:
        st.caption(_(":material/hourglass_empty: Loading and testing the model"))
    elif share >= 1:
        st.progress(1.0, text=_("Checking the file"))
    else:
        words = _("Stopping") if setup.is_stopping else _("Downloading")
        st.progress(
            share,
            text=_(
                "{words}: {done} of {total}",
                words=words,
                done=format_bytes(setup.done),
                total=format_bytes(setup.total),
            ),
        )
    if setup.step is SetupStep.DOWNLOADING:
        with st.container(horizontal=True, gap="small"):
            for label, icon, act in (
                (_("Pause"), "pause", engine.model_downloads.pause),
                (_("Cancel"), "close", engine.model_downloads.cancel),
            ):
                if st.button(label, key=f"{icon}_{setup.name}", icon=f":material/{icon}:", disabled=setup.is_stopping):
                    _run_action(act)


def _show_buttons(engine: Engine, offer: ModelOffer, own: ModelSetup | None, *, is_busy: bool) -> None:
    downloads, done = engine.model_downloads, offer.downloaded_bytes
    needs_package = own is not None and own.step is SetupStep.PACKAGE_MISSING
    if needs_package:
        label = _("Install and use")
    elif done >= offer.size_bytes:
        label = _("Use")
    elif done:
        label = _("Continue ({size} are here)", size=format_bytes(done))
    else:
        label = _("Download and use")
    with st.container(horizontal=True, gap="small"):
        if st.button(
            label,
            key=f"use_{offer.name}",
            type="primary" if needs_package else "secondary",
            icon=":material/download:" if done < offer.size_bytes else ":material/check:",
            disabled=bool(offer.problem) or is_busy,
        ):
            _run_action(lambda: downloads.start(offer.name, install=True))
        if done and st.button(_("Remove"), key=f"remove_{offer.name}", icon=":material/delete:", disabled=is_busy):
            _run_action(lambda: downloads.remove(offer.name))
    if needs_package:
        st.code(downloads.install_command, language="bash", wrap_lines=True)


def _run_action(act: Callable[[], None]) -> None:
    with show_errors():
        act()
        st.rerun()
