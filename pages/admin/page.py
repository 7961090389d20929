"""Admin: health, index, stores, watched folders, language model, costs and answer settings."""

from __future__ import annotations

import streamlit as st

from pages.admin.gate import gate
from pages.admin.health import health, installation, stores
from pages.admin.index import index
from pages.admin.model import model
from pages.admin.usage import usage
from pages.admin.watches import watches
from pages.shared.backend import arrive, backend
from pages.shared.jobs import job_panel
from pages.shared.warmth import warmth

arrive("admin")
back = backend()
st.title("Admin", anchor=False)
warmth(back.engine)
with st.spinner("Checking every store"):
    status = back.engine.status()
health(status)
job_panel(back.engine)
index(back.engine, status)
stores(status)
watches(back.engine)
model(back.engine)
usage(back.engine)
gate(back.engine)
installation(status)
