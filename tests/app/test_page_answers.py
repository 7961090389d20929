"""Answers that a capable model writes from whole pages: what is listed below them, second looks, and refusals."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.page_text import find_surroundings
from rag_core.engine import Engine
from tests.support.app import OpenPage, answered, ask, click, kinds, plain_text, shown, texts
from tests.support.engines import add_document, wait_until
from tests.support.page_models import build_handbook, find_source
from tests.support.servers import Exchange, Play, ScriptedEndpoint, complete

QUESTION = "What is the fee of the harbour?"


def reply(*parts: str, tokens: tuple[int, int] = (100, 10)) -> Play:
    """Reply with text in which each ``{word}`` is the marker of the source that contains the word."""

    def play(exchange: Exchange) -> None:
        complete(*(find_source(exchange.body, part) for part in parts), tokens=tokens)(exchange)

    return play


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(complete("")) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "scripted")
        monkeypatch.setenv("RAG_OPENAI_RETRIES", "0")
        monkeypatch.setenv("RAG_OPENAI_CONTEXT_TOKENS", "32768")
        yield started


@pytest.fixture
def library(endpoint: ScriptedEndpoint, engine: Engine) -> Engine:
    """Connect a capable model, and index a document of eight pages."""
    add_document(engine, "handbook.pdf", build_handbook())
    return engine


def labels(app: AppTest) -> list[str]:
    return [one.label.replace("\\", "") for one in app.main.expander]


def test_cited_pages_are_listed_in_the_order_of_the_answer(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [
        reply("Explosives are unloaded only at the outer pier {Explosives}. The harbour fee is 420 crowns {420}.")
    ]
    app = ask(open_page(), QUESTION)
    work, *sources, others = labels(app)
    assert work.startswith("Read 8 pages of 1 document, ")
    assert sources == ["[4] handbook.pdf · p. 4", "[3] handbook.pdf · p. 3"]
    assert others == "6 more pages were read"
    answer, links, first, _, more = shown(app)
    assert plain_text(links["blocks"]) == "Sources: handbook.pdf · p. 4 handbook.pdf · p. 3"
    text = plain_text(first["blocks"])
    assert text.startswith("Dangerous goods are declared")
    assert "Explosives are unloaded only at the outer pier" in text
    assert "sixth sentence" not in text
    assert first["blocks"][0]["t"] == "quote"
    assert [one["n"] for one in more["blocks"][0]["c"][0]["c"] if one["t"] == "cite"] == [1, 2, 5, 6, 7, 8]
    assert answer["sources"] == {"3": "handbook.pdf, page 3", "4": "handbook.pdf, page 4"}


def test_second_look_is_shown_while_it_runs_and_afterwards(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    go_on = threading.Event()

    def think(exchange: Exchange) -> None:
        exchange.start()
        go_on.wait(30)
        exchange.delta(find_source(exchange.body, "The harbour fee is 420 crowns {420}."))
        exchange.finish(tokens=(200, 20))

    endpoint.script = [reply("I look further.\nSEARCH: harbour fee\nOPEN: handbook.pdf, page 3"), think]
    app = open_page().chat_input[0].set_value(QUESTION).run()
    wait_until(lambda: "Read page 3 of handbook" in texts(app.run()).replace("\\", ""))
    assert "Searched for “harbour fee”" in texts(app)
    assert "I look further" not in "".join(plain_text(one["blocks"]) for one in shown(app))
    assert app.status[0].label != "Looking for what is missing"
    assert [one.label for one in app.button if one.key == "stop"] == ["Stop"]
    go_on.set()
    app = answered(app)
    assert plain_text(shown(app)[0]["blocks"]) == "The harbour fee is 420 crowns [3]."
    assert "Read page 3 of handbook" in texts(app)
    assert "2 calls, 300 tokens in, 30 out" in texts(app).replace("\\", "")


def test_refusal_of_the_model_offers_the_pages_that_it_cites(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [
        reply("NOT STATED: The fee of 2031 is not stated; the closest is the harbour fee of 420 crowns {420}.")
    ]
    app = ask(open_page(), QUESTION)
    answer = shown(app)[0]
    assert plain_text(answer["blocks"]).endswith("the harbour fee of 420 crowns [3].")
    assert answer["sources"] == {"3": "handbook.pdf, page 3"}
    assert plain_text(shown(app)[1]["blocks"]) == "Closest: handbook.pdf · p. 3"
    assert labels(app)[1:] == ["[3] handbook.pdf · p. 3", "7 more pages were read"]


def test_refusal_without_markers_offers_the_best_pages(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    endpoint.script = [reply("NOT STATED: The fee of 2031 is not stated.")]
    app = ask(open_page(), QUESTION)
    assert plain_text(shown(app)[1]["blocks"]).count("handbook.pdf · p. ") == 3
    assert "[3] handbook.pdf · p. 3" in labels(app)[1:4]
    assert labels(app)[4] == "5 more pages were read"


def test_stopped_answer_refers_to_the_pages_that_the_model_got(
    endpoint: ScriptedEndpoint, library: Engine, open_page: OpenPage
) -> None:
    def hang(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta(find_source(exchange.body, "Explosives are unloaded at the outer pier {Explosives}. "))
        exchange.hang()

    endpoint.script = [hang]
    app = open_page().chat_input[0].set_value(QUESTION).run()
    wait_until(lambda: "Explosives" in "".join(plain_text(one["blocks"]) for one in shown(app.run())))
    app = answered(click(app, "Stop"))
    assert shown(app)[0]["sources"] == {"4": "handbook.pdf, page 4"}
    assert labels(app)[1:] == ["[4] handbook.pdf · p. 4", "7 more pages were read"]


@pytest.mark.parametrize("question", ["Hello", "Which documents do you have?"])
def test_answer_without_a_search_lists_nothing(library: Engine, open_page: OpenPage, question: str) -> None:
    app = ask(open_page(), question)
    (answer,) = shown(app)
    assert ("ul" in kinds(answer["blocks"])) == ("documents" in question)
    assert labels(app) == []


def test_no_model_is_offered_below_small_talk(engine: Engine, open_page: OpenPage) -> None:
    app = ask(open_page(), "Hello")
    assert labels(app) == []
    assert "A model answers in full sentences" not in texts(app)


def test_surroundings_are_sentences_and_do_not_repeat() -> None:
    text = "One is first. Two is next. Three is cited. Four follows. Five is far. Six is last."
    start = text.index("Three")
    assert [text[low:high] for low, high in find_surroundings(text, [(start, start + 15)])] == [
        "Two is next. Three is cited. Four follows."
    ]
    marks = [(start, start + 15), (text.index("Six"), len(text))]
    assert find_surroundings(text, marks) == [(text.index("Two"), text.index(" Five")), (text.index("Five"), len(text))]
    assert find_surroundings(text, [(0, 13), (start, start + 15)]) == [(0, text.index(" Five"))]
    assert find_surroundings("", []) == []
    (beginning,) = find_surroundings("word " * 200, [])
    assert beginning == (0, 484)
