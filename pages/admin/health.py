"""The state of the installation."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.shared.text import count, plain, size
from rag_core.types import Status

# What the page counts, in the order shown; anything else that the engine counts follows.
_COUNTS = ("documents", "pages", "chunks")


def health(status: Status) -> None:
    """All is well, or what is wrong."""
    if status.healthy:
        st.success("Everything works.", icon=":material/check_circle:")
    for problem in status.problems:
        st.error(plain(problem), icon=":material/error:")
    with st.container(horizontal=True, gap="large"):
        for name in _COUNTS:
            st.metric(name.capitalize(), f"{status.counts.get(name, 0):,}", width="content")
        st.metric("On disk", size(sum(status.disk_bytes.values())), width="content")


def stores(status: Status) -> None:
    """What each store holds, side by side."""
    st.subheader("Stores", anchor=False)
    st.caption("The database is the truth; the word index and the vectors hold the same chunks.")
    rows = [
        (name, status.stores.get(name), "answers" if status.reachable.get(name, True) else "does not answer")
        for name in dict.fromkeys((*status.stores, *status.reachable))
    ]
    st.dataframe(
        pd.DataFrame(rows, columns=["Store", "Holds", "State"]),
        hide_index=True,
        key="stores",
        column_config={"Holds": st.column_config.NumberColumn(format="localized")},
        alt="Counts in each store",
    )
    rest = {name: number for name, number in status.counts.items() if name not in _COUNTS}
    if rest:
        st.caption(" · ".join(f"{plain(name)}: {number:,}" for name, number in rest.items()))


def installation(status: Status) -> None:
    """Disk, versions, and who writes the answers."""
    st.subheader("Installation", anchor=False)
    writer = "sentences quoted from the documents" if status.generator == "extractive" else status.generator
    st.text(f"Answers: {writer}\nData folder: {status.data_dir}")
    largest_first = sorted(status.disk_bytes.items(), key=lambda one: one[1], reverse=True)
    disk, versions = st.columns(2)
    with disk:
        st.dataframe(
            pd.DataFrame([(part, size(amount)) for part, amount in largest_first], columns=["Part", "Size"]),
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
        st.caption(f"{count(failed, 'document')} failed. The Documents page says why and can try again.")
