"""The Snapshots page: keep what the documents say now, so that questions can be asked about it later."""

from __future__ import annotations

import streamlit as st

from pages.shared.jobs import show_jobs
from pages.shared.start import start_page
from pages.shared.translation import _
from pages.snapshots.listing import show_form, show_list

back = start_page("snapshots", _("Snapshots"))
st.caption(
    _(
        "A snapshot keeps what the documents say, so that you can ask about it after newer files have "
        "replaced it: choose it in Chat, or compare two in the Lab. A document that you delete is "
        "deleted from all snapshots too, and is never cited again."
    )
)
show_jobs(back.engine)
show_list(back.engine)
if back.engine.documents.list():
    show_form(back.engine)
else:
    st.info(_("The library is empty. Add documents on the Documents page first."), icon=":material/info:")
