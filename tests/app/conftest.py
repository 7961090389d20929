"""The app under Streamlit's own test double, over the real engine in a folder of the test's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.shared import backend as backend_module
from pages.shared.backend import Backend
from rag_core.engine import Engine

ROOT = Path(__file__).parents[2]
PAGES = {name: str(ROOT / "pages" / name / "page.py") for name in ("chat", "documents", "evaluate", "lab", "admin")}
# A generous limit for a loaded machine; a run that has nothing to wait for takes a tenth of a second.
SECONDS = 60

OpenPage = Callable[..., AppTest]


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


def settle(app: AppTest, until: Callable[[AppTest], bool]) -> AppTest:
    """Run the page again, as its own timers would, until a condition holds."""
    deadline = time.monotonic() + SECONDS
    while not until(app):
        assert time.monotonic() < deadline, texts(app)
        time.sleep(0.2)
        app.run()
    assert not app.exception, app.exception
    return app


def answered(app: AppTest) -> AppTest:
    """Run the page again until no answer is under way."""
    return settle(app, lambda app: not app.chat_input[0].disabled)


def conversation_of(app: AppTest) -> str:
    """The conversation that the address names."""
    named = app.query_params["c"]
    return named if isinstance(named, str) else named[0]


def texts(app: AppTest) -> str:
    """All words on the page that Streamlit shows itself."""
    kinds = (
        app.markdown,
        app.caption,
        app.text,
        app.title,
        app.subheader,
        app.info,
        app.warning,
        app.error,
        app.success,
    )
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def shown(app: AppTest, component: str = "footnote_richtext") -> list[dict]:
    """What a component of ours was given, in page order."""
    import json

    found = []
    for element in _walk(app._tree):
        proto = getattr(element, "proto", None)
        if getattr(proto, "component_name", "") == component:
            found.append(json.loads(proto.json or proto.mixed.json))
    return found


def plain_text(node: dict | list) -> str:
    """The words in a tree of `pages.shared.blocks`."""
    if isinstance(node, list):
        return "".join(plain_text(one) for one in node)
    own = f"[{node['n']}]" if node.get("t") == "cite" else node.get("s", "")
    return own + plain_text(node.get("c", []))


def _walk(node: object) -> Iterator[object]:
    yield node
    for child in getattr(node, "children", {}).values():
        yield from _walk(child)
