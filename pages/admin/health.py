"""The state of the installation."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.shared.text import escape_markdown
from rag_core.types.formatting import format_size
from rag_core.types.status import Status

# The counts that are shown first, in this order. The other counts are shown below the table of stores.
_COUNTS = {"documents": "Documents", "pages": "Pages", "chunks": "Passages"}


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
            st.metric(_COUNTS[name], f"{status.counts.get(name, 0):,}", width="content")
        st.metric("On disk", format_size(sum(status.disk_bytes.values())), width="content")


def show_storage(status: Status) -> None:
    """Show the number of entries in each store, the disk space by part, and the remaining counts."""
    st.header("Storage", anchor=False)
    st.caption(
        "The database keeps the documents as passages. Each kind of search has an index of the same passages, which "
        "can be built again from the database."
    )
    rows = [
        (name, status.stores.get(name), "reachable" if status.reachable.get(name, True) else "not reachable")
        for name in dict.fromkeys((*status.stores, *status.reachable))
    ]
    largest_first = sorted(status.disk_bytes.items(), key=lambda one: one[1], reverse=True)
    stores, disk = st.columns(2)
    stores.dataframe(
        pd.DataFrame(rows, columns=["Store", "Entries", "State"]),
        hide_index=True,
        height="content",
        key="stores",
        column_config={"Entries": st.column_config.NumberColumn(format="localized")},
        alt="Entries in each store",
    )
    disk.dataframe(
        pd.DataFrame([(part, format_size(amount)) for part, amount in largest_first], columns=["Part", "Size"]),
        hide_index=True,
        height="content",
        key="disk",
        column_config={"Size": st.column_config.TextColumn(alignment="right")},
        alt="Disk space by part",
    )
    other_counts = {name: number for name, number in status.counts.items() if name not in _COUNTS}
    if other_counts:
        st.caption(" · ".join(f"{escape_markdown(name)}: {number:,}" for name, number in other_counts.items()))


def show_installation(status: Status) -> None:
    """Show how answers are written, the data folder and package versions."""
    st.header("Installation", anchor=False)
    writer = "quoted from the documents" if status.generator == "extractive" else f"written by {status.generator}"
    st.text(f"Answers: {writer}\nData folder: {status.data_dir}")
    with st.expander("Versions of packages", type="compact"):
        st.dataframe(
            pd.DataFrame(status.versions.items(), columns=["Package", "Version"]),
            hide_index=True,
            height="content",
            key="versions",
            alt="Versions of packages",
        )
