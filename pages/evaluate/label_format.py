"""The format of a file of labelled questions."""

from __future__ import annotations

import streamlit as st

from pages.shared.translation import _

_EXAMPLE = """\
{"question": "What was capex in 2022?", "document": "report.pdf", "page": "57", "answers": ["1,749"]}
{"question": "Who audits the company?", "document": "report.pdf", "quote": "independent auditor"}
{"question": "Who won the cup in 1930?", "kind": "no answer"}"""
_STALE_EXAMPLE = (
    '{"question": "How long is the warranty?", "answers": ["2 years"], "evidence": [{"document": "terms-2024.pdf", '
    '"page": "3"}, {"document": "terms-2019.pdf", "page": "3", "state": "stale"}]}'
)


def show_label_format() -> None:
    """Show examples of labelled questions in an expander."""
    with st.expander(_("Format of a file of labelled questions"), type="compact"):
        st.code(_EXAMPLE, language=None, wrap_lines=True)
        st.caption(
            _(
                "One JSON object per line, or CSV with the same names as columns. Give a page by its printed number "
                "(page), by its position from 0 (page_index) or by words on it (quote). A page about the question that "
                "no longer holds, or that must not be used, has the state stale or inadmissible:"
            )
        )
        st.code(_STALE_EXAMPLE, language=None, wrap_lines=True)
