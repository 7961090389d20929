"""The pages in Streamlit's AppTest, with a real engine in a new data folder."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from pages.shared import backend as backend_module
from pages.shared.backend import Backend
from rag_core.engine import Engine
from tests.support.app import BRIDGE, CANAL, PAGES, ROOT, SECONDS, OpenPage, add


@pytest.fixture(autouse=True)
def _fresh_backend() -> Iterator[None]:
    """Close the engine after each test."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture(autouse=True, scope="session")
def _components_are_searched_once() -> Iterator[None]:
    """Search the installed packages for components once, as a server does, and not for each run of a script."""
    with pytest.MonkeyPatch.context() as patch:
        search = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", search)
        yield


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> OpenPage:
    """Return a function that opens a page through app.py, with query parameters as keywords."""
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
    """Return the engine that the pages use."""
    shared: Backend = backend_module._open()
    return shared.engine


@pytest.fixture
def bridge(engine: Engine) -> str:
    """Index the document about the bridge; return its id."""
    return add(engine, bridge=BRIDGE)["bridge"]


@pytest.fixture
def ids(engine: Engine) -> dict[str, str]:
    """Index the documents about the bridge and the canal; return their ids by name."""
    return add(engine, bridge=BRIDGE, canal=CANAL)
