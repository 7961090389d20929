"""The Check page: compare a draft, sentence by sentence, with the documents."""

from __future__ import annotations

import streamlit as st

from pages.check.choosing import choose_scope, choose_text
from pages.check.progress import show_progress
from pages.check.results import build_answers, show_results
from pages.check.text_check import TextCheck
from pages.shared import keys
from pages.shared.current import close_source
from pages.shared.library import find_searchable
from pages.shared.source import show_source
from pages.shared.start import start_page
from pages.shared.translation import _

back = start_page("check", _("Check a text"))
documents = find_searchable(back.engine.documents.list())
if not documents:
    st.info(
        _("The library is empty. Add documents on the Documents page; then a text can be checked against them."),
        icon=":material/info:",
    )
    st.page_link("documents/page.py", label=_("Open Documents"), icon=":material/library_books:")
    st.stop()
st.caption(_("Check a draft against your documents: each sentence is looked up, and what the documents say is shown."))
text = choose_text()
scope = choose_scope(documents)
running: TextCheck | None = st.session_state.get(keys.CHECK)
is_running = running is not None and not running.done
if st.button(_("Check"), type="primary", icon=":material/fact_check:", key="check_start", disabled=is_running):
    close_source()
    st.session_state.pop(keys.CHECK_ONLY, None)
    running = st.session_state[keys.CHECK] = TextCheck(back.engine, text, scope)
    running.start()
    # The button is drawn again, because the text cannot be checked twice at the same time.
    st.rerun()
if running is not None:
    checked = show_progress(running)
    if checked:
        show_results(back.engine, checked)
        show_source(back.engine, build_answers(checked))
