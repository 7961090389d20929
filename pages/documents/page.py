"""The Documents page: add, search, delete and re-index documents."""

from __future__ import annotations

import streamlit as st

from pages.documents.actions import show_actions, show_receipts
from pages.documents.detail import show_document
from pages.documents.failures import show_failures_download
from pages.documents.outdated import offer_reindex
from pages.documents.table import choose_documents
from pages.shared.clashes import ask_about_clashes
from pages.shared.jobs import show_jobs
from pages.shared.start import start_page
from pages.shared.unlock import find_rejected, show_password_fields
from pages.shared.uploads import show_uploader

back = start_page("documents", "Documents")
documents = back.engine.documents.list()
show_uploader(back.engine)
ask_about_clashes(back.engine)
show_jobs(back.engine)
asked = find_rejected(back.engine, documents)
show_password_fields(back.engine, asked)
show_receipts()
offer_reindex(back.engine)
if not documents:
    st.info(
        f"The library is empty. Drop {back.engine.formats.plurals} on the field above; you can ask about them as soon "
        "as they are indexed.",
        icon=":material/info:",
    )
    st.stop()
chosen = choose_documents(documents)
collections = back.engine.collections.list()
show_actions(back.engine, chosen, collections)
show_failures_download(documents)
if len(chosen) == 1:
    show_password_fields(back.engine, [one for one in chosen if one not in asked])
    show_document(back.engine, chosen[0])
