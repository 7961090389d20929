"""The state of the installation."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.shared.text import escape_markdown
from rag_core.types.formatting import format_count, format_size
from rag_core.types.status import Status

# The counts that are shown first, in this order. The other counts are shown below the table of stores.
_COUNTS = ("documents", "pages", "chunks")


def show_health(status: Status) -> None:
    """Show whether everything works, the problems, and the main counts."""
    if status.healthy:
        st.success("Everything works.", icon=":material/check_circle:")
    for problem in status.problems:
        st.error(escape_markdown(problem), icon=":material/error:")
    for notice in status.notices:
        st.info(escape_markdown(notice), icon=":material/update:")
    with st.container(horizontal=True, gap="large"):
        for name in _COUNTS:
            st.metric(name.capitalize(), f"{status.counts.get(name, 0):,}", width="content")
        st.metric("On disk", format_size(sum(status.disk_bytes.values())), width="content")


def show_stores(status: Status) -> None:
    """Show the number of entries in each store, and the remaining counts."""
    st.header("Stores", anchor=False)
    st.caption("The database is the source of truth; the index of each search contains the same chunks.")
    rows = [
        (name, status.stores.get(name), "reachable" if status.reachable.get(name, True) else "not reachable")
        for name in dict.fromkeys((*status.stores, *status.reachable))
    ]
    st.dataframe(
        pd.DataFrame(rows, columns=["Store", "Entries", "State"]),
        hide_index=True,
        key="stores",
        column_config={"Entries": st.column_config.NumberColumn(format="localized")},
        alt="Entries in each store",
    )
    other_counts = {name: number for name, number in status.counts.items() if name not in _COUNTS}
    if other_counts:
        st.caption(" · ".join(f"{escape_markdown(name)}: {number:,}" for name, number in other_counts.items()))


def show_installation(status: Status) -> None:
    """Show how answers are written, the data folder, disk use and package versions."""
    st.header("Installation", anchor=False)
    writer = "quoted from the documents" if status.generator == "extractive" else f"written by {status.generator}"
    st.text(f"Answers: {writer}\nData folder: {status.data_dir}")
    largest_first = sorted(status.disk_bytes.items(), key=lambda one: one[1], reverse=True)
    disk, versions = st.columns(2)
    with disk:
        st.dataframe(
            pd.DataFrame([(part, format_size(amount)) for part, amount in largest_first], columns=["Part", "Size"]),
            hide_index=True,
            key="disk",
            column_config={"Size": st.column_config.TextColumn(alignment="right")},
            alt="Disk space by part",
        )
    with versions:
        st.dataframe(
            pd.DataFrame(status.versions.items(), columns=["Package", "Version"]),
            hide_index=True,
            key="versions",
            alt="Versions of packages",
        )
    if failed := status.counts.get("failed", 0):
        st.caption(f"{format_count(failed, 'document')} failed. Open the Documents page to see why and to try again.")
