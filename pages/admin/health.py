"""The state of the installation."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.shared.text import escape_markdown, format_bytes
from pages.shared.translation import N_, _, format_number, translate_message
from rag_core.engine import Engine
from rag_core.types.status import Status

# The counts that are shown first, in this order. The other counts are shown below the table of stores.
_COUNTS = {"documents": N_("Documents"), "pages": N_("Pages"), "chunks": N_("Passages")}


def show_health(status: Status) -> None:
    """Show whether everything works, the problems, the notices, the main counts and the used disk space."""
    if status.healthy:
        st.success(_("Everything works."), icon=":material/check_circle:")
    for problem in status.problems:
        st.error(escape_markdown(translate_message(problem)), icon=":material/error:")
    for notice in status.notices:
        st.info(escape_markdown(translate_message(notice)), icon=":material/update:")
    with st.container(horizontal=True, gap="large"):
        for name in _COUNTS:
            st.metric(_(_COUNTS[name]), format_number(status.counts.get(name, 0)), width="content")
        st.metric(_("On disk"), format_bytes(sum(status.disk_bytes.values())), width="content")


def show_storage(engine: Engine, status: Status) -> None:
    """Show the entries of each store, the disk space by part, the counts other than `_COUNTS`, and an export button."""
    st.header(_("Storage"), anchor=False)
    st.caption(
        _(
            "The database keeps the documents as passages. Each kind of search has an index of the same "
            "passages, which can be built again from the database."
        )
    )
    rows = [
        (
            translate_message(name),
            status.stores.get(name),
            _("reachable") if status.reachable.get(name, True) else _("not reachable"),
        )
        for name in dict.fromkeys((*status.stores, *status.reachable))
    ]
    largest_first = sorted(status.disk_bytes.items(), key=lambda one: one[1], reverse=True)
    stores, disk = st.columns(2)
    stores.dataframe(
        pd.DataFrame(rows, columns=[_("Store"), _("Entries"), _("State")]),
        hide_index=True,
        height="content",
        key="stores",
        column_config={_("Entries"): st.column_config.NumberColumn(format="localized")},
        alt=_("Entries in each store"),
    )
    disk.dataframe(
        pd.DataFrame(
            [(translate_message(part), format_bytes(amount)) for part, amount in largest_first],
            columns=[_("Part"), _("Size")],
        ),
        hide_index=True,
        height="content",
        key="disk",
        column_config={_("Size"): st.column_config.TextColumn(alignment="right")},
        alt=_("Disk space by part"),
    )
    other_counts = {name: number for name, number in status.counts.items() if name not in _COUNTS}
    if other_counts:
        st.caption(
            " · ".join(
                f"{escape_markdown(translate_message(name))}: {format_number(number)}"
                for name, number in other_counts.items()
            )
        )

    st.download_button(
        _("Export the library"),
        lambda: b"".join(engine.transfers.export_library()),
        "footnote-export.zip",
        "application/zip",
        key="export_library",
        on_click="ignore",
        icon=":material/download:",
        help=_("One file with the documents, conversations and settings for answers. Another library imports it."),
    )


def show_installation(status: Status) -> None:
    """Show how answers are written, the data folder, what draws Office documents, and the versions of packages."""
    st.header(_("Installation"), anchor=False)
    writer = (
        _("quoted from the documents")
        if status.generator == "extractive"
        else _("written by {generator}", generator=status.generator)
    )
    st.text(_("Answers: {writer}\nData folder: {data_dir}", writer=writer, data_dir=status.data_dir))
    drawn = _("drawn by LibreOffice ({path})", path=status.libreoffice)
    plain = _("drawn by Footnote, because LibreOffice (the program soffice) is not installed")
    st.text(_("Pages of Office documents: {how}", how=drawn if status.libreoffice else plain))
    with st.expander(_("Versions of packages"), type="compact"):
        st.dataframe(
            pd.DataFrame(status.versions.items(), columns=[_("Package"), _("Version")]),
            hide_index=True,
            height="content",
            key="versions",
            alt=_("Versions of packages"),
        )
