"""What leaves the machine: only requests to the connected endpoint, and in them only what the Settings page names."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_every_page import ROWS
from tests.support.app import LENGTH, ROOT
from tests.support.browser import OpenApp, ask, evaluate_rows, follow, quiet, serve, upload
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
from tests.support.network_guard import NetworkGuard
from tests.support.pdfs import make_pdf
from tests.support.servers import ScriptedEndpoint, complete, guarded, serving

KEY = "sk-5ecret/with+signs=&more?"
BRIDGE_TEXT = "The Harrow Bridge was opened in 1931. It is 412 metres long and carries the railway over the river Tell."
CANAL = "The Lindow Canal was dug between 1803 and 1811. Its nine locks lift boats by 31 metres."
FOLLOW_UP = "When was it opened?"
ANSWERED = "The Harrow Bridge is 412 metres long [1]."
ANSWER = complete(ANSWERED[:20], ANSWERED[20:], tokens=(300, 12))
# Opt-outs of libraries that a user does not set. The guard must notice what the libraries do without them.
AS_INSTALLED = {"HF_HUB_OFFLINE": "0"}
# The list of models, questions, and the context length.
PATHS = {
    *("/v1/models", "/v1/chat/completions"),
    *("/props", "/api/v0/models/small", "/api/ps", "/api/show"),
}
HEADERS = {
    *("host", "accept", "accept-encoding", "connection", "user-agent", "authorization"),
    *("content-length", "content-type"),
}
# The words of the application's own prompts.
PROMPTS = [
    ROOT / f"rag_core/llm/{name}.py" for name in ("prompts", "query_planning", "connection_test", "capability_test")
]


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> NetworkGuard:
    return NetworkGuard.install(tmp_path_factory.mktemp("guard") / "hook")


@pytest.fixture(scope="module")
def proxy() -> Iterator[ScriptedEndpoint]:
    """Start a proxy that refuses everything. Native code, which the guard does not see, uses it too."""
    with ScriptedEndpoint(lambda exchange: exchange.error(502)) as started:
        yield started


@pytest.fixture(scope="module")
def environment(guard: NetworkGuard, proxy: ScriptedEndpoint) -> dict[str, str]:
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    through = {name: f"http://{proxy.host}" for one in names for name in (one, one.lower())}
    return {"PYTHONPATH": str(guard.folder), "no_proxy": "", "NO_PROXY": "", **through, **AS_INSTALLED}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(guarded(KEY, serving("small", answer=ANSWER))) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("app")


@pytest.fixture(scope="module")
def address(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    with serve(folder / "data", **environment) as started:
        yield started


ATTEMPTS = {
    "lookup": "import socket; socket.getaddrinfo('telemetry.invalid', 443)",
    "connection": "import socket; socket.create_connection(('192.0.2.1', 9), 0.01)",
    "datagram": "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.2', 9))",
    "program": "import subprocess; subprocess.run(['curl', '--version'])",
    "proxy": "import httpx; httpx.get('http://huggingface.invalid/telemetry')",
}


def test_guard_and_proxy_notice_what_leaves(
    tmp_path: Path, proxy: ScriptedEndpoint, environment: dict[str, str]
) -> None:
    noticed = NetworkGuard.install(tmp_path / "hook")
    # Parser processes inherit no other variable of the guard.
    alone = {"PYTHONPATH": str(noticed.folder), "PATH": os.environ["PATH"]}
    for name, code in ATTEMPTS.items():
        variables = environment | alone if name == "proxy" else alone
        subprocess.run([sys.executable, "-c", code], env=variables, stderr=subprocess.DEVNULL, timeout=60)
    assert {"telemetry.invalid", "192.0.2.1", "192.0.2.2"} <= noticed.hosts()
    assert noticed.programs() == {"curl"}
    assert len(noticed.started()) == len(ATTEMPTS)
    assert proxy.paths == ["http://huggingface.invalid/telemetry"]
    proxy.paths.clear()


def test_only_the_endpoint_is_contacted_and_gets_only_what_is_named(
    open_app: OpenApp,
    address: str,
    folder: Path,
    endpoint: ScriptedEndpoint,
    guard: NetworkGuard,
    proxy: ScriptedEndpoint,
) -> None:
    # The first visit of a process loads the page twice unless its address is that of the chat.
    page = open_app(address)
    received = record_frames(page)
    follow(page, "Documents")
    upload(page, {"bridge.pdf": make_pdf(BRIDGE_TEXT), "canal.pdf": make_pdf(CANAL)})
    ask_new(page, LENGTH)
    assert endpoint.exchanges == []
    open_form(page)
    choose_kind(page, "Any OpenAI-compatible endpoint")
    type_connection(page, endpoint.host, KEY)
    find_models(page, 1)
    type_model(page, "small")
    press(page, "Test")
    expect(page.get_by_text("small answers")).to_be_visible()
    connect(page, endpoint.host)
    assert not any(word in text for text in sent_texts(endpoint) for word in ("Harrow", "Lindow", "bridge.pdf"))
    expect(page.get_by_label("API key", exact=True)).to_have_value("")
    shown = [page.content()]
    ask_new(page, LENGTH)
    ask(page, FOLLOW_UP)
    expect(page.get_by_text("Written by small")).to_have_count(2)
    quiet(page)
    page.get_by_role("button", name="Export").last.click()
    exports = [download(page, name) for name in ("Markdown", "PDF")]
    page.goto(f"{address}/lab?question={LENGTH}")
    quiet(page)
    follow(page, "Evaluate")
    evaluate_rows(page, ROWS)
    # A new page shows where the key is, and uses it.
    page.goto(f"{address}/admin")
    expect(page.get_by_text("in the file model-key of the data folder")).to_be_visible()
    expect(page.get_by_label("API key", exact=True)).to_have_value("")
    press(page, "Test")
    expect(page.get_by_text("The key was accepted.")).to_be_visible()
    shown.append(page.content())
    # This server's error quotes the key, and the answer falls back to quotes.
    endpoint.script[:] = [lambda exchange: exchange.error(401, {"error": {"message": f"wrong {KEY}"}})]
    press(page, "Test")
    expect(page.get_by_text("(HTTP 401)")).to_be_visible()
    shown.append(page.content())
    ask_new(page, LENGTH)
    expect(page.get_by_text("(HTTP 401)")).to_be_visible()
    shown.append(page.content())
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    disconnect(page)
    asked = len(endpoint.exchanges)
    ask_new(page, LENGTH)
    assert len(endpoint.exchanges) == asked

    assert {path.name for path, data in files.items() if contains_key(data)} == {"model-key"}
    assert any(path.suffix == ".log" and data for path, data in files.items())
    assert sum(map(len, received)) > 10_000
    assert not any(contains_key(data) for data in (*received, *exports, *(one.encode() for one in shown)))

    # The hook runs in the app and in its parser processes, and has seen the app's requests to the endpoint.
    started = guard.started()
    assert any("run_app" in command for command in started)
    assert any("rag_core.parsing.workers.child" in command for command in started)
    port = urlsplit(endpoint.url).port
    assert ("127.0.0.1", port) in guard.connections()
    assert guard.hosts() == set()
    # Port 9 stands for Ollama, and 1234 is that of LM Studio.
    assert {one for _, one in guard.connections()} <= {port, 9, 1234}
    # Python's platform module asks uname for the processor.
    assert guard.programs() <= {sys.executable, "uname"}
    assert proxy.paths == []

    check_headers(endpoint)
    texts = sent_texts(endpoint)
    assert any("412 metres" in text for text in texts)
    assert any("bridge.pdf, page 1" in text for text in texts)
    assert any(FOLLOW_UP in text for text in texts)
    assert KEY not in json.dumps(endpoint.requests)
    named = [BRIDGE_TEXT, CANAL, LENGTH, FOLLOW_UP, "bridge.pdf canal.pdf", *(str(row["question"]) for row in ROWS)]
    allowed = find_words(*named, ANSWERED, *(file.read_text("utf-8") for file in PROMPTS))
    assert find_words(*texts) <= allowed
    for request in endpoint.requests:
        assert set(request) <= {"model", "messages", "stream", "stream_options", "max_tokens", "temperature"}


def record_frames(page: Page) -> list[bytes]:
    """Return a list of the messages that the page gets from now on."""
    received: list[bytes] = []

    def keep(payload: str | bytes) -> None:
        received.append(payload if isinstance(payload, bytes) else payload.encode())

    page.on("websocket", lambda socket: socket.on("framereceived", keep))
    page.reload()
    quiet(page)
    return received


def download(page: Page, name: str) -> bytes:
    with page.expect_download() as started:
        page.get_by_role("button", name=name, exact=True).click()
    return Path(started.value.path()).read_bytes()


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


def sent_texts(endpoint: ScriptedEndpoint) -> list[str]:
    """Return the texts of all requests."""
    contents = [message["content"] for request in endpoint.requests for message in request.get("messages", [])]
    # The test of a model sends a generated picture beside a text.
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [one for one in contents if isinstance(one, str)] + [part["text"] for part in parts if "text" in part]


def find_words(*texts: str) -> set[str]:
    return {word.lower() for text in texts for word in re.findall(r"\w+", text)}


def check_headers(endpoint: ScriptedEndpoint) -> None:
    """Check that the key is only in the header for it, and that no header tells who or where the user is."""
    for exchange in endpoint.exchanges:
        assert exchange.path in PATHS
        assert [name.lower() for name, value in exchange.headers.items() if KEY in value] == ["authorization"]
        names = {name.lower() for name in exchange.headers if not name.lower().startswith("x-stainless-")}
        assert names <= HEADERS, names
