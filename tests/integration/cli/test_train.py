"""The commands ``train`` and ``pseudo-questions``: their output and errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_core.cli import app as cli
from rag_core.cli import console
from tests.support.cli import Run
from tests.support.engines import opened
from tests.support.learning import PUMPS, add_pumps


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "pumps.jsonl"
    with opened(tmp_path / "data") as engine:
        path.write_bytes(add_pumps(engine, 5))
    return path


def test_figures_and_decision_are_printed_and_the_adapter_is_switched(run: Run, labels: Path) -> None:
    code, rows, notes = run("train", str(labels))
    assert code == 0
    *figures, decision = rows
    assert [(row["stage"], row["metric"]) for row in figures] == [
        *(("dense", "recall@1"), ("dense", "mrr@10"), ("pipeline", "recall@1"), ("pipeline", "mrr@10"))
    ]
    assert all({"before", "after", "difference", "low", "high", "p_value", "n"} <= row.keys() for row in figures)
    assert (decision["accepted"], decision["objective"], decision["labels"]) == (True, "contrastive", "pumps.jsonl")
    assert "The adapter is switched on." in notes
    assert run("train", "--off")[1] == [{"adapter": "off"}]
    assert run("train", "--on", as_json=False)[1] == [{"shown": "The adapter is on.\n"}]
    code, rows, _ = run("evaluate", str(labels), "--no-answers", "--configuration", "adapter")
    assert code == 0
    assert {row["configuration"] for row in rows} == {"named, with adapter"}


def test_pseudo_questions_are_labels_and_training_on_them_is_refused_with_figures(run: Run, labels: Path) -> None:
    code, rows, _ = run("pseudo-questions", "--count", "12")
    assert (code, len(rows)) == (0, 12)
    assert all(row["pseudo"] and row["answers"] and row["evidence"] for row in rows)
    assert {row["evidence"][0]["document"].removesuffix(".pdf").title() for row in rows} <= set(PUMPS)
    file = labels.with_name("pseudo.jsonl")
    file.write_text("\n".join(map(json.dumps, rows)))
    code, rows, notes = run("evaluate", str(file), "--no-answers")
    assert {row["pseudo_questions"] for row in rows} == {12}
    assert "12 of the questions are pseudo-questions" in notes
    code, (shown,), notes = run("train", "--objective", "inverse_cloze", "--pseudo-questions", "20", as_json=False)
    assert code == 0
    assert "pipeline" in shown["shown"]
    assert "Without labels, the metrics are of pseudo-questions" in notes
    assert "the ranking in use did not become better" in " ".join(notes.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.jsonl"], "cannot be read (No such file or directory)"),
        ([], "An adapter needs at least 10 questions"),
        (["--on"], "There is no query adapter. Train one"),
        (["--objective", "best"], "best"),
        (["--pseudo-questions", "1"], "pseudo-questions"),
    ],
)
def test_wrong_use_is_explained(run: Run, library: Path, words: list[str], message: str) -> None:
    code, rows, errors = run("train", *words)
    assert (code, rows) == (cli.WRONG_USE, [])
    assert message in " ".join(errors.split())


def test_documents_without_sentences_give_no_pseudo_questions(run: Run) -> None:
    code, rows, errors = run("pseudo-questions")
    assert (code, rows) == (cli.WRONG_USE, [])
    assert "contain no sentence" in errors


def test_interrupted_training_stores_nothing(
    run: Run, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def interrupted(name: str) -> Iterator[Callable[[int, int], None]]:
        def count(done: int, total: int) -> None:
            raise KeyboardInterrupt

        yield count

    monkeypatch.setattr(console, "counter", interrupted)
    code, rows, errors = run("train", str(labels))
    assert (code, rows) == (cli.FAILED, [])
    assert "Stopped before the end" in errors
    with opened(tmp_path / "data") as engine:
        assert engine.learning.trainings() == []
