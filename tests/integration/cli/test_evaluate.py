"""The command ``evaluate``: its output, files and errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_core.cli import app as cli
from rag_core.cli import console
from tests.support.cli import QUESTION, Run
from tests.support.engines import USUAL_SCORES, opened
from tests.support.judges import judging
from tests.support.servers import ScriptedEndpoint

ROWS = [
    {"question": QUESTION, "document": "harbour.pdf", "page_index": 0, "answers": ["1931"]},
    {"question": "Of what colour is the lighthouse of Brennick?", "document": "harbour.pdf", "page": "2"},
    {"question": "Which moons circle the planet Jupiter?", "kind": "off-corpus"},
]


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS))
    return path


def test_one_line_per_metric_with_interval(run: Run, library: Path, labels: Path) -> None:
    code, rows, errors = run("evaluate", str(labels))
    assert (code, errors) == (0, "")
    by_metric = {row["metric"]: row for row in rows}
    figure = {"metric": "recall@5", "value": 1.0, "n": 2, "low": 1.0, "high": 1.0, "configuration": "named"}
    assert by_metric["recall@5"] == figure
    assert {"mrr@10", "map", "ndcg@10", "token_f1", "contains_answer", "refused", "auroc"} <= by_metric.keys()
    assert by_metric["value_in_context@4000"] == {**figure, "metric": "value_in_context@4000"}
    assert by_metric["median_context_tokens@24000"]["value"] > 50
    advice = by_metric["advised_threshold"]
    assert (advice["n"], advice["unanswerable_answered"], advice["answerable_answered"]) == (1, 0.0, 1.0)
    assert (round(advice["unanswerable_possible"], 3), advice["unanswerable_needed"]) == (0.95, 59)


def test_two_configurations_are_compared_and_written_to_files(
    run: Run, library: Path, labels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    choices = ["--configuration", "bm25-baseline", "--configuration", "dense"]
    code, rows, _ = run("evaluate", str(labels), *choices, "--no-answers", "--out", str(out))
    assert code == 0
    assert {row["configuration"] for row in rows} == {
        *("bm25 baseline, k 1.2, b 0.75", "dense", "dense minus bm25 baseline, k 1.2, b 0.75")
    }
    difference = next(row for row in rows if row.get("metric") == "map difference")
    assert "release" in rows[-1]
    assert {"value", "n", "low", "high", "p_value"} <= difference.keys()
    assert (out / "comparison.csv").read_text("utf-8").startswith("metric,difference,low,high,p_value,n")
    assert (out / "precision-recall.svg").read_text("utf-8").startswith("<svg")
    assert not (out / "scores.svg").exists()


def test_all_methods_are_compared_in_one_table(run: Run, library: Path, labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, rows, errors = run("evaluate", str(labels), "--table", "--k", "2", "--b", "0.5", "--out", str(out))
    assert (code, errors) == (0, "")
    methods = ["tf-idf baseline", "bm25 baseline, k 2, b 0.5", *USUAL_SCORES, "rrf", "rerank", "named"]
    others = [f"{one} minus named" for one in methods[:-1]]
    assert list(dict.fromkeys(row["configuration"] for row in rows if "p_value" not in row)) == methods
    assert list(dict.fromkeys(row["configuration"] for row in rows if "p_value" in row)) == others
    assert not any(isinstance(value, (dict, list)) for row in rows for value in row.values())
    values = {(row["configuration"], row["metric"]): row["value"] for row in rows}
    for one in methods:
        assert 0 < values[one, "median_ms"] <= values[one, "p95_ms"]
        assert ((one, "exact_match") in values) == ("baseline" not in one)
        assert (f"{one} minus named", "mrr@10 difference") in values or one == "named"
    sizes = {one: values[one, "index_bytes"] for one in methods}
    assert sizes["bm25 baseline, k 2, b 0.5"] > 0
    assert sizes["rrf"] == sum(sizes[one] for one in USUAL_SCORES) < sizes["rerank"]
    assert not any("context" in metric for _, metric in values)
    metric = next(row for row in rows if row["metric"] == "mrr@10")
    assert {"value", "n", "low", "high", "configuration"} <= metric.keys()
    table = (out / "methods.csv").read_text("utf-8")
    assert table.startswith("configuration,metric,value,low,high,n,difference_from_default")
    curves = (out / "precision-recall.csv").read_text("utf-8").splitlines()
    assert len(curves) == 1 + 11 * len(methods)


def test_table_of_methods_as_text(run: Run, library: Path, labels: Path) -> None:
    code, (row,), notes = run("evaluate", str(labels), "--table", "--no-answers", as_json=False)
    assert code == 0
    assert "named (default)" in row["shown"]
    assert "mrr@10" in row["shown"]
    assert "exact match" not in row["shown"]
    assert "p < 0.05 against the default" in notes


def test_text_output_is_a_table(run: Run, library: Path, labels: Path, tmp_path: Path) -> None:
    _, (row,), notes = run("evaluate", str(labels), "--out", str(tmp_path / "out"), as_json=False)
    assert "recall@1" in row["shown"]
    assert "1.000 to 1.000" in row["shown"]
    assert "tables and charts are in" in " ".join(row["shown"].split())
    assert "The advised threshold of named: Measured on 1 question without an answer: of similar questions, up" in notes


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        (None, [], "cannot be read (No such file or directory)"),
        ("{broken", [], "labels.jsonl, line 1 is not JSON"),
        ('{"question": "q", "document": "gone.pdf", "page_index": 0}', [], "line 1: gone.pdf is not in the library"),
        ('{"question": "q", "kind": "no answer"}', ["--configuration", "best"], "best"),
        ('{"question": "q", "kind": "no answer"}', ["--most", "2"], "most"),
        (
            '{"question": "q", "kind": "no answer"}',
            [word for name in ("dense", "rrf", "bm25") for word in ("--configuration", name)],
            "at most twice",
        ),
    ],
)
def test_wrong_use_names_file_and_line(
    run: Run, labels: Path, content: str | None, words: list[str], message: str
) -> None:
    if content is None:
        labels.unlink()
    else:
        labels.write_text(content)
    code, rows, errors = run("evaluate", str(labels), *words)
    assert (code, rows) == (cli.WRONG_USE, [])
    assert message in " ".join(errors.split())


@pytest.mark.parametrize("place", ["", "deeper", "deeper/still"])
def test_unwritable_folder_is_rejected_before_the_run(
    run: Run, library: Path, labels: Path, tmp_path: Path, place: str
) -> None:
    (tmp_path / "out").write_text("in the way")
    code, rows, errors = run("evaluate", str(labels), "--out", str(tmp_path / "out" / place))
    assert (code, rows) == (cli.WRONG_USE, [])
    assert "cannot be written (Not a directory)" in " ".join(errors.split())
    with opened(tmp_path / "data") as engine:
        assert engine.evaluations.list() == []


def test_figures_are_printed_if_writing_fails(run: Run, library: Path, labels: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "figures.csv").mkdir(parents=True)
    code, rows, errors = run("evaluate", str(labels), "--no-answers", "--out", str(tmp_path / "out"))
    assert code == cli.WRONG_USE
    assert "recall@5" in {row["metric"] for row in rows}
    assert "cannot be written" in errors


def test_interrupted_run_stores_nothing(
    run: Run, library: Path, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def interrupted(name: str) -> Iterator[Callable[[int, int], None]]:
        def count(done: int, total: int) -> None:
            if done == 1:
                raise KeyboardInterrupt

        yield count

    monkeypatch.setattr(console, "counter", interrupted)
    code, rows, errors = run("evaluate", str(labels), "--out", str(tmp_path / "out"))
    assert (code, rows) == (cli.FAILED, [])
    assert "Stopped before the end" in errors
    assert not (tmp_path / "out").exists()


def test_judge_prints_agreement_cost_and_the_warning(
    run: Run, library: Path, labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = "The harbour of Brennick was dredged in 1931 by forty men [1]."
    with ScriptedEndpoint(judging(answer, questions=lambda _: "no JSON")) as endpoint:
        monkeypatch.setenv("RAG_OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "writer")
        code, rows, _ = run("evaluate", str(labels), "--judge")
        assert code == 0
        by_metric = {row["metric"]: row for row in rows}
        assert by_metric["judge_faithfulness"]["value"] == by_metric["verifier_faithfulness"]["value"] == 1.0
        kappa = by_metric["kappa, judge and verifier: statements"]
        assert (kappa["value"], kappa["agreement"], kappa["both_positive"]) == (None, 1.0, 2)
        assert by_metric["judge_answer_relevance not judged"]["value"] == 2
        calls = by_metric["judge calls"]
        assert (calls["judge"], calls["self_judged"], calls["output_tokens"]) == (
            "openai:writer",
            True,
            10 * calls["value"],
        )
        _, shown, notes = run("evaluate", str(labels), "--judge-model", "referee", as_json=False)
        assert "undefined" in shown[0]["shown"]
        assert "The judge, openai:referee, used" in notes
        assert "judge_answer_relevance 2." in notes
        assert "self-preference" not in notes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--table", "--configuration", "rrf"], "--table measures every method"),
        (["--judge", "--configuration", "bm25-baseline"], "baselines only rank pages"),
        (["--judge", "--no-answers"], "Leave out --no-answers"),
        (["--judge"], "needs a language model"),
        # Themes are refused before anything is measured.
        (["--configuration", "bm25", "--configuration", "themes"], "No themes have been built"),
    ],
)
def test_options_that_cannot_be_used_are_refused(
    run: Run, library: Path, labels: Path, words: list[str], message: str
) -> None:
    code, _, errors = run("evaluate", str(labels), *words)
    assert (code, message in " ".join(errors.split()), "bm25 " in errors) == (cli.WRONG_USE, True, False)
