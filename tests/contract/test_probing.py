"""The test of a model: what works is told, and what does not, with what to do."""

from __future__ import annotations

import pytest

from rag_core.llm.generator import LanguageModel
from rag_core.settings import Settings
from rag_core.types import ModelCheck, Usage
from tests.support.servers import MODEL_FILE, Exchange, Play, ScriptedEndpoint, complete, listing

KEY = "sk-do-not-show-81aa"


def status(code: int, said: str = "") -> Play:
    return lambda exchange: exchange.error(code, {"error": {"message": said}} if said else None)


def probed(*script: Play, heard: list[Usage] | None = None, **changes: object) -> list[ModelCheck]:
    with ScriptedEndpoint(*script) as endpoint:
        given: dict[str, object] = {
            "openai_base_url": endpoint.url,
            "openai_model": "small",
            "openai_api_key": KEY,
            "openai_timeout_s": 5.0,
        }
        settings = Settings(_env_file=None, **(given | changes))
        made = LanguageModel(settings, on_usage=(heard if heard is not None else []).append)
        found = list(made.probe())
        made.close()
    assert KEY not in repr(found)
    return found


def verdicts(found: list[ModelCheck]) -> dict[str, bool | None]:
    assert len({check.name for check in found}) == len(found)
    return {check.name: check.passed for check in found}


WORKS = {"Reachable": True, "Key": True, "Model": True, "Streaming": True, "First text": True}


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_all_is_well(api: str) -> None:
    heard: list[Usage] = []
    script = listing("large", "small"), complete("one, ", "two, ", "three", tokens=(20, 6))
    found = probed(*script, openai_api=api, heard=heard)
    assert verdicts(found) == WORKS
    words = {check.name: check.words for check in found}
    assert words["Reachable"] == "It answers and lists 2 models."
    assert words["Model"] == "small answers."
    assert words["First text"].endswith(" ms.")
    assert heard == [Usage(1, 20, 6)]


def test_a_model_in_this_process() -> None:
    made = LanguageModel(Settings(_env_file=None, gguf=MODEL_FILE, gguf_threads=1, openai_context_tokens=512))
    found = verdicts(list(made.probe()))
    made.close()
    assert found == {name: True for name in WORKS if name != "Key"}


def test_nobody_is_there() -> None:
    found = probed(complete("x"), openai_base_url="http://127.0.0.1:9/v1")
    assert verdicts(found) == {"Reachable": False}
    assert "Start it, or correct the address" in found[0].words


def test_a_key_that_is_refused_at_once() -> None:
    found = probed(status(401, f"wrong key {KEY}"))
    assert verdicts(found) == {"Key": False}
    assert "Set a valid key" in found[0].words


def test_a_key_that_is_refused_when_it_counts() -> None:
    found = probed(listing("small"), status(401, f"wrong key {KEY}"))
    assert verdicts(found) == {"Reachable": True, "Key": False}


def test_without_a_key_it_is_said_that_none_is_wanted() -> None:
    found = probed(listing("small"), complete("one ", "two"), openai_api_key=None)
    assert found[1] == ModelCheck("Key", True, "No key is set, and none is required.")


def test_a_model_that_is_not_there() -> None:
    found = probed(listing("large"), status(404, "model small not found"))
    assert verdicts(found) == {"Reachable": True, "Model": False}
    assert "has no RAG_OPENAI_MODEL=small" in found[-1].words


def test_a_model_that_answers_under_another_name() -> None:
    found = probed(listing(*"abcdef"), complete("one ", "two"))
    assert found[2] == ModelCheck(
        "Model", None, "small answers, but is not in the endpoint's list of models: a, b, c, d, e, …."
    )


def test_an_endpoint_without_a_list_of_models() -> None:
    found = probed(status(404), complete("one ", "two"))
    assert verdicts(found) == WORKS
    assert found[0].words == "It answers, but has no list of models (HTTP 404)."


def test_text_in_one_piece() -> None:
    found = probed(listing("small"), complete("one two three"))
    assert verdicts(found) == WORKS | {"Streaming": False}
    assert "Let the server stream" in found[3].words


def test_thought_alone() -> None:
    found = probed(listing("small"), complete(finish="length"))
    assert verdicts(found) == {"Reachable": True, "Key": True, "Model": True, "Streaming": None}
    assert "RAG_OPENAI_ANSWER_TOKENS" in found[-1].words


def test_a_stream_that_breaks_off() -> None:
    def drop(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta("one ")
        exchange.delta("two ")
        exchange.drop()

    found = probed(listing("small"), drop)
    assert verdicts(found) == {"Reachable": True, "Key": True, "Model": True, "Streaming": False, "First text": True}
    assert "stopped half-way" in found[3].words


def test_a_model_that_never_ends_is_left_once_enough_is_known() -> None:
    def endless(exchange: Exchange) -> None:
        exchange.start()
        exchange.until_client_leaves()

    assert verdicts(probed(listing("small"), endless)) == WORKS


def test_silence() -> None:
    found = probed(listing("small"), lambda exchange: exchange.hang(), openai_timeout_s=0.3)
    assert verdicts(found) == {"Reachable": True, "Model": False}
    assert "RAG_OPENAI_TIMEOUT_S" in found[-1].words
