"""The Documents page: add, search, delete and re-index documents."""

from __future__ import annotations

import streamlit as st

from pages.documents.actions import show_actions, show_receipts
from pages.documents.filters import filter_documents
from pages.documents.outdated import offer_reindex
from pages.documents.preview import show_preview
from pages.documents.rejected import show_problems_download, show_rejected
from pages.documents.table import choose_documents, show_summary
from pages.shared.clashes import ask_about_clashes
from pages.shared.jobs import show_jobs
from pages.shared.library import split_rejected
from pages.shared.start import start_page
from pages.shared.translation import _
from pages.shared.unlock import find_rejected, show_password_fields
from pages.shared.uploads import show_uploader

back = start_page("documents", _("Documents"))
library = back.engine.documents.list()
show_uploader(back.engine)
ask_about_clashes(back.engine)
show_jobs(back.engine)
asked = find_rejected(back.engine, library)
show_password_fields(back.engine, asked)
show_receipts()
offer_reindex(back.engine)
if not library:
    st.info(
        _(
            "The library is empty. Drop documents on the field above; you can ask about them as soon as they are "
            "indexed."
        ),
        icon=":material/info:",
    )
    st.stop()
documents, rejected = split_rejected(library)
collections = back.engine.collections.list()
if documents:
    shown = filter_documents(documents)
    place = st.container()
    chosen = choose_documents(documents, shown) if shown else []
    with place:
        show_actions(back.engine, chosen, shown if len(shown) < len(documents) else [], collections)
        # The tools of the table appear over this line, so that they do not cover the buttons.
        show_summary(documents, shown)
show_rejected(back.engine, rejected, asked)
show_problems_download(library)
show_preview(back.engine, library, collections)
