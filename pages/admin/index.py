"""The parameters that the index was built with, and a button to re-index documents."""

from __future__ import annotations

import dataclasses

import pandas as pd
import streamlit as st

from pages.shared.jobs import track_jobs
from pages.shared.library import find_searchable
from pages.shared.problems import show_errors
from pages.shared.text import count_documents, format_duration
from pages.shared.translation import N_, _, ngettext, translate_message
from rag_core.engine import Engine
from rag_core.types.chunks import Fingerprint
from rag_core.types.status import Status

_WORDS = {
    "embedder": N_("Embedder"),
    "weights": N_("Weights (SHA-256)"),
    "dimension": N_("Dimensions"),
    "token_dimension": N_("Dimensions of token vectors"),
    "projection": N_("Projection of token vectors"),
    "chunk_tokens": N_("Tokens per chunk"),
    "chunk_overlap": N_("Overlap of chunks"),
    "extractor": N_("Text extracted with"),
    "prefix": N_("Prefix of each chunk"),
    "sparse": N_("Learned sparse encoder"),
    "sparse_weights": N_("Weights of the sparse encoder (SHA-256)"),
}
_ALL = ""
# Fields that change the text of chunks, but not how a vector is computed from a text.
_TEXT = {"chunk_tokens", "chunk_overlap", "extractor", "prefix"}
_SPARSE = {"sparse", "sparse_weights"}


def show_index(engine: Engine, status: Status) -> None:
    """Compare the index with the settings, and let the operator re-index documents."""
    st.header(_("Index"), anchor=False)
    st.caption(
        _(
            "Searches read an index of the documents. It was built with the settings of then; if they differ "
            "now, build it again (re-index) to apply them."
        )
    )
    with show_errors():
        differing = engine.index.differences()
        _show_comparison(status.built_with, status.configured, set(differing))
        if runtime := engine.describe_embedding():
            st.caption(_("Texts are embedded by {runtime}.", runtime=translate_message(runtime)))
        _show_rebuild_form(engine, status, set(differing))


def _show_comparison(built: Fingerprint | None, configured: Fingerprint | None, differing: set[str]) -> None:
    if built is None and configured is None:
        st.caption(_("Nothing is indexed yet."))
        return
    rows = []
    for field in dataclasses.fields(Fingerprint):
        values = [_shorten_hash(getattr(one, field.name)) if one else "–" for one in (built, configured)]
        rows.append((_(_WORDS.get(field.name, field.name)), *values, _("differs") if field.name in differing else ""))
    with st.expander(_("What the index was built with"), expanded=bool(differing), type="compact"):
        st.dataframe(
            pd.DataFrame(rows, columns=[_("Property"), _("Index"), _("Settings"), _("Difference")]),
            hide_index=True,
            height="content",
            key="fingerprint",
            alt=_("What the index was built with, compared with the settings"),
        )


def _shorten_hash(value: object) -> str:
    text = str(value)
    return f"{text[:12]}…" if len(text) == 64 else text


def _show_rebuild_form(engine: Engine, status: Status, differing: set[str]) -> None:
    names = {one.document_id: one.name for one in find_searchable(engine.documents.list())}
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        document_id = st.selectbox(
            _("Re-index"),
            [_ALL, *names],
            format_func=lambda one: names[one] if one else _("All documents ({number})", number=len(names)),
            key="reindex_choice",
        )
        st.button(
            _("Re-index"),
            icon=":material/sync:",
            key="reindex",
            type="primary" if differing else "secondary",
            on_click=_start_rebuild,
            args=[engine, document_id],
        )
    if document_id:
        st.caption(_("The file is read and indexed again. Until that is done, answers use the current version."))
    else:
        number = status.stores.get("database", 0)
        chunks = ngettext("{number} chunk", "{number} chunks", number)
        totals = f"{count_documents(len(names))}, {chunks}"
        st.caption(f"{totals}. {_describe_rebuild(differing, engine.index.estimate_seconds())}")


def _describe_rebuild(differing: set[str], seconds: float | None) -> str:
    """Describe what re-indexing all documents will do."""
    if not differing:
        return _(
            "The index matches the settings: documents that are complete in every store stay as they are, the others "
            "are indexed again."
        )
    is_reused = differing <= _TEXT | _SPARSE
    reused = _("vectors of unchanged text are reused") if is_reused else _("every vector is computed again")
    if differing & _SPARSE:
        reused += _(", and the learned sparse index is built anew")
    most = _("at most ") if differing <= _TEXT else ""
    # The estimate is based on the speed of the current embedder; another embedder may be slower or faster.
    pace = (
        _(", {most}about {duration} at the speed of the current embedder", most=most, duration=format_duration(seconds))
        if seconds
        else ""
    )
    return _("Answers use the current index until the new one is complete; {reused}{pace}.", reused=reused, pace=pace)


def _start_rebuild(engine: Engine, document_id: str) -> None:
    with show_errors():
        track_jobs([engine.index.rebuild([document_id] if document_id else None)])
