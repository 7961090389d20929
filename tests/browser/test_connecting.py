"""The form that connects a language model, with servers that imitate each kind."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support.app import BRIDGE, LENGTH
from tests.support.browser import OpenApp, add_document, ask, quiet, serve
from tests.support.model_form import (
    ask_new,
    choose_kind,
    connect,
    disconnect,
    find_models,
    open_form,
    press,
    type_connection,
    type_model,
)
from tests.support.servers import Exchange, ScriptedEndpoint, at, complete, guarded, listing, sent_json, status

KEY = "sk-5ecret/with+signs=&more?"
ANSWER = complete("The Harrow Bridge is ", "412 metres ", "long [1].", tokens=(300, 12))
QUOTED = "carries the railway over the river Tell"
GOOD = at(v1__models=listing("large", "small"), v1__chat__completions=ANSWER)


@pytest.fixture(scope="module")
def ollama() -> Iterator[ScriptedEndpoint]:
    tags = sent_json({"models": [{"name": "qwen3:4b"}, {"name": "llama3.2"}]})
    chat = {"v1__chat__completions": ANSWER, "v1__models": listing("llama3.2", "qwen3:4b")}
    with ScriptedEndpoint(at(api__tags=tags, **chat)) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("app")


@pytest.fixture(scope="module")
def address(folder: Path, ollama: ScriptedEndpoint) -> Iterator[str]:
    with serve(folder / "data", OLLAMA_HOST=ollama.host) as started:
        yield started


@pytest.fixture(scope="module")
def library(profile: BrowserContext, address: str) -> None:
    add_document(profile, address, "bridge.pdf", BRIDGE)


@pytest.fixture
def page(open_app: OpenApp, address: str, library: None) -> Iterator[Page]:
    """Open the form; disconnect after the test."""
    opened = open_app(f"{address}/admin")
    yield opened
    open_form(opened, address)
    if opened.get_by_role("button", name="Disconnect").count():
        disconnect(opened, address)


def check_answer(page: Page, address: str, model: str) -> None:
    """Ask the connected model a question."""
    ask_new(page, address, LENGTH)
    # The page puts an invisible character into the name qwen3:4b, so that it does not become an emoji.
    expect(page.get_by_text(re.compile(f"Written by {model}"))).to_be_visible()
    expect(page.get_by_text("The Harrow Bridge is 412 metres long").first).to_be_visible()


def test_link_of_a_new_chat_leads_to_the_form_and_a_model_is_connected(page: Page, address: str) -> None:
    with ScriptedEndpoint(GOOD) as endpoint:
        page.goto(address)
        quiet(page)
        page.get_by_role("link", name="Connect a model").click()
        expect(page.get_by_role("heading", name="Language model")).to_be_in_viewport()
        expect(page.get_by_text("leave this machine for api.openai.com")).to_be_visible()
        choose_kind(page, "Any OpenAI-compatible endpoint")
        for typed in (f"{endpoint.url}/", f"{endpoint.host}/v1/chat/completions", endpoint.host):
            type_connection(page, typed)
            find_models(page, 2)
            expect(page.get_by_label("Address")).to_have_value(endpoint.url)
        expect(page.get_by_text("This address is on this machine")).to_be_visible()
        type_model(page, "small")
        press(page, "Test")
        for words in ("lists 2 models", "small answers", "arrives in pieces"):
            expect(page.get_by_text(words)).to_be_visible()
        connect(page, endpoint.host)
        check_answer(page, address, "small")
        disconnect(page, address)
        ask_new(page, address, LENGTH)
        expect(page.get_by_text(QUOTED).first).to_be_visible()
        expect(page.get_by_text("Written by")).to_have_count(0)


def test_key_field_is_not_replaced_when_the_address_is_read(page: Page) -> None:
    choose_kind(page, "Any OpenAI-compatible endpoint")
    expect(page.get_by_text("leave this machine for")).to_have_count(0)
    field = page.get_by_label("API key", exact=True).element_handle()
    type_connection(page, "http://127.0.0.1:9/v1")
    expect(page.get_by_text("This address is on this machine")).to_be_visible()
    # A replaced field would have lost its focus and what was typed into it.
    assert field is not None
    assert field.evaluate("field => field.isConnected")


def test_refused_key_is_explained_and_can_be_corrected_by_keyboard(page: Page, address: str) -> None:
    with ScriptedEndpoint(guarded(KEY, GOOD)) as endpoint:
        choose_kind(page, "vLLM")
        type_connection(page, endpoint.url, "sk-wrong")
        press(page, "List models")
        expect(page.get_by_text("refused the API key on the Admin page")).to_be_visible()
        # The message stands in the form, not at the top of the long page.
        expect(page.locator(".st-key-language_model").get_by_text("(HTTP 401)")).to_be_in_viewport()
        field = page.get_by_label("API key", exact=True)
        field.fill(KEY)
        field.press("Tab")  # to the button that shows the key
        find_models(page, 2)
        type_model(page, "large")
        connect(page, endpoint.host)
        check_answer(page, address, "large")


def test_server_without_an_endpoint_is_explained_until_it_has_one(page: Page) -> None:
    with ScriptedEndpoint(status(404)) as endpoint:
        choose_kind(page, "LM Studio")
        expect(page.get_by_label("Address")).to_have_value("http://localhost:1234/v1")
        type_connection(page, endpoint.host)
        press(page, "List models")
        expect(page.get_by_text("it has no OpenAI-compatible endpoint at")).to_be_visible()
        type_model(page, "small")
        press(page, "Connect")
        expect(page.get_by_text("it has no OpenAI-compatible endpoint at")).to_be_visible()
        expect(page.get_by_text("None: answers are quoted")).to_be_visible()
        endpoint.restart(GOOD)
        find_models(page, 2)
        connect(page, endpoint.host)


def test_slow_model_is_tested_and_answers(page: Page, address: str) -> None:
    loaded = threading.Event()

    def slow(exchange: Exchange) -> None:
        exchange.start()
        loaded.wait(60)
        exchange.delta("The Harrow Bridge is 412 metres long [1].")
        exchange.delta(" Yes.")
        exchange.ended("stop", (300, 12))
        exchange.end()

    with ScriptedEndpoint(at(v1__models=listing("slow"), v1__chat__completions=slow)) as endpoint:
        choose_kind(page, "llama.cpp server")
        type_connection(page, endpoint.host)
        find_models(page, 1)
        type_model(page, "slow")
        page.get_by_role("button", name="Test", exact=True).click()
        expect(page.get_by_text("Testing the model")).to_be_visible()
        loaded.set()
        expect(page.get_by_text("slow answers")).to_be_visible()
        connect(page, endpoint.host)
        loaded.clear()
        page.goto(address)
        quiet(page)
        ask(page, LENGTH)
        expect(page.get_by_text("Writing the answer").first).to_be_visible()
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        loaded.set()
        expect(page.get_by_text("Written by slow")).to_be_visible()


def test_azure_gets_its_path_and_key_header(page: Page, address: str) -> None:
    served = at(openai__v1__models=listing("gpt"), openai__v1__chat__completions=ANSWER)

    def azure(exchange: Exchange) -> None:
        (served if exchange.headers["api-key"] == KEY else status(401))(exchange)

    with ScriptedEndpoint(azure) as endpoint:
        choose_kind(page, "Azure OpenAI")
        type_connection(page, f"http://{endpoint.host}/openai/deployments/gpt/chat/completions?api-version=1", KEY)
        find_models(page, 1)
        expect(page.get_by_label("Address")).to_have_value(f"http://{endpoint.host}/openai/v1")
        type_model(page, "gpt")
        connect(page, endpoint.host)
        check_answer(page, address, "gpt")


def test_ollama_on_this_machine_is_offered_with_its_models(page: Page, address: str, ollama: ScriptedEndpoint) -> None:
    press(page, "Use Ollama on this machine (2 models)")
    expect(page.get_by_label("Address")).to_have_value(ollama.url)
    type_model(page, "qwen3:4b")
    connect(page, ollama.host)
    check_answer(page, address, "qwen3:4b")


def forms_of(key: str) -> set[bytes]:
    """Return the key as it is, and as it stands in addresses, JSON, UTF-16 and base64 at each offset."""
    shifted = [base64.b64encode(b"-" * offset + key.encode())[2 * bool(offset) + offset : -4] for offset in range(3)]
    texts = {key, quote(key), quote(key, safe=""), quote_plus(key), json.dumps(key)[1:-1], repr(key)[1:-1]}
    return {*(text.encode() for text in texts), *shifted, *(base64.urlsafe_b64encode(key.encode())[:-4],)} | {
        key.encode("utf-16-le")
    }


def contains_key(data: bytes) -> bool:
    return any(form in data for form in forms_of(KEY))


@pytest.mark.parametrize(
    "encode",
    [
        str.encode,
        lambda key: quote(f"k={key}").encode(),
        lambda key: json.dumps({"k": key}).encode(),
        *(lambda key, before=before: base64.b64encode(f"{before}{key} end".encode()) for before in ("", "a", "ab")),
        lambda key: key.encode("utf-16"),
    ],
)
def test_search_finds_every_form_of_the_key(encode: Callable[[str], bytes]) -> None:
    assert contains_key(b"before " + encode(KEY) + b" after")
    assert not contains_key(b"before " + encode("sk-another-key/of+the=same&length") + b" after")


def test_saved_key_is_in_its_file_only(page: Page, address: str, folder: Path) -> None:
    received = record_frames(page)
    with ScriptedEndpoint(guarded(KEY, GOOD)) as endpoint:
        open_form(page, address)
        choose_kind(page, "Any OpenAI-compatible endpoint")
        type_connection(page, endpoint.url, KEY)
        find_models(page, 2)
        type_model(page, "small")
        connect(page, endpoint.host)
        pages = [page.content()]
        expect(page.get_by_label("API key", exact=True)).to_have_value("")
        open_form(page, address)
        expect(page.get_by_text("in the file model-key of the data folder")).to_be_visible()
        expect(page.get_by_label("API key", exact=True)).to_have_value("")
        press(page, "Test")
        expect(page.get_by_text("The key was accepted.")).to_be_visible()
        pages.append(page.content())
        ask_new(page, address, LENGTH)
        expect(page.get_by_text("Written by small")).to_be_visible()
        page.get_by_role("button", name="Export").last.click()
        exports = [download(page, name) for name in ("Markdown", "PDF")]
        # This server's error quotes the key, and the answer falls back to quotes.
        endpoint.script[:] = [lambda exchange: exchange.error(401, {"error": {"message": f"wrong {KEY}"}})]
        open_form(page, address)
        press(page, "Test")
        expect(page.get_by_text("(HTTP 401)")).to_be_visible()
        pages.append(page.content())
        ask_new(page, address, LENGTH)
        expect(page.get_by_text("(HTTP 401)")).to_be_visible()
        pages.append(page.content())
        files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {path.name for path, data in files.items() if contains_key(data)} == {"model-key"}
    assert any(path.suffix == ".log" and data for path, data in files.items())
    assert sum(map(len, received)) > 10_000
    assert not any(contains_key(data) for data in (*received, *exports, *(shown.encode() for shown in pages)))


def record_frames(page: Page) -> list[bytes]:
    """Return a list of the messages that the page gets from now on."""
    received: list[bytes] = []

    def keep(payload: str | bytes) -> None:
        received.append(payload if isinstance(payload, bytes) else payload.encode())

    page.on("websocket", lambda socket: socket.on("framereceived", keep))
    return received


def download(page: Page, name: str) -> bytes:
    with page.expect_download() as started:
        page.get_by_role("button", name=name, exact=True).click()
    return Path(started.value.path()).read_bytes()
