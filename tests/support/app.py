"""Helpers for tests of the pages with Streamlit's AppTest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from tests.support.engines import add_document
from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]
PAGES = {name: str(ROOT / "pages" / name / "page.py") for name in ("chat", "documents", "evaluate", "lab", "admin")}
# A generous limit for a loaded machine; a run that has nothing to wait for takes a tenth of a second.
SECONDS = 60
OpenPage = Callable[..., AppTest]

BRIDGE = make_pdf(
    "The Harrow Bridge was opened in 1931. It is 412 metres long and carries the railway over the river Tell.",
    "Maintenance of the Harrow Bridge costs 2.4 million crowns a year, paid by the county of Ostmark.",
)
CANAL = make_pdf("The Lindow Canal was dug between 1803 and 1811. Its nine locks lift boats by 31 metres.")
LENGTH = "How long is the Harrow Bridge?"

ALLOWED = {"p", "h", "ul", "ol", "li", "quote", "pre", "hr", "table", "row", "th", "td", "text", "b", "i", "s"} | {
    "code",
    "mark",
    "br",
    "cite",
}


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


def add(engine: Engine, **files: bytes) -> dict[str, str]:
    """Index files; returns their ids by name."""
    for name, data in files.items():
        add_document(engine, f"{name}.pdf", data)
    return {one.name.removesuffix(".pdf"): one.document_id for one in engine.documents.list()}


def ask(app: AppTest, question: str) -> AppTest:
    return answered(app.chat_input[0].set_value(question).run())


def answer_texts(app: AppTest) -> list[str]:
    """Answers and passages on the page, as text."""
    return [plain_text(one["blocks"]) for one in shown(app)]


def rows(app: AppTest) -> dict[str, str]:
    """Status by name, as in the table."""
    frame = app.dataframe[0].value
    return dict(zip(frame["Name"], frame["Status"], strict=True))


def kinds(nodes: list[dict]) -> set[str]:
    return {node["t"] for node in nodes} | {kind for node in nodes for kind in kinds(node.get("c", []))}
