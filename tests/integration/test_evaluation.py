"""Evaluation of labelled questions: figures, thresholds, stored results, labels and background runs."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import GeneratorUnavailable, LabelError, SettingsError, UnknownConversation
from rag_core.runtime.models import LocalModels
from rag_core.types.conversations import Feedback
from rag_core.types.evaluation import Baseline, Evaluation, EvaluationProgress, Label, LabelKind, LabelledPage
from rag_core.types.jobs import RunState
from rag_core.types.retrieval import RetrievalConfig
from tests.support.engines import (
    ASK_BUDGET,
    ASK_COPPER,
    ASK_PENGUINS,
    BUDGET,
    LIBRARY,
    indexed,
    open_library,
    opened,
    raising,
    scripted_engine,
)
from tests.support.servers import Exchange, Play, ScriptedEndpoint, complete

OTHER = "The town hall of Mirefield was painted green by volunteers."
CHESS = "Who won the chess match in Reykjavik in 1972?"
DOCUMENTS = LIBRARY | {"bridge.pdf": [OTHER, BUDGET]}
ROWS = [
    {"id": "budget", "question": ASK_BUDGET, "document": "bridge.pdf", "page_index": 1, "answers": ["42 million"]},
    {"id": "birds", "question": ASK_PENGUINS, "document": "birds.pdf", "quote": "four  thousand\npairs"},
    {"id": "mine", "question": ASK_COPPER, "document": "mine.pdf", "page": "1", "answers": ["ninety percent"]},
    {"id": "chess", "question": CHESS, "kind": "off-corpus"},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Three documents; tests must not change them."""
    with open_library(tmp_path_factory.mktemp("evaluating") / "data", DOCUMENTS) as engine:
        yield engine


@pytest.fixture
def labels(library: Engine) -> list[Label]:
    return parsed(library, *ROWS)


def parsed(engine: Engine, *rows: dict[str, object]) -> list[Label]:
    """Parse a file of labels."""
    return [*engine.labels.parse_file("l.jsonl", "\n".join(json.dumps(row) for row in rows).encode())]


@contextmanager
def library_with_model(folder: Path, *script: Play) -> Iterator[tuple[Engine, ScriptedEndpoint]]:
    with ScriptedEndpoint(*script) as endpoint:
        model = {"openai_base_url": endpoint.url, "openai_model": "m", "openai_api_key": "k", "openai_retries": 0}
        with open_library(folder / "data", DOCUMENTS, **model) as engine:
            yield engine, endpoint


def run(engine: Engine, labels: Sequence[Label], *args: RetrievalConfig | Baseline, **options: object) -> Evaluation:
    *_, last = engine.evaluations.run(labels, *args, **options)  # type: ignore[arg-type]
    assert isinstance(last, Evaluation)
    return last


def value(evaluation: Evaluation, metric: str) -> float:
    (figure,) = [figure for figure in evaluation.figures if figure.metric == metric]
    assert figure.interval.low <= figure.interval.value <= figure.interval.high
    return figure.interval.value


def metrics(evaluation: Evaluation) -> set[str]:
    return {figure.metric for figure in evaluation.figures}


def test_evaluation_has_figures_curves_and_outcomes(library: Engine, labels: list[Label]) -> None:
    events = list(library.evaluations.run(labels, name="four"))
    assert [event.done for event in events if isinstance(event, EvaluationProgress)] == [0, 1, 2, 3, 4]
    evaluation = events[-1]
    assert isinstance(evaluation, Evaluation)
    assert (evaluation.name, evaluation.configuration, evaluation.threshold) == (
        "four",
        "named",
        library.preferences.threshold,
    )
    counts = {figure.metric: figure.n for figure in evaluation.figures}
    assert counts.items() >= {"map": 3, "token_f1": 2, "refused": 1, "auroc": 4}.items()
    for metric in ("recall@1", "mrr@10", "map", "ndcg@10", "answered", "contains_answer", "refused"):
        assert value(evaluation, metric) == 1, metric
    # Without a model, an answer quotes excerpts from different places, of which one is on the right page.
    assert 0 < value(evaluation, "cited_page") < 1
    assert value(evaluation, "auroc off-corpus") == 1
    assert evaluation.precision_recall == (1.0,) * 11
    assert [outcome.label_id for outcome in evaluation.outcomes] == ["budget", "birds", "mine", "chess"]
    assert [outcome.problem for outcome in evaluation.outcomes] == [""] * 4
    assert evaluation.outcomes[0].evidence == ("bridge.pdf, page 2",)
    assert evaluation.risk_coverage[-1].coverage == 1
    assert evaluation.risk_coverage[-1].risk == pytest.approx(1 / 4)
    assert library.evaluations.list()[0] == evaluation


@pytest.mark.parametrize("answers", [True, False])
def test_value_in_context_is_measured_on_demand_without_a_model(
    library: Engine, labels: list[Label], answers: bool
) -> None:
    evaluation = run(library, labels, answers=answers, with_context=True)
    found = library.evaluations.summarize_context(evaluation)
    assert [one.budget for one in found] == [4000, 8000, 12_000, 24_000]
    for one in found:
        assert one.share.metric == f"value_in_context@{one.budget}"
        assert (one.share.n, value(evaluation, one.share.metric)) == (3, 1)
        assert 50 < one.median_tokens < 500
    missing = parsed(library, {**ROWS[0], "answers": ["43 million"]})
    wrong = run(library, missing, answers=answers, with_context=True)
    assert value(wrong, "value_in_context@24000") == 0
    plain = run(library, labels, answers=answers)
    assert library.evaluations.summarize_context(plain) == ()
    assert metrics(evaluation) - metrics(plain) == {one.share.metric for one in found}
    assert library.evaluations.summarize_context(run(library, labels, Baseline("bm25"), with_context=True)) == ()


OLD_TERMS = "Warranty terms. The warranty of the Brook pump is 12 months. Brook pump warranty claims need the receipt."
NEW_TERMS = (
    "Service notice for customers. From March, the Brook pump has cover against defects for 36 months, not longer."
)
ASK_WARRANTY = "How long is the warranty of the Brook pump?"


def test_stale_page_that_outweighs_the_right_one_is_named(tmp_path: Path) -> None:
    row = {
        "id": "warranty",
        "question": ASK_WARRANTY,
        "answers": ["36 months"],
        "evidence": [
            {"document": "new.pdf", "page_index": 0},
            {"document": "old.pdf", "page_index": 0, "state": "stale"},
        ],
    }
    with open_library(tmp_path / "data", {"old.pdf": [OLD_TERMS], "new.pdf": [NEW_TERMS]}):
        pass
    with scripted_engine(tmp_path / "data", complete("The warranty of the Brook pump is 12 months.")) as (engine, _):
        evaluation = run(engine, parsed(engine, row))
        (outcome,) = evaluation.outcomes
        assert outcome.evidence == ("new.pdf, page 1",)
        assert outcome.problem.startswith("Covered but wrong: a stale chunk outweighs it (old.pdf, page 1: ")
        values = {name: outcome.values[name] for name in ("coverage", "correct", "covered_but_wrong")}
        assert values == {"coverage": 1.0, "correct": 0.0, "covered_but_wrong": 1.0}
        # The answer is wrong, but its source supports it.
        assert (outcome.values["source_support"], outcome.values["stale_outweighs"]) == (1.0, 1.0)
        assert 0 < outcome.values["evidence_mass"] < 0.5
        assert 0 <= outcome.values["answer_probability"] < 0.5
        # Without the stale document, the same label is answered rightly. A label of a removed page is an error.
        engine.documents.delete(engine.documents.find_ids(["old.pdf"]))
        with pytest.raises(LabelError, match=r"old\.pdf is not in the library"):
            run(engine, parsed(engine, row))
        row["evidence"] = row["evidence"][:1]
        (outcome,) = run(engine, parsed(engine, row)).outcomes
        assert outcome.values["evidence_mass"] == pytest.approx(1.0)
        assert "stale_outweighs" not in outcome.values


def test_any_threshold_can_be_judged_from_one_run(library: Engine, labels: list[Label]) -> None:
    never = run(library, labels, RetrievalConfig(threshold=1.0))
    assert (value(never, "answered"), value(never, "refused")) == (0, 1)
    assert never.outcomes[0].problem.startswith("Refused, but the documents contain the answer")
    assert not never.outcomes[0].text
    always = run(library, labels, RetrievalConfig(threshold=0.0))
    assert value(always, "refused") == 0
    assert always.outcomes[3].problem == "Answered, but the documents do not contain the answer."
    assert never.risk_coverage == always.risk_coverage
    advice = library.evaluations.advise_threshold(never)
    assert advice == library.evaluations.advise_threshold(always)
    assert advice is not None
    assert (advice.unanswerable_answered, advice.answerable_answered) == (0, 1)
    advised = run(library, labels, RetrievalConfig(threshold=advice.threshold))
    assert [outcome.problem for outcome in advised.outcomes] == [""] * 4


def test_comparison_uses_the_common_questions(library: Engine, labels: list[Label]) -> None:
    first = run(library, labels, Baseline("tf-idf"))
    assert metrics(first) >= {"recall@1", "map"}
    assert not metrics(first) & {"answered", "refused", "auroc"}
    assert (first.risk_coverage, first.configuration) == ((), "tf-idf baseline")
    assert value(first, "mrr@10") == value(run(library, labels, Baseline("bm25")), "mrr@10") == 1
    second = run(library, labels[:2], RetrievalConfig("dense"))
    compared = {comparison.metric: comparison for comparison in library.evaluations.compare(first, second)}
    assert (compared["map"].n, compared["map"].difference.value, compared["map"].p_value) == (2, 0, 1)
    assert "answered" not in compared


def test_different_questions_with_equal_ids_are_not_compared(library: Engine) -> None:
    rows = [{"id": 1, "question": question, "kind": "no answer"} for question in (CHESS, ASK_BUDGET)]
    first, other = (run(library, parsed(library, row)) for row in rows)
    assert library.evaluations.compare(first, other) == ()
    assert [comparison.n for comparison in library.evaluations.compare(first, first)] == [1, 1]


def test_ranking_alone_loads_no_reading_model_and_has_no_figures_of_answers(
    library: Engine, labels: list[Label], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_answers = {"answered", "coverage", "evidence_mass", "correct", "source_support", "answer_probability"}
    whole = run(library, labels)
    assert metrics(whole) >= of_answers
    assert value(whole, "coverage") == value(whole, "correct") == value(whole, "source_support") == 1
    monkeypatch.setattr(LocalModels, "answerability_model", raising(AssertionError("rankings do not need this model")))
    alone = run(library, labels, answers=False)
    assert "map" in metrics(alone)
    assert metrics(alone).isdisjoint(of_answers)
    assert alone.precision_recall == whole.precision_recall
    for before, after in zip(whole.outcomes, alone.outcomes, strict=True):
        assert after.values.items() <= before.values.items()


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (("forty",), "The answer does not contain the expected answer."),
        ((), "The answer cites no page with the expected answer."),
    ],
)
def test_wrong_answer_is_a_problem(tmp_path: Path, answers: tuple[str, ...], problem: str) -> None:
    unexpected = Label("w", ASK_BUDGET, LabelKind.ANSWERABLE, (LabelledPage("birds.pdf", 0),), answers)
    with library_with_model(tmp_path, complete(f"{BUDGET} [1]")) as (engine, _):
        outcome = run(engine, [unexpected]).outcomes[0]
    assert (outcome.problem, outcome.wrong) == (problem, True)


def test_invalid_labels_are_reported_together(library: Engine) -> None:
    rows = [
        {"question": "a", "document": "gone.pdf", "page_index": 0},
        {"question": "b", "document": "bridge.pdf", "page_index": 2},
        {"question": "c", "document": "bridge.pdf", "page": "iv"},
        {"question": "d", "document": "bridge.pdf", "quote": "words that stand nowhere"},
    ]
    labels = parsed(library, *rows)
    with pytest.raises(LabelError) as error:
        list(library.evaluations.run(labels))
    for message in (
        "l.jsonl, line 1: gone.pdf is not in the library",
        "l.jsonl, line 2: bridge.pdf has no page with page_index 2",
        "l.jsonl, line 3: bridge.pdf has no page printed iv",
        "l.jsonl, line 4: bridge.pdf has no page that contains “words that stand nowhere”",
    ):
        assert message in str(error.value)
    with pytest.raises(LabelError, match="2 more labels have problems"):
        list(library.evaluations.run([*labels, *labels[1:]]))
    with pytest.raises(LabelError, match="no labelled questions"):
        list(library.evaluations.run([]))


def test_invalid_question_is_reported_before_the_run(library: Engine) -> None:
    labels = parsed(library, *({"question": text, "kind": "no answer"} for text in (CHESS, "x " * 5000)))
    for configuration in (RetrievalConfig(), Baseline("bm25")):
        with pytest.raises(LabelError, match=r"l\.jsonl, line 2: The question has 9,999 characters"):
            next(library.evaluations.run(labels, configuration))


def test_closed_or_removed_run_is_not_stored(library: Engine, labels: list[Label]) -> None:
    before = library.evaluations.list()
    with closing(library.evaluations.run(labels)) as events:  # type: ignore[type-var]
        next(events)
        next(events)
    assert library.evaluations.list() == before
    evaluation = run(library, labels[3:])
    library.evaluations.remove(evaluation.evaluation_id)
    assert library.evaluations.list() == before


def final_state(engine: Engine) -> RunState:
    """Wait for the background run to end."""
    deadline = time.monotonic() + 60
    while (state := engine.evaluations.state()) is None or state.running:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return state


def test_background_runs_one_evaluation_at_a_time(library: Engine, labels: list[Label]) -> None:
    started = library.evaluations.start(labels, [RetrievalConfig(), RetrievalConfig("bm25")], name="both")
    assert (started.total, started.running) == (8, True)
    assert (
        library.evaluations.start(labels[:1], [RetrievalConfig()], name="other").stage == "Asking the questions of both"
    )
    state = final_state(library)
    assert (state.done, state.problem) == (8, "")
    stored = {one.evaluation_id: one.configuration for one in library.evaluations.list()}
    configurations = [stored[key] for key in state.evaluation_ids]
    assert configurations == ["named", "bm25"]
    library.evaluations.start([], [RetrievalConfig()])
    assert "no labelled questions" in final_state(library).problem
    before = len(library.evaluations.list())
    library.evaluations.start(labels * 200, [RetrievalConfig()])
    library.evaluations.cancel()
    state = final_state(library)
    assert (state.problem, state.evaluation_ids) == ("Stopped before the end.", ())
    assert len(library.evaluations.list()) == before


def test_closing_the_engine_stops_the_background_run(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        many = [Label(str(number), ASK_BUDGET, LabelKind.NO_ANSWER) for number in range(2000)]
        engine.evaluations.start(many, [RetrievalConfig()])
    state = engine.evaluations.state()
    assert state is not None
    assert not state.running
    with opened(tmp_path / "data") as engine:
        assert engine.evaluations.list() == []


def test_report_has_tables_and_charts(library: Engine, labels: list[Label], tmp_path: Path) -> None:
    both = [run(library, labels, RetrievalConfig("dense")), run(library, labels)]
    written = library.evaluations.write_report(both, tmp_path / "out" / "deep")
    names = {path.name for path in written}
    assert names == {
        *("figures.csv", "questions.csv", "precision-recall.csv", "risk-coverage.csv", "comparison.csv"),
        *("figures.svg", "precision-recall.svg", "risk-coverage.svg", "scores.svg"),
    }
    assert "dense,recall@1,1.0" in (tmp_path / "out/deep/figures.csv").read_text("utf-8")
    for path in written:
        text = path.read_text("utf-8")
        assert text.startswith("<svg") if path.suffix == ".svg" else text.count("\n") > 3
    assert library.evaluations.plots(both).keys() == {"figures", "precision-recall", "risk-coverage", "scores"}
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SettingsError, match="file cannot be written"):
        library.evaluations.write_report(both, tmp_path / "file")


def test_two_runs_of_one_configuration_have_different_names(
    library: Engine, labels: list[Label], tmp_path: Path
) -> None:
    both = [run(library, labels), run(library, labels)]
    for name, spec in library.evaluations.plots(both).items():
        if name != "scores":
            assert {row["configuration"] for row in spec["data"]["values"]} == {"named (first)", "named (second)"}
    alone = library.evaluations.plots(both[:1])["figures"]
    assert {row["configuration"] for row in alone["data"]["values"]} == {"named"}
    library.evaluations.write_report(both, tmp_path)
    with (tmp_path / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert {row[0] for row in rows[1:]} == {"named (first)", "named (second)"}


def test_labels_are_checked_stored_and_removed(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    answerable = engine.labels.add(ASK_BUDGET, evidence=[LabelledPage("bridge.pdf", 0)], answers=["42 million euros"])
    refused = engine.labels.add(CHESS, kind=LabelKind.NO_ANSWER)
    assert engine.labels.list() == [answerable, refused]
    assert value(run(engine, engine.labels.list()), "contains_answer") == 1
    for label in engine.labels.list():
        engine.labels.remove(label.label_id)
    for question, evidence, answers, message in (
        (" ", [], ["42"], "no question"),
        (ASK_BUDGET, [], [], "Give the page"),
        (ASK_BUDGET, [LabelledPage("bridge.pdf")], [], "Give the page of each document"),
        (ASK_BUDGET, [LabelledPage("bridge.pdf", 5)], [], "has no page with page_index 5"),
        (ASK_BUDGET, [LabelledPage("gone.pdf", 0)], [], "gone.pdf is not in the library"),
    ):
        with pytest.raises(LabelError, match=message):
            engine.labels.add(question, evidence=evidence, answers=answers)
    assert engine.labels.list() == []


def answered(engine: Engine, question: str) -> tuple[str, str]:
    """Answer a question in a new conversation; return the ids of conversation and answer."""
    conversation_id = engine.conversations.create().conversation_id
    engine.conversations.add_message(conversation_id, "user", question)
    answer = engine.answer(question)
    message = engine.conversations.add_message(conversation_id, "assistant", answer.text, answer)
    return conversation_id, message.message_id


def test_rating_adds_and_removes_a_label(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", OTHER, BUDGET)
    _, message_id = answered(engine, ASK_BUDGET)
    engine.labels.rate_answer(message_id, True)
    (label,) = engine.labels.list()
    assert (label.question, label.kind) == (ASK_BUDGET, LabelKind.ANSWERABLE)
    assert label.evidence == (LabelledPage("bridge.pdf", 1),)
    engine.labels.rate_answer(message_id, False, "wrong year")
    assert engine.labels.list() == []
    assert engine.labels.rating(message_id) == Feedback(False, "wrong year")
    _, refusal = answered(engine, CHESS)
    engine.labels.rate_answer(refusal, True)
    assert [label.kind for label in engine.labels.list()] == [LabelKind.NO_ANSWER]
    engine.labels.withdraw_rating(refusal)
    assert (engine.labels.list(), engine.labels.rating(refusal)) == ([], None)


def test_confirmed_passage_adds_its_page_to_the_label(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", OTHER, BUDGET)
    _, message_id = answered(engine, ASK_BUDGET)
    engine.labels.confirm_passage(message_id, 2)
    engine.labels.confirm_passage(message_id, 1)
    engine.labels.rate_answer(message_id, True)
    (label,) = engine.labels.list()
    assert label.evidence == (LabelledPage("bridge.pdf", 0), LabelledPage("bridge.pdf", 1))
    with pytest.raises(LabelError, match="no passage 9"):
        engine.labels.confirm_passage(message_id, 9)
    engine.labels.remove(label.label_id)


def test_feedback_is_deleted_with_its_conversation(engine: Engine) -> None:
    conversation_id, message_id = answered(engine, CHESS)
    engine.labels.rate_answer(message_id, False)
    engine.conversations.delete(conversation_id)
    assert engine.labels.rating(message_id) is None
    with pytest.raises(UnknownConversation):
        engine.labels.rate_answer(message_id, True)
    other = engine.conversations.create().conversation_id
    question = engine.conversations.add_message(other, "user", CHESS)
    with pytest.raises(LabelError, match="Only answers"):
        engine.labels.rate_answer(question.message_id, True)


def test_strategy_is_measured_like_any_configuration(tmp_path: Path, library: Engine, labels: list[Label]) -> None:
    script = [complete("money for the bridge"), complete("42 million euros [1].")]
    with library_with_model(tmp_path, *script) as (engine, endpoint):
        evaluation = run(engine, labels[:1], RetrievalConfig(strategy="queries"))
        assert evaluation.configuration == "named, strategy queries"
        assert (value(evaluation, "recall@1"), value(evaluation, "contains_answer")) == (1.0, 1.0)
        assert len(endpoint.requests) == 2
    with pytest.raises(SettingsError, match="RAG_OPENAI_MODEL"):
        run(library, labels, RetrievalConfig(strategy="hyde"))


def fail(exchange: Exchange) -> None:
    exchange.error(500)


@pytest.mark.parametrize(
    ("script", "strategy"), [([fail], "queries"), ([fail], "iterative"), ([complete("42 million [1]."), fail], "plain")]
)
def test_run_with_answers_fails_if_the_model_fails(
    tmp_path: Path, labels: list[Label], script: list[Play], strategy: str
) -> None:
    with library_with_model(tmp_path, *script) as (engine, _):
        with pytest.raises(GeneratorUnavailable, match="HTTP 500"):
            run(engine, labels, RetrievalConfig(strategy=strategy))
        assert engine.evaluations.list() == []
        assert "recall@1" in metrics(run(engine, labels, answers=False))
