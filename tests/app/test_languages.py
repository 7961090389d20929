"""The pages in the language of the reader's browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from string import Formatter

import pytest
from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest

from pages.shared import translation
from pages.shared.translation import LANGUAGES
from rag_core.engine import Engine
from tests.support.app import LENGTH, PAGES, ROOT, SECONDS, ask, plain_text, settle, shown, texts, walk
from tests.support.messages import read_language


def _open(page: str, **params: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=SECONDS)
    app.context["locale"] = "de-AT"
    app.run()
    if page != "chat":
        app.switch_page(PAGES[page])
    app.query_params.update(params)
    app.run()
    assert not app.exception, app.exception
    return app


def _find_strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value.startswith("{"):
            with suppress(json.JSONDecodeError):
                yield from _find_strings(json.loads(value))
    elif isinstance(value, dict):
        for name, one in value.items():
            # The names of columns, which the reader does not see: their labels are in the configuration of the columns.
            if name != "columnOrder":
                yield from _find_strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _find_strings(one)


def _collect(app: AppTest) -> set[str]:
    """Return all texts that the page sends to the browser."""
    protos = (proto for element in walk(app._tree) if (proto := getattr(element, "proto", None)) is not None)
    found = {text for proto in protos for text in _find_strings(MessageToDict(proto))}
    return {re.sub(r"\\([^\w\s])", r"\1", text).strip() for text in found}


def _compile_english() -> dict[str, re.Pattern[str]]:
    """Return a pattern for each English text of the pages that differs from its translation."""
    patterns = {}
    for message in read_language(LANGUAGES / "de.po"):
        texts = message.id if isinstance(message.id, tuple) else (message.id,)
        for text in filter(None, texts):
            words = re.sub(r"\{[^}]*\}", "", text)
            # A single word in lower case may be the name of an option of Streamlit, such as "right".
            is_name = re.fullmatch(r"[a-z]+", words) is not None
            if (
                message.context is None
                and message.string != message.id
                and re.search(r"[a-z]{3}", words)
                and not is_name
            ):
                parts = ((re.escape(before), name) for before, name, *_ in Formatter().parse(text))
                patterns[text] = re.compile("".join(f"{one}.+" if name is not None else one for one, name in parts))
    return patterns


@pytest.mark.usefixtures("bridge")
def test_pages_are_german_in_a_german_browser(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    # AppTest calls the functions that format options outside of a page, where texts are English.
    monkeypatch.setattr(translation, "get_language", lambda: "de")
    (document,) = engine.documents.list()
    engine.snapshots.create("Before")
    english = _compile_english()
    params = {"documents": {"document": document.document_id}, "lab": {"question": LENGTH}}
    for page in PAGES:
        found = _collect(_open(page, **params.get(page, {})))
        left = {text for text in found for pattern in english.values() if pattern.fullmatch(text)}
        assert not left, (page, sorted(left))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who painted the ceiling of the Sistine Chapel?", "Das steht nicht in den Dokumenten."),
        (LENGTH, "Diese Textstellen beantworten die Frage möglicherweise."),
        ("How many documents do you have?", "1 Dokument mit 2 Seiten:"),
    ],
)
@pytest.mark.usefixtures("bridge")
def test_answers_begin_in_german_and_are_stored_in_english(engine: Engine, question: str, expected: str) -> None:
    app = ask(_open("chat"), question)
    assert expected in "\n".join(plain_text(one["blocks"]) for one in shown(app))
    (conversation,) = engine.conversations.list()
    stored = engine.conversations.messages(conversation.conversation_id)[-1]
    assert expected not in stored.text
    assert shown(app, "footnote_close_sidebar")[0]["language"] == "de"


def test_errors_are_german(engine: Engine) -> None:
    app = _open("documents")
    app.file_uploader[0].upload("broken.pdf", b"", "application/pdf").run()
    app = settle(app, lambda one: bool(one.warning or one.error))
    shown_texts = texts(app).replace("\\", "")
    assert "broken.pdf ist leer. Die Datei neu speichern" in shown_texts
    assert "Nicht angenommen: die Datei ist leer." in shown_texts


def test_other_languages_are_english(engine: Engine) -> None:
    app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=SECONDS)
    app.context["locale"] = "fr-FR"
    assert [one.value for one in app.run().title] == ["Ask your documents"]
