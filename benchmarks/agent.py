"""Measure the strategy in which a language model looks things up with tools.

    python -m benchmarks.agent scripted DATA_DIR
    RAG_GGUF=model.gguf python -m benchmarks.agent model DATA_DIR QUESTIONS [--limit 8] [--rows FILE]

``DATA_DIR`` is a data folder in which the annual reports of ``agent_tasks.jsonl`` are indexed, or the documents of the
questions. ``scripted`` runs an endpoint that plays a script for each task: open the outline, look up each value,
compute, finish, and state the computed value. It shows whether the tools return the right values and whether the answer
passes the checks, not whether a model chooses well. ``model`` asks questions (JSON lines with ``question`` and
``values``) with a plain search and with the strategy.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.quality import interval
from benchmarks.with_model import SEED, holds_value
from rag_core.engine import Engine
from rag_core.settings import load_settings
from rag_core.types.answers import Answer, AnswerState, strip_markers
from rag_core.types.retrieval import RetrievalConfig
from tests.support.servers import Exchange, ScriptedEndpoint, calling, complete

_BALANCE = "balance sheets"


@dataclass(frozen=True)
class Task:
    """A figure from cells of reports: for each cell the report, the row, the column and its value as on the page."""

    question: str
    cells: list[tuple[str, str, str, str]]
    expression: str
    expected: list[str]


def read_tasks() -> list[Task]:
    """Return the tasks of ``agent_tasks.jsonl``."""
    lines = Path(__file__).with_name("agent_tasks.jsonl").read_text("utf-8").splitlines()
    return [Task(**json.loads(line)) for line in lines]


class Script:
    """Plays a task by fixed rules, as a model could: it sees only the results of its calls.

    For each value, it opens the outline at the balance sheet. If there is no such section, or the value is in another
    statement, it searches, and takes the page of the first passage with the label of the row.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._left = list(task.cells)
        self._names: list[str] = []
        self._next = "outline"

    def __call__(self, exchange: Exchange) -> None:
        messages = exchange.body["messages"]
        results = [one["content"] for one in messages if one["role"] == "tool"]
        if "tools" not in exchange.body:
            hint = re.search(r"The text closest to the question, from \[(\d+)\]: “(.+?) = ", messages[-1]["content"])
            complete(f"{hint[2]} [{hint[1]}]." if hint else "I don't know.")(exchange)
        elif self._next == "named" and results:
            self._names.append(results[-1].split(" ")[0])
            self._left.pop(0)
            self._next = "outline" if self._left else "compute"
            self(exchange)
        elif self._next == "outline":
            self._next = "page"
            calling(("open_outline", {"document": self._left[0][0], "title": _BALANCE}))(exchange)
        elif self._next in ("page", "found"):
            self._look_up(results[-1], exchange)
        elif self._next == "compute":
            self._next = "finish"
            expression = re.sub(r"c(\d)", lambda match: self._names[int(match[1]) - 1], self._task.expression)
            calling(("compute", {"expression": expression}))(exchange)
        else:
            calling(("finish", {}))(exchange)

    def _look_up(self, result: str, exchange: Exchange) -> None:
        document, row, column, _ = self._left[0]
        if self._next == "page" and (row.startswith("cost") or not re.search(r", page (.+)$", result, re.MULTILINE)):
            self._next = "found"
            calling(("search", {"query": f"consolidated statements: {row} {column}", "document": document}))(exchange)
            return
        self._next = "named"
        blocks = result.split("\n\n") if result.startswith("[") else [result]
        block = next((one for one in blocks if row in one.casefold()), blocks[0])
        page = re.search(r", page (.+)$", block, re.MULTILINE)
        at = {"page": page[1]} if page else {}
        calling(("look_up", {"document": document, "row": row, "column": column, **at}))(exchange)


def run_scripted(data: Path) -> None:
    """Print a row for each task: the answer, whether it is right, and whether the cells are cited."""
    tasks = read_tasks()
    right = cited = quoted = 0
    with ScriptedEndpoint() as endpoint:
        settings = load_settings().model_copy(
            update={"data_dir": data, "openai_base_url": endpoint.url, "openai_model": "scripted", "gguf": None}
        )
        with Engine(settings) as engine:
            for task in tasks:
                endpoint.script[:] = [Script(task)]
                started = time.perf_counter()
                answer = engine.answer(task.question, configuration=RetrievalConfig(strategy="iterative"))
                is_right = states_value(answer, task)
                is_cited = cites_cells(answer, task)
                right, cited = right + is_right, cited + is_cited
                quoted += states_value(engine.answer(task.question, model=""), task)
                verdict = f"{'right' if is_right else 'WRONG'}, {'cited' if is_cited else 'NOT CITED'}"
                cost = f"{answer.usage.calls} calls, {time.perf_counter() - started:.1f} s"
                print(f"{verdict}, {cost}, expected {task.expected[0]}: {answer.text}", flush=True)
    print(f"right: {right} of {len(tasks)}; all cells cited: {cited} of {len(tasks)}")
    print(f"right without a model: {quoted} of {len(tasks)}")


def states_value(answer: Answer, task: Task) -> bool:
    text = strip_markers(answer.text)
    return answer.state is AnswerState.ANSWERED and any(one in text for one in task.expected)


def cites_cells(answer: Answer, task: Task) -> bool:
    """Return whether a citation of the right document quotes each cell, and every statement is supported."""
    quotes = [(one.document, one.quote) for one in answer.citations]
    found = all(
        any(name.startswith(document) and value in quote for name, quote in quotes)
        for document, *_, value in task.cells
    )
    return found and all(one.supported for one in answer.statements)


def run_model(data: Path, questions: Path, limit: int, rows: Path | None) -> None:
    """Print how often each strategy states the expected value, and what it costs."""
    asked = [json.loads(line) for line in questions.read_text("utf-8").splitlines()]
    asked = random.Random(SEED).sample(asked, min(limit, len(asked)))
    written: list[dict[str, Any]] = []
    with Engine(load_settings().model_copy(update={"data_dir": data})) as engine:
        for row in asked:
            for strategy in ("plain", "iterative"):
                started = time.perf_counter()
                answer = engine.answer(row["question"], configuration=RetrievalConfig(strategy=strategy))
                written.append(
                    {
                        "id": row["id"],
                        "strategy": strategy,
                        "right": holds_value(row, answer.text) and answer.state is AnswerState.ANSWERED,
                        "refused": answer.state is AnswerState.ABSTAINED,
                        "calls": answer.usage.calls,
                        "tokens": answer.usage.input_tokens + answer.usage.output_tokens,
                        "seconds": round(time.perf_counter() - started, 1),
                        "steps": answer.steps,
                        "notices": answer.notices,
                        "text": answer.text,
                    }
                )
                print(
                    json.dumps({name: written[-1][name] for name in ("id", "strategy", "right", "calls", "seconds")}),
                    flush=True,
                )
                if rows:
                    rows.write_text("".join(f"{json.dumps(one)}\n" for one in written), "utf-8")
    for strategy in ("plain", "iterative"):
        own = [one for one in written if one["strategy"] == strategy]
        names = ("refused", "calls", "tokens", "seconds")
        means = ", ".join(f"{name} {sum(one[name] for one in own) / len(own):.2f}" for name in names)
        print(f"{strategy}: n={len(own)}, right {interval([one['right'] for one in own])}, mean {means}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("scripted").add_argument("data", type=Path)
    model = commands.add_parser("model")
    model.add_argument("data", type=Path)
    model.add_argument("questions", type=Path)
    model.add_argument("--limit", type=int, default=8)
    model.add_argument("--rows", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "scripted":
        run_scripted(arguments.data)
    else:
        run_model(arguments.data, arguments.questions, arguments.limit, arguments.rows)


if __name__ == "__main__":
    main()
