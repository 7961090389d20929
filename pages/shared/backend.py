"""The one engine that all sessions share, and the answers being written with it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit import config

from pages.shared import keys
from pages.shared.answers import Answers
from pages.shared.text import plain
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.settings import load_settings


@dataclass(frozen=True)
class Backend:
    """What the pages work with; it holds nothing that belongs to one reader's session."""

    engine: Engine
    answers: Answers

    def close(self) -> None:
        self.answers.close()
        self.engine.close()


@st.cache_resource(show_spinner=False, on_release=Backend.close)
def _open() -> Backend:
    settings = load_settings()
    # What a widget lets through, Streamlit's server refuses beyond this, which no public call sets.
    config.set_option("server.maxUploadSize", settings.max_file_mb)
    engine = Engine(settings)
    engine.warm_up()
    engine.watches.start()
    return Backend(engine, Answers(engine))


def backend() -> Backend:
    """The shared backend; a page that cannot have it says why and ends."""
    try:
        return _open()
    except RagError as error:
        st.error(plain(str(error)), title="Footnote cannot start", icon=":material/error:")
        st.button("Try again", icon=":material/refresh:")
        st.stop()


def arrive(page: str) -> bool:
    """Note that a page is drawn; true when the reader has just come from another one."""
    # Drawing a whole page closes what dialog was open.
    st.session_state.pop(keys.DIALOG_OPEN, None)
    came_from = st.session_state.get(keys.PAGE)
    st.session_state[keys.PAGE] = page
    if came_from == page:
        return False
    # What became of files is told on the page where they were added, and what was opened on a page stays there.
    for name in (keys.RECENT_JOBS, keys.SOURCE, keys.MENU):
        st.session_state.pop(name, None)
    return came_from is not None
