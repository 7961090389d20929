"""Hostile answers and documents in a real browser: shown literally, and nothing is loaded."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from rag_core.engine import Engine
from rag_core.settings import Settings
from rag_core.types import Answer, AnswerState, Citation, Claim, Gate, Passage
from tests.support.attacks import INSTRUCTIONS, RENDERED
from tests.support.browser import OpenApp, ask, open_chat, quiet, serve
from tests.support.pdfs import make_pdf
from tests.support.servers import Exchange, ScriptedEndpoint

QUESTION = "How tall is the Vardo tower?"
FACT = "The Vardo tower is 88 metres tall"
TOWER = make_pdf(f"{FACT}. {INSTRUCTIONS['plain']}")
# One answer contains all cases, since one page load per case would take minutes.
EVERYTHING = "\n\n".join(f"{name}: {text}" for name, text in RENDERED.items())
FORBIDDEN = "img, a, script, iframe, object, embed, form, input, svg, style, link, meta, base, video, audio"


def stored_answer(generator: str) -> Answer:
    text = f"{FACT} [1]. {EVERYTHING}"
    source = "\n\n".join([FACT, *INSTRUCTIONS.values(), *RENDERED.values()])
    passage = Passage(1, "1", "d", "v", "a.pdf", 0, "1", 0, 0, len(source), source, "", {"rerank": 0.9}, True)
    return Answer(
        question=QUESTION,
        state=AnswerState.ANSWERED,
        text=text,
        citations=(Citation.of(passage, 0, len(FACT)),),
        passages=(passage,),
        gate=Gate("rerank", 0.9, 0.5, True),
        generator=generator,
        timings_ms={"total": 1.0},
        notices=(EVERYTHING,),
        statements=(
            Claim(0, len(FACT), True),
            Claim(len(FACT) + 6, len(text), False, mark="contradicted", source_value=RENDERED["img"], compared_rank=1),
        ),
    )


def stream_split(exchange: Exchange) -> None:
    """Send everything in pieces of a few characters, which split each construct."""
    exchange.start()
    text = f"{FACT} [1].\n\n{EVERYTHING}"
    for start in range(0, len(text), 7):
        exchange.delta(text[start : start + 7])
    exchange.delta(finish="stop")
    exchange.event("[DONE]")
    exchange.end()


@pytest.fixture(scope="module")
def conversations() -> dict[str, str]:
    return {}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, conversations: dict[str, str]) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("app") / "data"
    with Engine(Settings(data_dir=folder, _env_file=None)) as engine:
        for generator in ("openai:hostile", "extractive"):
            conversation_id = engine.conversations.create().conversation_id
            engine.conversations.add_message(conversation_id, "user", f"{QUESTION} {EVERYTHING}")
            engine.conversations.add_message(conversation_id, "assistant", "", stored_answer(generator))
            conversations[generator] = conversation_id
    with (
        ScriptedEndpoint(stream_split) as endpoint,
        serve(
            folder,
            RAG_OPENAI_BASE_URL=endpoint.url,
            RAG_OPENAI_MODEL="hostile",
            RAG_OPENAI_API_KEY="none",
            RAG_OPENAI_ANSWER_TOKENS="2000",
        ) as started,
    ):
        yield started


@pytest.mark.parametrize("generator", ["openai:hostile", "extractive"])
def test_stored_answer_is_shown_literally_and_harmless(
    open_app: OpenApp, address: str, conversations: dict[str, str], generator: str
) -> None:
    page = open_app(f"{address}/?c={conversations[generator]}")
    message = page.get_by_test_id("stChatMessage").last
    message.get_by_test_id("stExpander").filter(has_text="a.pdf · p. 1").first.click()
    expect(message.get_by_text("This passage contains text that reads like instructions to a model.")).to_be_visible()
    for name in ("image", "img with handler", "script", "latex image", "template"):
        expect(message.get_by_text(RENDERED[name]).first).to_be_visible()
    for message in page.get_by_test_id("stChatMessage").all():
        assert message.locator("[data-testid=stBidiComponentRegular], .root").locator(FORBIDDEN).count() == 0
        assert message.locator("img, a, script, iframe, form, object").count() == 0
    assert page.title() != "owned"
    if generator != "extractive":
        mark = message.get_by_role("button", name="differs from the source").first
        expect(mark).to_have_text(f"differs from the source: {RENDERED['img']}")


def test_streamed_answer_is_harmless(open_app: OpenApp, address: str) -> None:
    page = open_chat(open_app, address, {"tower.pdf": TOWER})
    ask(page, QUESTION)
    expect(page.get_by_role("button", name="Source 1: tower.pdf, page 1").first).to_be_visible()
    quiet(page)
    message = page.get_by_test_id("stChatMessage").last
    expect(message.get_by_text("Written by hostile")).to_be_visible()
    expect(message.get_by_text("999").first).to_be_hidden()
    assert message.locator("img, a, script, iframe, form, object").count() == 0
    assert page.title() != "owned"


@pytest.mark.parametrize(
    ("host", "status"), [("localhost", 101), ("127.0.0.1", 101), ("[::1]", 101), ("evil.example", 403), ("", 403)]
)
def test_websocket_opens_for_names_of_this_computer_only(address: str, host: str, status: int) -> None:
    port = urlsplit(address).port
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


def test_name_of_the_chat_leads_to_it(open_app: OpenApp, address: str, conversations: dict[str, str]) -> None:
    page = open_app(f"{address}/chat?c={conversations['extractive']}")
    expect(page.get_by_test_id("stChatMessage").first).to_contain_text(QUESTION)
    expect(page.get_by_role("dialog")).to_have_count(0)
