"""Hostile answers and documents in a real browser: shown literally, and nothing is loaded."""

from __future__ import annotations

import http.client
import re
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WritingApp
from tests.support.attacks import RENDERED
from tests.support.browser import OpenApp, ask, quiet
from tests.support.browser_data import EVERYTHING, FACT
from tests.support.servers import Exchange

FORBIDDEN = "img, a, script, iframe, object, embed, form, input, svg, style, link, meta, base, video, audio"


def stream_split(exchange: Exchange) -> None:
    """Send everything in pieces of a few characters, which split each construct."""
    exchange.start()
    text = f"{FACT} [1].\n\n{EVERYTHING}"
    for start in range(0, len(text), 7):
        exchange.delta(text[start : start + 7])
    exchange.finish()


@pytest.mark.parametrize(("path", "generator"), [("", "openai:hostile"), ("chat", "extractive")])
def test_stored_answer_is_shown_literally_and_harmless(
    open_app: OpenApp, writing_app: WritingApp, path: str, generator: str
) -> None:
    page = open_app(f"{writing_app.address}/{path}?c={writing_app.hostile_conversations[generator]}")
    message = page.get_by_test_id("stChatMessage").last
    message.get_by_text(re.compile("(Read|Cites) [0-9]+ (passage|page)s? of")).click()
    message.get_by_text("a.pdf · p. 1 ·").click()
    expect(message.get_by_text("This passage contains text that reads like instructions to a model.")).to_be_visible()
    for name in ("image", "img with handler", "script", "latex image", "template"):
        expect(message.get_by_text(RENDERED[name]).first).to_be_visible()
    for message in page.get_by_test_id("stChatMessage").all():
        assert message.locator("[data-testid=stBidiComponentRegular], .root").locator(FORBIDDEN).count() == 0
        assert message.locator("img, a, script, iframe, form, object").count() == 0
    assert page.title() != "owned"
    # The name "chat" leads to the page of the chat; no dialog says that there is no such page.
    expect(page.get_by_role("dialog")).to_have_count(0)
    if generator != "extractive":
        mark = message.get_by_role("button", name="differs from the source").first
        expect(mark).to_have_text(f"differs from the source: {RENDERED['img']}")


def test_streamed_answer_is_harmless(open_app: OpenApp, writing_app: WritingApp) -> None:
    writing_app.endpoint.restart(stream_split)
    page = open_app(writing_app.address)
    ask(page, "How high is the Kemi dam?")
    expect(page.get_by_role("button", name="Source 1: dam.pdf, page 1").first).to_be_visible()
    quiet(page)
    message = page.get_by_test_id("stChatMessage").last
    expect(message.get_by_text("Written by small")).to_be_visible()
    expect(message.get_by_text("999").first).to_be_hidden()
    assert message.locator("img, a, script, iframe, form, object").count() == 0
    assert page.title() != "owned"


@pytest.mark.parametrize(
    ("host", "status"), [("localhost", 101), ("127.0.0.1", 101), ("[::1]", 101), ("evil.example", 403), ("", 403)]
)
def test_websocket_opens_for_names_of_this_computer_only(writing_app: WritingApp, host: str, status: int) -> None:
    port = urlsplit(writing_app.address).port
    with closing(http.client.HTTPConnection("localhost", port, timeout=30)) as connection:
        connection.putrequest("GET", "/_stcore/stream", skip_host=True)
        for name, value in {
            "Host": f"{host}:{port}" if host else "",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Version": "13",
        }.items():
            connection.putheader(name, value)
        connection.endheaders()
        assert connection.getresponse().status == status
