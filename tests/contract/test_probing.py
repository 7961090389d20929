"""The test of a language model: its checks and their messages."""

from __future__ import annotations

import base64
import io
import re

import pytest
from PIL import Image

from rag_core.llm.generator import LanguageModel
from rag_core.settings import Settings
from rag_core.types.status import ModelCheck
from rag_core.types.usage import Usage
from tests.support.servers import MODEL_FILE, Exchange, Play, ScriptedEndpoint, complete, listing

KEY = "sk-do-not-show-81aa"
MODELS = "/v1/models"


def status(code: int, message: str = "") -> Play:
    return lambda exchange: exchange.error(code, {"error": {"message": message}} if message else None)


def probe(*script: Play, usages: list[Usage] | None = None, **changes: object) -> list[ModelCheck]:
    with ScriptedEndpoint(*script) as endpoint:
        values: dict[str, object] = {
            "openai_base_url": endpoint.url,
            "openai_model": "small",
            "openai_api_key": KEY,
            "openai_timeout_s": 5.0,
            "openai_context_tokens": 8192,
        }
        settings = Settings(_env_file=None, **(values | changes))
        model = LanguageModel(settings, on_usage=(usages if usages is not None else []).append)
        checks = list(model.test_connection())
        model.close()
    assert KEY not in repr(checks)
    return checks


def verdicts(checks: list[ModelCheck]) -> dict[str, bool | None]:
    assert len({check.name for check in checks}) == len(checks)
    return {check.name: check.passed for check in checks}


WORKS = {
    **{"Reachable": True, "Key": True, "Model": True, "Streaming": True, "First text": True},
    **{"Context length": True, "Capability": None, "Pictures": None},
}


@pytest.mark.parametrize(("api", "slow_s"), [("chat", 10.0), ("responses", 0.0)])
def test_checks_of_working_endpoint(monkeypatch: pytest.MonkeyPatch, api: str, slow_s: float) -> None:
    monkeypatch.setattr("rag_core.llm.connection_test.SLOW_S", slow_s)
    usages: list[Usage] = []
    script = listing("large", "small"), complete("one, ", "two, ", "three", tokens=(20, 6))
    checks = probe(*script, openai_api=api, usages=usages)
    assert verdicts(checks) == WORKS | {"First text": True if slow_s else None}
    words = {check.name: check.words for check in checks}
    assert words["Reachable"] == "It answers and lists 2 models."
    assert words["Model"] == "small answers."
    remedy = "" if slow_s else " Test again: .* choose a smaller model or a faster machine."
    assert re.fullmatch(rf"It arrived after [\d.,]+ m?s\.{remedy}", words["First text"])
    assert words["Context length"] == (
        "Not reported by the endpoint; 8,192 tokens are assumed. If the model takes fewer, lower "
        "RAG_OPENAI_CONTEXT_TOKENS."
    )
    assert usages == [Usage(1, 20, 6)] * 5


def test_checks_of_model_in_this_process() -> None:
    model = LanguageModel(Settings(_env_file=None, gguf=MODEL_FILE, openai_context_tokens=512))
    checks = verdicts(list(model.test_connection()))
    model.close()
    assert checks == {name: True for name in WORKS if name not in ("Key", "Pictures")}


@pytest.mark.parametrize(
    ("replies", "entered", "passed", "words"),
    [
        ({MODELS: {"max_model_len": 8192}}, 8192, True, r"^8,192 tokens, as the endpoint reports\.$"),
        (
            {MODELS: {"max_model_len": 32768}},
            8192,
            True,
            "^32,768 tokens, as the endpoint reports; 8,192 of them are used",
        ),
        ({MODELS: {"max_model_len": 2048}}, 8192, False, "Lower RAG_OPENAI_CONTEXT_TOKENS to 2048"),
        (
            {
                "/api/ps": {"models": [{"name": "small", "context_length": 4096}]},
                "/api/show": {"model_info": {"qwen3.context_length": 40_960}},
            },
            *(None, None, "^4,096 tokens, as .* reports. The model supports 40,960.*OLLAMA_CONTEXT_LENGTH=16384"),
        ),
    ],
    ids=["the same", "larger", "smaller", "Ollama"],
)
def test_reported_context_length_is_compared_with_the_one_in_use(
    monkeypatch: pytest.MonkeyPatch,
    replies: dict[str, dict[str, object]],
    entered: int | None,
    passed: bool | None,
    words: str,
) -> None:
    monkeypatch.delenv("RAG_OPENAI_CONTEXT_TOKENS")
    bodies = {**replies, MODELS: {"data": [{"id": "small", **replies.get(MODELS, {})}]}}

    def answer(exchange: Exchange) -> None:
        if exchange.path in bodies:
            exchange.error(200, bodies[exchange.path], content_type="application/json")
        else:
            ONE_TWO(exchange) if exchange.method == "POST" else exchange.error(404)

    check = probe(answer, openai_context_tokens=entered)[-3]
    assert (check.name, check.passed) == ("Context length", passed)
    assert re.search(words, check.words)


CITED = "It was dredged to 14 metres [1]. That cost 38 million euros [1]."
GERMAN, MISSING = "Der neue Kran hebt 65 Tonnen [2].", "NOT_STATED"
CAPABILITIES: dict[str, tuple[list[str], int, str | None, str]] = {
    "capable": ([CITED, GERMAN, MISSING], 32_000, "capable", "^Capable\\. It cites its sources"),
    "other words": (
        [CITED, "Er kann 65 t heben, der Kran ist neu.", "The sources do not state this."],
        32_000,
        "capable",
        "",
    ),
    "no citation": (
        ["It was 14 metres and cost 38 million.", GERMAN, MISSING],
        32_000,
        "small",
        r"did not cite .* \[1\]",
    ),
    "English": ([CITED, "The new crane lifts 65 tonnes [2].", MISSING], 32_000, "small", "German question in German"),
    "invention": ([CITED, GERMAN, "412 ships called [1]."], 32_000, "small", "its sources do not contain"),
    "small context": ([CITED, GERMAN, MISSING], 8192, "small", "context of less than 16,384 tokens"),
}


@pytest.mark.parametrize(("replies", "context", "expected", "words"), CAPABILITIES.values(), ids=CAPABILITIES)
def test_capability_is_found_by_three_questions(replies: list[str], context: int, expected: str, words: str) -> None:
    remaining = iter(["one, two", *replies, "none"])

    def answer(exchange: Exchange) -> None:
        if exchange.method == "GET":
            listing("small")(exchange) if exchange.path.endswith("/models") else exchange.error(404)
        else:
            complete(*re.findall(r"\S+\s*", next(remaining)))(exchange)

    check = probe(answer, openai_context_tokens=context)[-2]
    assert (check.name, check.capability) == ("Capability", expected)
    assert check.passed is (True if expected == "capable" else None)
    assert re.search(words, check.words)


@pytest.mark.parametrize(
    ("play", "sees", "words"),
    [
        (complete("Blue, ", "yellow, green, red."), True, "^It named the colours"),
        (complete("Red, ", "blue, yellow, green."), False, "^It did not name the colours"),
        (status(400, "m is not a multimodal model"), False, "^It takes none .*multimodal"),
    ],
    ids=["sees", "guesses", "rejects"],
)
def test_generated_picture_shows_whether_the_model_sees(play: Play, sees: bool, words: str) -> None:
    pictures: list[Image.Image] = []

    def answer(exchange: Exchange) -> None:
        content = exchange.body["messages"][-1]["content"] if exchange.method == "POST" else ""
        if isinstance(content, str):
            (SMALL if exchange.method == "GET" else ONE_TWO)(exchange)
            return
        data = content[1]["image_url"]["url"].removeprefix("data:image/png;base64,")
        pictures.append(Image.open(io.BytesIO(base64.b64decode(data))))
        play(exchange)

    check = probe(answer, openai_context_tokens=32_000)[-1]
    assert (check.name, check.passed, check.sees_pictures) == ("Pictures", sees or None, sees)
    assert re.search(words, check.words)
    [picture] = pictures
    blue, _, _, red = (picture.getpixel((32 + 64 * number, 128)) for number in range(4))
    assert (max(range(3), key=blue.__getitem__), max(range(3), key=red.__getitem__)) == (2, 0)


def break_off(exchange: Exchange) -> None:
    exchange.start()
    exchange.delta("one ")
    exchange.delta("two ")
    exchange.drop()


def never_end(exchange: Exchange) -> None:
    exchange.start()
    exchange.until_client_leaves()


SMALL, ONE_TWO = listing("small"), complete("one ", "two")
WRONG_KEY = status(401, f"wrong key {KEY}")
UP_TO_MODEL = {"Reachable": True, "Key": True, "Model": True}
PROBES: dict[str, tuple[list[Play], dict[str, object], dict[str, bool | None], int, str]] = {
    "unreachable": (
        *([ONE_TWO], {"openai_base_url": "http://127.0.0.1:9/v1"}, {"Reachable": False}),
        *(0, "Start it, or correct the address"),
    ),
    "key rejected at once": ([WRONG_KEY], {}, {"Key": False}, 0, "Set a valid key"),
    "key rejected by the model": ([SMALL, WRONG_KEY], {}, {"Reachable": True, "Key": False}, 1, "Set a valid key"),
    "no key needed": ([SMALL, ONE_TWO], {"openai_api_key": None}, WORKS, 1, "^No key is set, and none is required\\.$"),
    "unknown model": (
        *([listing("large"), status(404, "model small not found")], {}, {"Reachable": True, "Model": False}),
        *(-1, r"has no RAG_OPENAI_MODEL=small, .* The endpoint lists large\.$"),
    ),
    "unlisted model": (
        *([listing(*"abcdef"), ONE_TWO], {}, WORKS | {"Model": None}),
        *(2, "^small answers, but is not in the endpoint's list of models: a, b, c, d, e, …\\.$"),
    ),
    "no list of models": (
        *([status(404), ONE_TWO], {}, WORKS),
        *(0, r"^It answers, but has no list of models \(HTTP 404\)\. Type the name of the model\.$"),
    ),
    "text in one piece": (
        *([SMALL, complete("one two three")], {}, WORKS | {"Streaming": False}),
        *(3, "Let the server stream"),
    ),
    "only reasoning": (
        *([SMALL, complete(finish="length")], {}, UP_TO_MODEL | {"Streaming": None, "Context length": True}),
        *(3, "RAG_OPENAI_ANSWER_TOKENS"),
    ),
    "interrupted": (
        *([SMALL, break_off], {}, WORKS | {"Streaming": False}),
        *(3, "stopped half-way"),
    ),
    "endless text": ([SMALL, never_end], {}, WORKS, -1, ""),
    "time-out": (
        *([SMALL, Exchange.hang], {"openai_timeout_s": 0.3}, {"Reachable": True, "Model": False}),
        *(-1, "RAG_OPENAI_TIMEOUT_S"),
    ),
}


@pytest.mark.parametrize(("script", "changes", "expected", "number", "words"), PROBES.values(), ids=PROBES)
def test_checks_of_endpoint(
    script: list[Play], changes: dict[str, object], expected: dict[str, bool | None], number: int, words: str
) -> None:
    checks = probe(*script, **changes)
    assert verdicts(checks) == expected
    assert re.search(words, checks[number].words)
