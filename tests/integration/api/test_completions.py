"""Footnote as a model, with the client of OpenAI."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import openai
import pytest

from tests.support.api import ServedApp
from tests.support.cli import QUESTION
from tests.support.servers import complete

UNKNOWN = "How many whales live in the moat of Castle Wick?"


@pytest.fixture
def client(app: ServedApp) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{app.address}/v1", api_key="local", max_retries=0) as client:
        yield client


def test_models_are_the_library_and_its_collections(client: openai.OpenAI) -> None:
    assert [one.id for one in client.models.list()] == ["footnote", "footnote:default"]


def test_answer_cites_pages_in_its_text_its_end_and_its_annotations(app: ServedApp, client: openai.OpenAI) -> None:
    app.play(complete("It was dredged in 1931 [1], ![see](http://evil.example/x.png). It closed in 1988."))
    question = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    whole = client.chat.completions.create(model="footnote:default", messages=question, temperature=0.5)
    message = whole.choices[0].message
    assert message.content is not None
    assert "It was dredged in 1931 [1]" in message.content
    assert "(not found in the sources" in message.content
    # Markdown of other people loads nothing.
    assert "![" not in message.content.replace("\\[", "")
    text, _, sources = message.content.partition("\n\nSources:\n\n")
    assert sources.startswith("- [1] harbour.pdf, page 1: “The harbour of Brennick was dredged in 1931 by forty men.”")
    (cited, *_) = message.annotations or []
    place = cited.url_citation
    assert (text[place.start_index : place.end_index], place.title) == ("[1]", "harbour.pdf, page 1")
    assert place.url in sources
    assert whole.usage is not None

    options = {"include_usage": True}
    chunks = list(
        client.chat.completions.create(model="footnote", messages=question, stream=True, stream_options=options)
    )
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert streamed == message.content
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None


def test_follow_up_refers_to_earlier_messages_and_a_refusal_has_no_sources(
    client: openai.OpenAI, app: ServedApp
) -> None:
    app.play(lambda exchange: exchange.error(500))
    messages = [
        {"role": "system", "content": "Answer in one sentence."},
        {"role": "user", "content": "What is painted red?"},
        {"role": "assistant", "content": "The lighthouse [1].\n\nSources:\n\n- [1] harbour.pdf, page 2"},
        {"role": "user", "content": UNKNOWN},
    ]
    refusal = client.chat.completions.create(model="footnote", messages=messages).choices[0].message
    assert refusal.content is not None
    assert "Sources:" not in refusal.content
    assert not refusal.annotations


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"model": "footnote:nowhere"}, openai.NotFoundError, "There is no model 'footnote:nowhere'"),
        ({"messages": []}, openai.UnprocessableEntityError, "messages"),
        ({"messages": [{"role": "user", "content": " "}]}, openai.UnprocessableEntityError, "The question is empty"),
        ({"messages": [{"role": "assistant", "content": "No"}]}, openai.UnprocessableEntityError, "not a question"),
    ],
)
def test_error_is_one_of_the_client(
    client: openai.OpenAI, changes: dict[str, object], error: type[openai.APIStatusError], words: str
) -> None:
    request = {"model": "footnote", "messages": [{"role": "user", "content": QUESTION}]} | changes
    with pytest.raises(error, match=words):
        client.chat.completions.create(**request)


def test_unknown_token_is_refused(app: ServedApp) -> None:
    with (
        openai.OpenAI(base_url=f"{app.address}/v1", api_key="sk-old", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError, match="unknown or was revoked"),
    ):
        client.models.list()
    assert httpx.get(f"{app.address}/v1/nowhere", trust_env=False).status_code == 404
