"""Helpers for tests of the pages with Streamlit's AppTest."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pandas as pd
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import AppTest, local_script_runner

from rag_core.engine import Engine
from tests.support.engines import add_document
from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]
PAGES = {
    name: str(ROOT / "pages" / name / "page.py")
    for name in ("chat", "documents", "check", "themes", "evaluate", "lab", "admin", "snapshots")
}
# A generous limit for a busy machine; a run without waiting takes a tenth of a second.
SECONDS = 60
OpenPage = Callable[..., AppTest]

BRIDGE = make_pdf(
    "The Harrow Bridge was opened in 1931. It is 412 metres long and carries the railway over the river Tell.",
    "Maintenance of the Harrow Bridge costs 2.4 million crowns a year, paid by the county of Ostmark.",
)
CANAL = make_pdf("The Lindow Canal was dug between 1803 and 1811. Its nine locks lift boats by 31 metres.")
LENGTH = "How long is the Harrow Bridge?"

ALLOWED = set("p h ul ol li quote pre hr caption table row th td text b i s code mark br cite".split())


def settle(app: AppTest, until: Callable[[AppTest], bool]) -> AppTest:
    """Run the page repeatedly, as its timers do, until a condition is true."""
    deadline = time.monotonic() + SECONDS
    while not until(app):
        assert time.monotonic() < deadline, texts(app)
        time.sleep(0.2)
        app.run()
    assert not app.exception, app.exception
    return app


def answered(app: AppTest) -> AppTest:
    """Run the page repeatedly until no answer is in progress."""
    return settle(app, lambda app: all(one.key != "stop" for one in app.button) and "Stopping after" not in texts(app))


def conversation_of(app: AppTest) -> str:
    """Return the id of the conversation in the address."""
    value = app.query_params["c"]
    return value if isinstance(value, str) else value[0]


def navigate(app: AppTest, **params: str) -> AppTest:
    """Run the page as when the reader goes back or forward in the browser to an address with these parameters."""
    app.query_params.clear()
    app.query_params.update(params)
    with patch.object(local_script_runner, "RerunData", partial(RerunData, is_history_navigation=True)):
        return app.run()


def texts(app: AppTest) -> str:
    """Return all texts of the page in elements of Streamlit, and the labels of its expanders."""
    kinds = (
        app.markdown,
        app.caption,
        app.text,
        app.title,
        app.header,
        app.subheader,
        app.info,
        app.warning,
        app.error,
        app.success,
    )
    values = [str(element.value) for kind in kinds for element in kind]
    return "\n".join([*values, *(expander.label for expander in app.expander)])


def shown(app: AppTest, component: str = "footnote_richtext") -> list[dict]:
    """Return the data of our components of one kind, in page order."""
    protos = [getattr(element, "proto", None) for element in walk(app._tree)]
    matching = [proto for proto in protos if getattr(proto, "component_name", "") == component]
    return [json.loads(proto.json or proto.mixed.json) for proto in matching]


def plain_text(node: dict | list) -> str:
    """Return the text of a tree of `pages.shared.blocks`."""
    if isinstance(node, list):
        return "".join(plain_text(child) for child in node)
    text = node.get("s") or (f"[{node['n']}]" if node.get("t") == "cite" else "")
    return text + plain_text(node.get("c", []))


def walk(node: object) -> Iterator[object]:
    yield node
    for child in getattr(node, "children", {}).values():
        yield from walk(child)


def add(engine: Engine, **files: bytes) -> dict[str, str]:
    """Add files; return the ids of all documents by name."""
    for name, data in files.items():
        add_document(engine, f"{name}.pdf", data)
    return {document.name.removesuffix(".pdf"): document.document_id for document in engine.documents.list()}


def ask(app: AppTest, question: str) -> AppTest:
    return answered(app.chat_input[0].set_value(question).run())


def answer_texts(app: AppTest) -> list[str]:
    """Return the texts of all answers and passages on the page."""
    return [plain_text(item["blocks"]) for item in shown(app)]


def click(app: AppTest, label: str, key: str = "") -> AppTest:
    """Click the first button with a label and a key that starts so."""
    return (
        next(button for button in app.button if button.label == label and str(button.key).startswith(key)).click().run()
    )


def press(app: AppTest, key: str) -> AppTest:
    """Click the button with a key, and return the page."""
    app.button(key=key).click().run()
    assert not app.exception, app.exception
    return app


def metric(app: AppTest, label: str) -> str:
    return next(element.value for element in app.metric if element.label == label)


def table(app: AppTest, column: str) -> pd.DataFrame:
    """Return the first table with a column."""
    return next(element.value for element in app.dataframe if column in element.value)


def rows(app: AppTest) -> dict[str, str]:
    """Return the statuses in the table of documents by name; empty if there is no table."""
    if not app.dataframe:
        return {}
    frame = app.dataframe[0].value
    return dict(zip(frame["Name"], frame["Status"], strict=True))


def kinds(nodes: list[dict]) -> set[str]:
    return {node["t"] for node in nodes} | {kind for node in nodes for kind in kinds(node.get("c", []))}
