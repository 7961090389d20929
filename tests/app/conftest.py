"""The pages in Streamlit's AppTest, with a real engine in a new data folder."""

from __future__ import annotations

import functools
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from pages.shared import backend as backend_module
from pages.shared.backend import Backend
from rag_core.answering.search import Searcher
from rag_core.engine import Engine
from tests.support.app import BRIDGE, CANAL, PAGES, ROOT, SECONDS, OpenPage, add
from tests.support.engines import opened


@pytest.fixture(autouse=True)
def _fresh_backend() -> Iterator[None]:
    """Close the engine after each test."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture(autouse=True, scope="module")
def _warm_up_searches_nothing() -> Iterator[None]:
    """Leave out the search of a warm-up, since each test has an engine, and the models that they share are loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Searcher, "warm_up", lambda _: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def _components_are_searched_once() -> Iterator[None]:
    """Search the installed packages for components once, as a server does, and not for each run of a script."""
    with pytest.MonkeyPatch.context() as patch:
        search = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", search)
        yield


@pytest.fixture(autouse=True, scope="session")
def _folder_of_the_script_stays_in_the_path() -> Iterator[None]:
    """Add the folder of the script to `sys.path`, as a server does.

    Otherwise, each run adds and removes the folder, and an import in another thread at that moment can skip an entry.
    """
    sys.path.append(str(ROOT / "pages"))
    yield
    sys.path.remove(str(ROOT / "pages"))


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> OpenPage:
    """Return a function that opens a page through pages/main.py, with query parameters as keywords."""
    monkeypatch.chdir(ROOT)

    def opened(page: str = "chat", /, **params: str | list[str]) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=SECONDS)
        if page != "chat":
            app.run()
            app.switch_page(PAGES[page])
        app.query_params.update(params)
        app.run()
        assert not app.exception, app.exception
        return app

    return opened


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Index the documents of the fixtures `bridge` and `ids` once; return the data folders by fixture."""
    folders = {}
    for name, files in {"bridge": {"bridge": BRIDGE}, "ids": {"bridge": BRIDGE, "canal": CANAL}}.items():
        folders[name] = tmp_path_factory.mktemp("prepared") / "data"
        with opened(folders[name]) as engine:
            add(engine, **files)
    return folders


@pytest.fixture
def engine(request: pytest.FixtureRequest, prepared: dict[str, Path], tmp_path: Path) -> Engine:
    """Return the engine that the pages use; its library is that of `bridge` or `ids` if the test uses one of them."""
    for name in prepared.keys() & set(request.fixturenames):
        shutil.copytree(prepared[name], tmp_path / "data")
    shared: Backend = backend_module._create_backend()
    return shared.engine


@pytest.fixture
def bridge(engine: Engine) -> str:
    """Return the id of the document about the bridge, the only one in the library."""
    (document,) = engine.documents.list()
    return document.document_id


@pytest.fixture
def ids(engine: Engine) -> dict[str, str]:
    """Return the ids of the documents about the bridge and the canal by name."""
    return add(engine)


@pytest.fixture
def library(engine: Engine, ids: dict[str, str]) -> Engine:
    """Return an engine with the documents about the bridge and the canal."""
    return engine
