"""The engine and the running answers, which all sessions share."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import streamlit as st
from streamlit import config

from pages.shared import keys
from pages.shared.answers import Answers
from pages.shared.current import forget_source
from pages.shared.text import escape_markdown
from pages.shared.translation import _, load_languages, translate_message
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.settings import load_settings
from rag_core.types.access import is_loopback


@dataclass(frozen=True)
class Backend:
    """The engine and the running answers; a single instance serves all sessions."""

    engine: Engine
    answers: Answers

    def close(self) -> None:
        self.answers.close()
        self.engine.close()


@st.cache_resource(show_spinner=False, on_release=Backend.close)
def _create_backend() -> Backend:
    settings = load_settings()
    # Streamlit's server refuses files above this limit, even if the limit of a widget is higher. Streamlit has no
    # public function to set the server's limit.
    config.set_option("server.maxUploadSize", settings.max_file_mb)
    engine = Engine(settings)
    engine.warm_up()
    engine.watches.start()
    engine.cards.start()
    return Backend(engine, Answers(engine))


def open_backend() -> None:
    """Open the engine, start to load the models, and announce the address to programs of this computer.

    If the engine cannot be opened, `get_backend` tries again and shows why.
    """
    load_languages()
    with suppress(RagError):
        engine = _create_backend().engine
        host = find_host()
        name = "127.0.0.1" if host in ("", "0.0.0.0", "::") else host  # noqa: S104 - nothing is bound here
        # A program that uses the data folder finds the application at this address. Without a token, the application
        # answers only at addresses of this computer.
        if is_loopback(name) and not config.get_option("server.sslCertFile"):
            name = f"[{name}]" if ":" in name else name
            engine.announce(f"http://{name}:{config.get_option('server.port')}")


def open_engine() -> Engine:
    """Return the engine, and open it first if necessary; raise `RagError` if that fails."""
    return _create_backend().engine


def find_host() -> str:
    """Return the address at which the server listens; empty if the server listens at every address."""
    return config.get_option("server.address") or ""


def find_base_path() -> str:
    """Return the path at which the app is served: empty, or with a slash at the beginning."""
    path = (config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def find_application() -> str:
    """Return the address at which the reader's browser has opened the app, for links; empty if it is unknown."""
    address = urlsplit(st.context.url or "")
    return f"{address.scheme}://{address.netloc}{find_base_path()}" if address.netloc else ""


def close_backend() -> None:
    """Stop running answers and jobs, and close the engine."""
    _create_backend.clear()


def get_backend() -> Backend:
    """Return the backend that all sessions share.

    If the engine cannot be opened, show why, with a button that tries again, and end the run of the page.
    """
    try:
        return _create_backend()
    except RagError as error:
        st.error(
            escape_markdown(translate_message(str(error))), title=_("Footnote cannot start"), icon=":material/error:"
        )
        st.button(_("Try again"), icon=":material/refresh:")
        st.stop()


def enter_page(page: str) -> None:
    """Record which page is being drawn.

    If it is another page than before, forget the open source, dialogs, cards, and results of jobs.
    """
    # A run of the whole page closes an open dialog, so no dialog is open now.
    st.session_state.pop(keys.DIALOG_OPEN, None)
    if st.session_state.get(keys.PAGE) == page:
        return
    st.session_state[keys.PAGE] = page
    forget_source()
    for name in (keys.RECENT_JOBS, keys.CARDS, keys.MENU, keys.EDITOR, keys.EARLIER):
        st.session_state.pop(name, None)
