"""Two servers of the app that the tests share, one of them with a language model, and Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.support.browser import (
    ARGUMENTS,
    PATIENCE_MS,
    OpenApp,
    _leaves,
    choose_files,
    chromium,
    clear_storage,
    quiet,
    serve,
)
from tests.support.browser_data import QUOTED, WRITTEN, store_hostile_conversations
from tests.support.servers import ScriptedEndpoint, at, complete, listing, sent_json


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """Return the browser profile of all tests, so that each page after the first comes from the cache."""
    context = browser.new_context(locale="en-GB", timezone_id="Europe/Berlin")
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture(scope="session")
def ollama() -> Iterator[ScriptedEndpoint]:
    """Play the Ollama of the machine, with two models."""
    tags = sent_json({"models": [{"name": "qwen3:4b"}, {"name": "llama3.2"}]})
    answer = complete("The Harrow Bridge is ", "412 metres ", "long [1].", tokens=(300, 12))
    chat = {"v1__chat__completions": answer, "v1__models": listing("llama3.2", "qwen3:4b")}
    with ScriptedEndpoint(at(api__tags=tags, **chat)) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def address(
    tmp_path_factory: pytest.TempPathFactory, profile: BrowserContext, ollama: ScriptedEndpoint
) -> Iterator[str]:
    """Start the app without a language model; its library holds `QUOTED` and what tests add."""
    folder = tmp_path_factory.mktemp("quoting")
    with serve(folder / "data", OLLAMA_HOST=ollama.host) as started:
        _add_documents(profile, started, QUOTED)
        yield started


@dataclass(frozen=True)
class WritingApp:
    """The app with a language model, which plays the script of `endpoint`."""

    address: str
    endpoint: ScriptedEndpoint
    hostile_conversations: dict[str, str]


@pytest.fixture(scope="session")
def writing_app(tmp_path_factory: pytest.TempPathFactory, profile: BrowserContext) -> Iterator[WritingApp]:
    """Start the app with a language model; its library holds `WRITTEN`."""
    folder = tmp_path_factory.mktemp("writing") / "data"
    conversations = store_hostile_conversations(folder)
    with (
        ScriptedEndpoint(complete("")) as endpoint,
        serve(
            folder, RAG_OPENAI_BASE_URL=endpoint.url, RAG_OPENAI_MODEL="small", RAG_OPENAI_ANSWER_TOKENS="2000"
        ) as started,
    ):
        _add_documents(profile, started, WRITTEN)
        yield WritingApp(started, endpoint, conversations)


def _add_documents(profile: BrowserContext, address: str, files: dict[str, bytes]) -> None:
    page = profile.new_page()
    # The first visit of a process is to a page other than the first one.
    page.goto(f"{address}/documents")
    quiet(page)
    choose_files(page, files)
    expect(page.get_by_text(f"{len(files)} documents are ready.")).to_be_visible()
    page.close()


@pytest.fixture
def open_app(profile: BrowserContext) -> Iterator[OpenApp]:
    """Return a function that opens a page without stored data; check that no request leaves this machine."""
    external_requests: list[str] = []
    pages = []

    def opened(url: str, *, width: int = 1280, dark: bool = False) -> Page:
        if not profile.pages:
            # A page that stays open keeps the browser's process for this host, and with it the compiled scripts.
            profile.new_page().goto("{0.scheme}://{0.netloc}/_stcore/health".format(urlsplit(url)))
        page = profile.new_page()
        pages.append(page)
        clear_storage(page, url)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.on("request", lambda request: external_requests.append(request.url) if _leaves(request.url) else None)
        page.goto(url)
        quiet(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert external_requests == []
