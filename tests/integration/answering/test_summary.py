"""Summaries of whole documents: read in parts, with checked notes, within limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_core.answering.call_budget import CallBudget
from rag_core.engine import Engine
from rag_core.types.answers import REFUSAL, Answer, AnswerState, Delta, Restart, Stage
from rag_core.types.retrieval import RetrievalConfig, SearchResult
from tests.support.engines import ASK_BUDGET, BUDGET, assert_cited, open_library, scripted_engine
from tests.support.servers import Exchange, Play, ScriptedEndpoint, complete

SUMMARIZE = "Summarise the annual report."
SUMMARY = RetrievalConfig(strategy="summary")
TOWNS = "Arles Bergen Cordoba Delft Evora Ferrara Ghent Haarlem Imola Jena Kotor Lucca".split()
# Each prompt has room for some of the pages, so that a summary has several parts.
SMALL = {"openai_context_tokens": 1800, "openai_answer_tokens": 200}


def town(name: str, number: int) -> str:
    more = " ".join(f"Its market square was paved in {1900 + number + year} by the guild." for year in range(12))
    return f"The branch in {name} sold {100 + number} barrels of olive oil. {more}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with a document of twelve pages and one of one page; tests must not change them."""
    folder = tmp_path_factory.mktemp("summarizing") / "data"
    report = [town(name, number) for number, name in enumerate(TOWNS)]
    with open_library(folder, {"report.pdf": report, "bridge.pdf": [BUDGET]}):
        return folder


def asking(folder: Path, *script: Play, **values: Any) -> AbstractContextManager[tuple[Engine, ScriptedEndpoint]]:
    return scripted_engine(folder, *script, **(SMALL | values))


def summarize(
    engine: Engine, question: str = SUMMARIZE, documents: Sequence[str] = ("report.pdf",)
) -> tuple[list[object], Answer]:
    """Return all events of a summary, and the summary."""
    events: list[object] = list(engine.ask(question, documents=documents, configuration=SUMMARY))
    answer = events[-1]
    assert isinstance(answer, Answer)
    return events, answer


class Reader:
    """Plays a model that notes the first sentence of each passage and returns notes unchanged as the summary."""

    def __init__(self, change: Callable[[str], str] = lambda line: line) -> None:
        self.endpoint: ScriptedEndpoint | None = None
        self.change = change
        self.prompts: list[str] = []

    def __call__(self, exchange: Exchange) -> None:
        assert self.endpoint is not None
        prompt = self.endpoint.requests[-1]["messages"][1]["content"]
        self.prompts.append(prompt)
        passages = re.findall(r"^\[(\d+)\] [^\n]*\n(.*?\.)\s", prompt, re.DOTALL | re.MULTILINE)
        lines = [f"- {' '.join(sentence.split())} [{number}]" for number, sentence in passages]
        if not lines:
            lines = re.findall(r"^- .*$", prompt, re.MULTILINE)
        complete("\n".join(map(self.change, lines)))(exchange)


@contextmanager
def reading(folder: Path, reader: Reader, **values: Any) -> Iterator[tuple[Engine, Reader]]:
    with asking(folder, reader, **values) as (engine, endpoint):
        reader.endpoint = endpoint
        yield engine, reader


def folded(text: str) -> str:
    return " ".join(text.split())


def test_summary_covers_and_cites_every_page(folder: Path) -> None:
    with reading(folder, Reader()) as (engine, reader):
        events, answer = summarize(engine)
        assert (answer.state, answer.strategy, answer.notices) == (AnswerState.ANSWERED, "summary", ())
        assert all(f"The branch in {name} sold {100 + number} barrels" in answer.text
                   for number, name in enumerate(TOWNS))  # fmt: skip
        assert all(claim.supported for claim in answer.statements)
        assert_cited(engine, answer)
        parts = [event.name for event in events if isinstance(event, Stage) and event.name.startswith("part_")]
        assert len(set(parts)) == len(reader.prompts) - 1 > 1
        read = r"Read part 1 of 2, report\.pdf pages 1 to (\d+): (\d+) statements noted"
        assert re.fullmatch(read, answer.steps[0])
        assert answer.usage.calls == len(reader.prompts)
        assert answer.gate == answer.gate.__class__("supported", 1.0, 0.5, True)
        assert "bridge" not in "".join(reader.prompts)
        [result] = [event for event in events if isinstance(event, SearchResult)]
        assert {passage.chunk_id for passage in answer.passages} <= {passage.chunk_id for passage in result.passages}
        assert folded("".join(event.text for event in events if isinstance(event, Delta))) == folded(answer.text)


def test_limits_select_evenly_spread_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, reading(folder, Reader()) as (engine, reader):
        patch.setattr(CallBudget, "max_calls", 1)
        _, answer = summarize(engine)
        assert len(reader.prompts) == 2
        assert "spread evenly" in answer.notices[0]
        assert "at most 1 call to the model" in answer.notices[0]
        pages = sorted(passage.page_index for passage in answer.passages)
        assert pages[0] <= 2
        assert pages[-1] >= 9


def test_long_notes_are_condensed(folder: Path) -> None:
    with reading(folder, Reader(), openai_context_tokens=1600) as (engine, _):
        events, answer = summarize(engine)
        assert any(isinstance(event, Stage) and event.name == "condense_1" for event in events)
        assert answer.state is AnswerState.ANSWERED
        assert all(claim.supported for claim in answer.statements)


def test_unsupported_notes_are_omitted(folder: Path) -> None:
    def change(line: str) -> str:
        return line.replace("100 barrels", "999 barrels")

    with reading(folder, Reader(change)) as (engine, reader):
        _, answer = summarize(engine)
        assert "999" not in reader.prompts[-1]
        assert "999" not in answer.text
        assert answer.gate.score == pytest.approx(11 / 12)


def test_mostly_unsupported_summary_is_refused(folder: Path) -> None:
    def change(line: str) -> str:
        return line if "105" in line else re.sub(r"sold 1\d\d", "sold 900", line)

    with reading(folder, Reader(change)) as (engine, reader):
        events, answer = summarize(engine)
        assert (answer.state, answer.text, answer.citations) == (AnswerState.ABSTAINED, REFUSAL, ())
        assert answer.gate.score == pytest.approx(1 / 12)
        assert all("<notes>" not in prompt for prompt in reader.prompts)
        assert "".join(event.text for event in events if isinstance(event, Delta)) == REFUSAL


def test_interrupted_summary_is_kept(folder: Path) -> None:
    def break_off(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta("The budget is 42 million euros [1].")
        exchange.drop()

    note = complete("The budget of the Zanzibar bridge is 42 million euros [1].")
    with asking(folder, note, break_off) as (engine, _):
        events, answer = summarize(engine, "Summarise it.", ["bridge.pdf"])
        assert (answer.state, answer.text) == (AnswerState.ANSWERED, "The budget is 42 million euros [1].")
        assert "stopped half-way" in answer.notices[-1]
        assert not any(isinstance(event, Restart) for event in events)


def test_documents_without_relevant_content_give_a_refusal(folder: Path) -> None:
    with asking(folder, complete(REFUSAL)) as (engine, endpoint):
        answer = engine.answer("Summarise the chess games.", documents=["bridge.pdf"], configuration=SUMMARY)
        assert (answer.state, answer.text, answer.passages) == (AnswerState.ABSTAINED, REFUSAL, ())
        assert len(endpoint.requests) == 1


def test_empty_library_refuses_without_asking_the_model(tmp_path: Path) -> None:
    with asking(tmp_path / "data", complete("Never asked [1].")) as (engine, endpoint):
        assert engine.answer(SUMMARIZE, configuration=SUMMARY).state is AnswerState.ABSTAINED
        assert endpoint.requests == []


@pytest.mark.parametrize("notes", [0, 1])
def test_failing_model_falls_back_to_plain_search(folder: Path, notes: int) -> None:
    note = complete("The budget of the Zanzibar bridge is 42 million euros [1].")
    script = [note] * notes + [lambda exchange: exchange.error(500)]
    with asking(folder, *script) as (engine, _):
        answer = engine.answer(ASK_BUDGET, documents=["bridge.pdf"], configuration=SUMMARY)
        assert (answer.state, answer.generator) == (AnswerState.ANSWERED, "extractive")
        assert "HTTP 500" in answer.notices[0]
        assert answer.notices[0].endswith("A plain search was used instead.")
        assert answer.usage.calls == notes


def test_context_without_room_falls_back_to_plain_search(folder: Path) -> None:
    with asking(folder, complete("It is 42 million euros [1]."), openai_context_tokens=1000) as (engine, _):
        answer = engine.answer(ASK_BUDGET, configuration=SUMMARY)
        assert answer.notices[0].startswith("RAG_OPENAI_CONTEXT_TOKENS=1000")
        assert answer.notices[0].endswith("A plain search was used instead.")
        assert answer.citations
