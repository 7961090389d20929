"""Documents: add, search, delete and re-index documents."""

from __future__ import annotations

import streamlit as st

from pages.documents.actions import actions, receipts
from pages.documents.detail import detail
from pages.documents.failures import failures
from pages.documents.table import table
from pages.documents.uploads import uploads
from pages.shared.backend import arrive, backend
from pages.shared.clashes import clashes
from pages.shared.jobs import job_panel
from pages.shared.problems import problem
from pages.shared.unlock import refused, unlock
from pages.shared.warmth import warmth

arrive("documents")
back = backend()
problem()
st.title("Documents", anchor=False)
warmth(back.engine)
documents = back.engine.documents.list()
uploads(back.engine)
clashes(back.engine)
job_panel(back.engine)
asked = refused(back.engine, documents)
unlock(back.engine, asked)
receipts()
if not documents:
    st.info(
        "The library is empty. Drop PDFs on the field above; you can ask about them as soon as they are indexed.",
        icon=":material/info:",
    )
    st.stop()
chosen = table(documents)
actions(back.engine, chosen, back.engine.collections.list())
failures(documents)
if len(chosen) == 1:
    unlock(back.engine, [one for one in chosen if one not in asked])
    detail(back.engine, chosen[0])
