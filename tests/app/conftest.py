"""The app under Streamlit's own test double, over the real engine in a folder of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.shared import backend as backend_module
from pages.shared.backend import Backend
from rag_core.engine import Engine
from tests.support.app import PAGES, ROOT, SECONDS, OpenPage


@pytest.fixture(autouse=True)
def _fresh_backend() -> Iterator[None]:
    """Each test gets an engine of its own, and leaves none behind."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> OpenPage:
    """Open a page as a reader does, through app.py; query parameters go by keyword."""
    monkeypatch.chdir(ROOT)

    def opened(page: str = "chat", **params: str | list[str]) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
        if page != "chat":
            app.run()
            app.switch_page(PAGES[page])
        app.query_params.update(params)
        app.run()
        assert not app.exception, app.exception
        return app

    return opened


@pytest.fixture
def engine() -> Engine:
    """The engine that the pages use."""
    shared: Backend = backend_module._open()
    return shared.engine
