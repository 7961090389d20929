"""Notes that say which texts are sent to the language model, and to which host."""

from __future__ import annotations

import streamlit as st

from pages.shared.text import escape_markdown
from pages.shared.translation import _
from rag_core.engine import Engine


def show_privacy(engine: Engine) -> None:
    """Say which texts the connected model gets, and where it runs."""
    if engine.models.settings.gguf:
        st.caption(_("The model runs inside this app: no text leaves this machine for it."))
        return
    host = engine.models.find_host(engine.models.endpoint)
    name = escape_markdown(host.name if host else engine.models.endpoint)
    if host and host.is_this_machine:
        name += _(
            ", which is this machine (the texts leave it only if that server passes them on, as with cloud models of "
            "Ollama)"
        )
    pictures = _(", with pictures of their pages") if engine.models.settings.page_images else ""
    st.caption(
        _(
            "Sent for answers to {name}: the question, earlier messages of the conversation, instructions "
            "for answers, names of documents and the passages found, or whole pages if the model is "
            "capable{pictures}; for a summary, whole documents. Searches step by step, themes and judges "
            "send more when you start them; docs/privacy.md lists every request.",
            name=name,
            pictures=pictures,
        )
    )


def show_destination(engine: Engine, address: str) -> None:
    """Say to which host texts would be sent if a model at ``address`` were connected.

    The line is empty for an address without a host, and for that of the connected model, which `show_privacy`
    describes. Even an empty line keeps its place. Otherwise the fields below would move, and the browser would replace
    them and lose what is being typed.
    """
    place = st.empty()
    host = engine.models.find_host(address)
    if host is None or address.strip() == engine.models.endpoint:
        return
    if host.is_this_machine:
        place.caption(
            _("This address is on this machine: once connected, questions and passages go to the server there.")
        )
    else:
        place.caption(
            _(
                "Once connected, questions, earlier messages, instructions for answers, names of documents and "
                "passages leave this machine for {name}. The list of models and the test send none of them.",
                name=escape_markdown(host.name),
            )
        )
