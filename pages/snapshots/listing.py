"""The list of snapshots, and the form for a new one."""

from __future__ import annotations

import streamlit as st

from pages.shared.jobs import track_jobs
from pages.shared.library import format_collection_name
from pages.shared.problems import show_errors_next_run
from pages.shared.text import count_documents, escape_markdown, get_reader_zone
from pages.shared.translation import _, format_date
from rag_core.engine import Engine
from rag_core.types.local_time import get_today, to_local_time

_NAME, _COLLECTION, _DATE = "snapshot_name", "snapshot_collection", "snapshot_date"
_ALL = ""


def show_list(engine: Engine) -> None:
    """List the snapshots, each with a button that deletes it.

    If some documents of a snapshot are not in the index, another button indexes them.
    """
    for one in engine.snapshots.list():
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            parts = [
                f"**{escape_markdown(one.name)}**",
                format_date(to_local_time(one.as_of, get_reader_zone())),
                *([escape_markdown(one.collection)] if one.collection else []),
                count_documents(one.documents),
                _("{number} changed since", number=one.superseded) if one.superseded else _("unchanged since"),
            ]
            st.markdown(" · ".join(parts))
            if one.searchable < one.documents:
                st.button(
                    _("Index {documents}", documents=count_documents(one.documents - one.searchable)),
                    icon=":material/sync:",
                    key=f"index_snapshot_{one.snapshot_id}",
                    on_click=lambda: track_jobs([engine.snapshots.index_missing()]),
                    help=_("They are in the snapshot, but not in the index, so searches do not find them."),
                )
            st.button(
                _("Delete"),
                icon=":material/delete:",
                key=f"delete_snapshot_{one.snapshot_id}",
                on_click=_delete_snapshot,
                args=[engine, one.name],
                help=_("The documents stay as they are now. Files of replaced versions are kept."),
            )


def show_form(engine: Engine) -> None:
    """Let the reader create a snapshot of all documents or of a collection."""
    today = get_today(get_reader_zone())
    with st.form("snapshot_form", border=False):
        name, collection, day = st.columns([2, 1, 1])
        name.text_input(_("Name"), key=_NAME, placeholder=_("Annual reports 2025"))
        collection.selectbox(
            _("Documents"),
            [_ALL, *engine.collections.list()],
            key=_COLLECTION,
            format_func=lambda one: format_collection_name(one) if one else _("All documents"),
        )
        day.date_input(
            _("Date"),
            today,
            max_value=today,
            key=_DATE,
            format=_("YYYY/MM/DD"),
            help=_(
                "For a past date, the snapshot contains what had been added until then, from the files that are still "
                "stored."
            ),
        )
        st.form_submit_button(
            _("Create snapshot"), icon=":material/add_a_photo:", on_click=_create_snapshot, args=[engine]
        )


def _create_snapshot(engine: Engine) -> None:
    state = st.session_state
    with show_errors_next_run():
        zone = get_reader_zone()
        collection, day = state[_COLLECTION] or "", state[_DATE]
        _, job = engine.snapshots.create(state[_NAME] or "", collection=collection, as_of=day, zone=zone)
        if job:
            track_jobs([job])
        state[_NAME] = ""


def _delete_snapshot(engine: Engine, name: str) -> None:
    with show_errors_next_run():
        engine.snapshots.delete(name)
