"""The replaced versions of a document, which stay until the reader removes them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared.jobs import track_jobs
from pages.shared.problems import show_errors_next_run
from pages.shared.text import escape_markdown, format_time
from pages.shared.translation import _, format_number
from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo, DocumentVersion


def show_versions(engine: Engine, document: DocumentInfo, versions: Sequence[DocumentVersion]) -> None:
    """Show each version with its date; a replaced version can be downloaded, restored and removed."""
    st.caption(
        _(
            "Questions are answered from the version in use. The files of replaced versions are kept until you remove "
            "them. A version that you remove leaves its snapshots too."
        )
    )
    for version in versions:
        with st.container(horizontal=True, vertical_alignment="center"):
            state = _("replaced") if version.is_replaced else _("in use")
            parts = [format_time(version.added_at), f"{format_number(version.size / 1000)} kB", state]
            if version.snapshots:
                names = ", ".join(map(escape_markdown, version.snapshots))
                parts.append(_("in {names}", names=names))
            st.markdown(" · ".join(parts))
            if version.is_replaced:
                _show_buttons(engine, document, version)


def _show_buttons(engine: Engine, document: DocumentInfo, version: DocumentVersion) -> None:
    key = version.version_id
    st.download_button(
        _("Download"),
        data=lambda: engine.documents.content(document.document_id, version_id=key),
        file_name=document.name.rpartition("/")[2],
        mime=engine.formats.find_by_name(document.name).media_type,
        icon=":material/download:",
        key=f"download_version_{key}",
        on_click="ignore",
    )
    st.button(
        _("Restore"),
        icon=":material/undo:",
        key=f"restore_version_{key}",
        on_click=_restore_version,
        args=[engine, version],
    )
    st.button(
        _("Remove"),
        icon=":material/delete:",
        key=f"remove_version_{key}",
        on_click=_remove_version,
        args=[engine, version],
    )


def _restore_version(engine: Engine, version: DocumentVersion) -> None:
    with show_errors_next_run():
        track_jobs([engine.documents.restore_version(version.version_id)])


def _remove_version(engine: Engine, version: DocumentVersion) -> None:
    with show_errors_next_run():
        engine.documents.remove_version(version.version_id)
