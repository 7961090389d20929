"""The Settings page: health, model, index, storage, failures, the threshold, folders, costs and installation."""

from __future__ import annotations

import streamlit as st

from pages.admin.context_budget import show_context_budget
from pages.admin.failures import show_recent_failures
from pages.admin.gate import show_answer_settings
from pages.admin.health import show_health, show_installation, show_storage
from pages.admin.index import show_index
from pages.admin.instructions import show_instructions
from pages.admin.model import show_model
from pages.admin.model_tasks import show_model_tasks
from pages.admin.scroll import scroll_to_linked_part
from pages.admin.tokens import show_tokens
from pages.admin.usage import show_usage
from pages.admin.watches import show_watched_folders
from pages.shared import keys
from pages.shared.jobs import show_jobs
from pages.shared.start import start_page
from pages.shared.translation import _

back = start_page("admin", _("Settings"))
with st.spinner(_("Checking that everything works")):
    status = back.engine.status()
show_health(status)
with st.container(key=keys.ADMIN_MODEL):
    show_model(back.engine)
    show_context_budget(back.engine)
    show_model_tasks(back.engine)
show_instructions(back.engine)
show_jobs(back.engine)
show_index(back.engine, status)
show_storage(back.engine, status)
show_recent_failures(back.engine)
show_answer_settings(back.engine)
show_watched_folders(back.engine)
show_tokens(back.engine)
show_usage(back.engine)
show_installation(status)
scroll_to_linked_part()
