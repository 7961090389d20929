"""Runs that a page requests by itself."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def script() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

    from pages.shared.reruns import rerun_page

    context = get_script_run_ctx()
    assert context is not None
    assert context.script_requests is not None
    if "is_complete" not in st.session_state:
        st.session_state.is_complete = True
        # The browser requests a run with another address, as for a click on a link.
        context.script_requests.request_rerun(RerunData(query_string="c=other"))
        rerun_page()
    st.text(context.query_string)


def test_run_that_the_reader_has_requested_is_not_replaced() -> None:
    app = AppTest.from_function(script).run()
    assert not app.exception
    assert app.text[0].value == "c=other"
