"""Footnote as a model, with the client of OpenAI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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

    # The other API of the client gives the same answer.
    asked = [{"role": "user", "content": [{"type": "input_text", "text": QUESTION}]}]
    response = client.responses.create(model="footnote:default", input=asked)
    assert response.output_text == message.content
    (same, *_) = response.output[0].content[0].annotations
    assert same.to_dict() == {"type": "url_citation", **place.to_dict()}
    assert (response.status, response.usage is not None) == ("completed", True)
    with client.responses.stream(model="footnote", input=QUESTION) as stream:
        kinds = [event.type.removeprefix("response.") for event in stream]
        final = stream.get_final_response()
    assert (final.output_text, final.output[0].content[0].annotations[0]) == (message.content, same)
    assert list(dict.fromkeys(kinds)) == [
        *("created", "in_progress", "output_item.added", "content_part.added", "output_text.delta"),
        *("output_text.annotation.added", "output_text.done", "content_part.done", "output_item.done", "completed"),
    ]

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
    response = client.responses.create(model="footnote", input=messages[1:], instructions="Answer in one sentence.")
    assert response.output_text == refusal.content


@pytest.mark.parametrize(
    ("api", "changes", "error", "words"),
    [
        ("chat", {"model": "footnote:nowhere"}, openai.NotFoundError, "There is no model 'footnote:nowhere'"),
        ("chat", {"messages": []}, openai.UnprocessableEntityError, "messages"),
        ("chat", {"messages": [{"role": "user", "content": " "}]}, openai.UnprocessableEntityError, "is empty"),
        ("chat", {"messages": [{"role": "assistant", "content": "No"}]}, openai.UnprocessableEntityError, "a question"),
        ("responses", {"model": "gpt-5"}, openai.NotFoundError, "There is no model 'gpt-5'"),
        ("responses", {"input": []}, openai.UnprocessableEntityError, "input"),
        ("responses", {"input": [{"type": "item_reference", "id": "a"}]}, openai.UnprocessableEntityError, "message"),
        ("responses", {"previous_response_id": "resp_1"}, openai.UnprocessableEntityError, "Responses are not kept"),
    ],
)
def test_error_is_one_of_the_client(
    client: openai.OpenAI, api: str, changes: dict[str, Any], error: type[openai.APIStatusError], words: str
) -> None:
    create, sent = {
        "chat": (client.chat.completions.create, {"messages": [{"role": "user", "content": QUESTION}]}),
        "responses": (client.responses.create, {"input": QUESTION}),
    }[api]
    with pytest.raises(error, match=words):
        create(**{"model": "footnote", **sent, **changes})


def test_error_after_the_beginning_of_a_stream_ends_it(client: openai.OpenAI) -> None:
    *_, last = client.responses.create(model="footnote", input=" ", stream=True)
    assert (last.type, last.response.status) == ("response.failed", "failed")
    assert "The question is empty" in last.response.error.message
    with pytest.raises(openai.APIError, match="The question is empty"):
        list(client.chat.completions.create(model="footnote", messages=[{"role": "user", "content": " "}], stream=True))


def test_unknown_token_is_refused(app: ServedApp) -> None:
    with (
        openai.OpenAI(base_url=f"{app.address}/v1", api_key="sk-old", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError, match="unknown or was revoked"),
    ):
        client.models.list()
    assert httpx.get(f"{app.address}/v1/nowhere", trust_env=False).status_code == 404
