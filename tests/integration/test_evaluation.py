"""Labelled questions through the engine: figures, thresholds, what is kept, and the background."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import GeneratorUnavailable, LabelError, SettingsError, UnknownConversation, UnknownEvaluation
from rag_core.runtime.models import LocalModels
from rag_core.types import (
    Baseline,
    Evaluation,
    EvaluationProgress,
    Feedback,
    Label,
    LabelKind,
    LabelledPage,
    RetrievalConfig,
    Strategy,
)
from tests.support.engines import ASK_BUDGET, ASK_COPPER, ASK_PENGUINS, BUDGET, COPPER, PENGUINS, indexed, opened
from tests.support.servers import ScriptedEndpoint, complete

OTHER = "The town hall of Mirefield was painted green by volunteers."
CHESS = "Who won the chess match in Reykjavik in 1972?"
ROWS = [
    {"id": "budget", "question": ASK_BUDGET, "document": "bridge.pdf", "page_index": 1, "answers": ["42 million"]},
    {"id": "birds", "question": ASK_PENGUINS, "document": "birds.pdf", "quote": "four  thousand\npairs"},
    {"id": "mine", "question": ASK_COPPER, "document": "mine.pdf", "page": "1", "answers": ["ninety percent"]},
    {"id": "chess", "question": CHESS, "kind": "off-corpus"},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Three documents; no test that uses it may change them."""
    with opened(tmp_path_factory.mktemp("evaluating") / "data") as made:
        indexed(made, "bridge.pdf", OTHER, BUDGET)
        indexed(made, "birds.pdf", PENGUINS)
        indexed(made, "mine.pdf", COPPER)
        yield made


@pytest.fixture
def labels(library: Engine) -> list[Label]:
    return [*library.labels.parse_file("labels.jsonl", "\n".join(json.dumps(row) for row in ROWS).encode())]


@contextmanager
def measuring(folder: Path, endpoint: ScriptedEndpoint) -> Iterator[Engine]:
    """The same documents, with a model."""
    with opened(
        folder / "data", openai_base_url=endpoint.url, openai_model="m", openai_api_key="k", openai_retries=0
    ) as made:
        for name, pages in (("bridge.pdf", (OTHER, BUDGET)), ("birds.pdf", (PENGUINS,)), ("mine.pdf", (COPPER,))):
            indexed(made, name, *pages)
        yield made


def run(engine: Engine, labels: Sequence[Label], *args: RetrievalConfig | Baseline, **options: object) -> Evaluation:
    *_, last = engine.evaluations.run(labels, *args, **options)  # type: ignore[arg-type]
    assert isinstance(last, Evaluation)
    return last


def value(evaluation: Evaluation, metric: str) -> float:
    (found,) = [one for one in evaluation.figures if one.metric == metric]
    assert found.interval.low <= found.interval.value <= found.interval.high
    return found.interval.value


def test_an_evaluation_gives_figures_curves_and_an_outcome_a_question(library: Engine, labels: list[Label]) -> None:
    events = list(library.evaluations.run(labels, name="four"))
    assert [event.done for event in events if isinstance(event, EvaluationProgress)] == [0, 1, 2, 3, 4]
    found = events[-1]
    assert isinstance(found, Evaluation)
    assert (found.name, found.configuration, found.threshold) == ("four", "named", library.preferences.threshold)
    assert {one.metric: one.n for one in found.figures if one.metric in ("map", "token_f1", "refused", "auroc")} == {
        "map": 3,
        "token_f1": 2,
        "refused": 1,
        "auroc": 4,
    }
    for metric in ("recall@1", "mrr@10", "map", "ndcg@10", "answered", "contains_answer", "cited_page", "refused"):
        assert value(found, metric) == 1, metric
    assert value(found, "auroc off-corpus") == 1
    assert found.precision_recall == (1.0,) * 11
    assert [one.label_id for one in found.outcomes] == ["budget", "birds", "mine", "chess"]
    assert [one.problem for one in found.outcomes] == [""] * 4
    assert found.outcomes[0].evidence == ("bridge.pdf, page 2",)
    assert found.risk_coverage[-1].coverage == 1
    assert found.risk_coverage[-1].risk == pytest.approx(1 / 4)
    assert library.evaluations.get(found.evaluation_id) == found
    assert library.evaluations.list()[0] == found


def test_the_threshold_decides_what_is_answered_and_any_other_can_be_judged(
    library: Engine, labels: list[Label]
) -> None:
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
    assert [one.problem for one in advised.outcomes] == [""] * 4


def test_configurations_and_baselines_are_compared_on_the_same_questions(library: Engine, labels: list[Label]) -> None:
    first = run(library, labels, Baseline("tf-idf"))
    assert {one.metric for one in first.figures} >= {"recall@1", "map"}
    assert not {one.metric for one in first.figures} & {"answered", "refused", "auroc"}
    assert (first.risk_coverage, first.configuration) == ((), "tf-idf baseline")
    assert value(first, "mrr@10") == value(run(library, labels, Baseline("bm25")), "mrr@10") == 1
    second = run(library, labels[:2], RetrievalConfig("dense"))
    compared = {one.metric: one for one in library.evaluations.compare(first, second)}
    assert (compared["map"].n, compared["map"].difference.value, compared["map"].p_value) == (2, 0, 1)
    assert "answered" not in compared


def test_other_questions_of_the_same_ids_are_not_compared(library: Engine) -> None:
    files = [
        library.labels.parse_file("l.jsonl", json.dumps({"id": 1, "question": question, "kind": "no answer"}).encode())
        for question in (CHESS, ASK_BUDGET)
    ]
    first, other = (run(library, labels) for labels in files)
    assert library.evaluations.compare(first, other) == ()
    assert [one.n for one in library.evaluations.compare(first, first)] == [1, 1]


def test_rankings_alone_can_be_judged(library: Engine, labels: list[Label]) -> None:
    found = run(library, labels, answers=False)
    assert "map" in {one.metric for one in found.figures}
    assert "answered" not in {one.metric for one in found.figures}
    wrong = Label("w", ASK_BUDGET, LabelKind.ANSWERABLE, (LabelledPage("birds.pdf", 0),), ("forty",))
    outcome = run(library, [wrong]).outcomes[0]
    assert (outcome.problem, outcome.wrong) == ("The answer does not contain the expected answer.", True)
    unexpected = Label("w", ASK_BUDGET, LabelKind.ANSWERABLE, (LabelledPage("birds.pdf", 0),))
    assert run(library, [unexpected]).outcomes[0].problem == "The answer cites no page with the expected answer."


def test_rankings_are_judged_without_reading_passages_with_their_questions(
    library: Engine, labels: list[Label], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(library, labels)

    def unwanted(models: LocalModels) -> None:
        raise AssertionError("the slowest part of a search, which no ranking rests on")

    monkeypatch.setattr(LocalModels, "answerability", unwanted)
    alone = run(library, labels, answers=False)
    assert alone.precision_recall == whole.precision_recall
    for before, after in zip(whole.outcomes, alone.outcomes, strict=True):
        assert after.values.items() <= before.values.items()


def test_labels_that_do_not_fit_the_library_are_told_together(library: Engine) -> None:
    rows = [
        {"question": "a", "document": "gone.pdf", "page_index": 0},
        {"question": "b", "document": "bridge.pdf", "page_index": 2},
        {"question": "c", "document": "bridge.pdf", "page": "iv"},
        {"question": "d", "document": "bridge.pdf", "quote": "words that stand nowhere"},
    ]
    labels = library.labels.parse_file("l.jsonl", "\n".join(json.dumps(row) for row in rows).encode())
    with pytest.raises(LabelError) as told:
        list(library.evaluations.run(labels))
    for says in (
        "l.jsonl, line 1: gone.pdf is not in the library",
        "l.jsonl, line 2: bridge.pdf has no page with page_index 2",
        "l.jsonl, line 3: bridge.pdf has no page printed iv",
        "l.jsonl, line 4: bridge.pdf has no page that contains “words that stand nowhere”",
    ):
        assert says in str(told.value)
    with pytest.raises(LabelError, match="2 more labels have problems"):
        list(library.evaluations.run([*labels, *labels[1:]]))
    with pytest.raises(LabelError, match="no labelled questions"):
        list(library.evaluations.run([]))


def test_a_question_that_cannot_be_asked_is_told_before_any_is(library: Engine) -> None:
    rows = [{"question": words, "kind": "no answer"} for words in (CHESS, "x " * 5000)]
    endless = library.labels.parse_file("l.jsonl", "\n".join(json.dumps(row) for row in rows).encode())
    for configuration in (RetrievalConfig(), Baseline("bm25")):
        with pytest.raises(LabelError, match=r"l\.jsonl, line 2: The question has 9999 characters"):
            next(library.evaluations.run(endless, configuration))


def test_an_evaluation_that_is_left_keeps_nothing(library: Engine, labels: list[Label]) -> None:
    before = library.evaluations.list()
    with closing(library.evaluations.run(labels)) as events:  # type: ignore[type-var]
        next(events)
        next(events)
    assert library.evaluations.list() == before


def test_an_evaluation_can_be_removed(library: Engine, labels: list[Label]) -> None:
    found = run(library, labels[3:])
    library.evaluations.remove(found.evaluation_id)
    with pytest.raises(UnknownEvaluation):
        library.evaluations.get(found.evaluation_id)


def ended(engine: Engine) -> None:
    deadline = time.monotonic() + 60
    while (state := engine.evaluations.state()) is None or state.running:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_background_runs_one_evaluation_at_a_time_and_tells_how_it_ended(
    library: Engine, labels: list[Label]
) -> None:
    begun = library.evaluations.start(labels, [RetrievalConfig(), RetrievalConfig("bm25")], name="both")
    assert (begun.total, begun.running) == (8, True)
    assert library.evaluations.start(labels[:1], [RetrievalConfig()], name="other").name == "both"
    ended(library)
    state = library.evaluations.state()
    assert state is not None
    assert (state.done, state.problem) == (8, "")
    both = [library.evaluations.get(one).configuration for one in state.evaluation_ids]
    assert both == ["named", "bm25"]
    library.evaluations.start([], [RetrievalConfig()])
    ended(library)
    assert "no labelled questions" in library.evaluations.state().problem  # type: ignore[union-attr]
    before = len(library.evaluations.list())
    library.evaluations.start(labels * 200, [RetrievalConfig()])
    library.evaluations.cancel()
    ended(library)
    state = library.evaluations.state()
    assert state is not None
    assert (state.problem, state.evaluation_ids) == ("Stopped before the end.", ())
    assert len(library.evaluations.list()) == before


def test_closing_the_engine_ends_the_background(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        many = [Label(str(number), ASK_BUDGET, LabelKind.NO_ANSWER) for number in range(2000)]
        engine.evaluations.start(many, [RetrievalConfig()])
    state = engine.evaluations.state()
    assert state is not None
    assert not state.running
    with opened(tmp_path / "data") as engine:
        assert engine.evaluations.list() == []


def test_a_report_holds_tables_and_charts(library: Engine, labels: list[Label], tmp_path: Path) -> None:
    both = [run(library, labels, RetrievalConfig("dense")), run(library, labels)]
    written = library.evaluations.write_report(both, tmp_path / "out" / "deep")
    names = {one.name for one in written}
    assert names == {
        *("figures.csv", "questions.csv", "precision-recall.csv", "risk-coverage.csv", "comparison.csv"),
        *("figures.svg", "precision-recall.svg", "risk-coverage.svg", "scores.svg"),
    }
    assert "dense,recall@1,1.0" in (tmp_path / "out/deep/figures.csv").read_text("utf-8")
    for one in written:
        text = one.read_text("utf-8")
        assert text.startswith("<svg") if one.suffix == ".svg" else text.count("\n") > 3
    assert library.evaluations.plots(both).keys() == {"figures", "precision-recall", "risk-coverage", "scores"}
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SettingsError, match="file cannot be written"):
        library.evaluations.write_report(both, tmp_path / "file")


def test_charts_keep_two_runs_of_one_configuration_apart(library: Engine, labels: list[Label]) -> None:
    both = [run(library, labels), run(library, labels)]
    for name, spec in library.evaluations.plots(both).items():
        if name != "scores":
            assert {row["configuration"] for row in spec["data"]["values"]} == {"named (first)", "named (second)"}
    alone = library.evaluations.plots(both[:1])["figures"]
    assert {row["configuration"] for row in alone["data"]["values"]} == {"named"}


def test_tables_keep_two_runs_of_one_configuration_apart(library: Engine, labels: list[Label], tmp_path: Path) -> None:
    library.evaluations.write_report([run(library, labels), run(library, labels)], tmp_path)
    rows = (tmp_path / "questions.csv").read_text("utf-8").split("\n")
    assert {row.partition(",")[0] for row in rows[1:] if row} == {"named (first)", "named (second)"}


def test_labels_are_kept_and_removed(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    kept = engine.labels.add(ASK_BUDGET, evidence=[LabelledPage("bridge.pdf", 0)], answers=["42 million euros"])
    refused = engine.labels.add(CHESS, kind=LabelKind.NO_ANSWER)
    assert engine.labels.list() == [kept, refused]
    assert value(run(engine, engine.labels.list()), "contains_answer") == 1
    for label in engine.labels.list():
        engine.labels.remove(label.label_id)
    assert engine.labels.list() == []


def test_a_label_that_cannot_be_used_is_refused(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    for question, evidence, answers, told in (
        (" ", [], ["42"], "no question"),
        (ASK_BUDGET, [], [], "Give the page"),
        (ASK_BUDGET, [LabelledPage("bridge.pdf")], [], "Give the page of the document"),
        (ASK_BUDGET, [LabelledPage("bridge.pdf", 5)], [], "has no page with page_index 5"),
        (ASK_BUDGET, [LabelledPage("gone.pdf", 0)], [], "gone.pdf is not in the library"),
    ):
        with pytest.raises(LabelError, match=told):
            engine.labels.add(question, evidence=evidence, answers=answers)
    assert engine.labels.list() == []


def answered(engine: Engine, question: str) -> tuple[str, str]:
    """A conversation with a question and its answer: the ids of conversation and message."""
    conversation_id = engine.conversations.create().conversation_id
    engine.conversations.add_message(conversation_id, "user", question)
    answer = engine.answer(question)
    return conversation_id, engine.conversations.add_message(
        conversation_id, "assistant", answer.text, answer
    ).message_id


def test_a_good_answer_becomes_a_label_and_a_bad_one_takes_it_back(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", OTHER, BUDGET)
    _, message_id = answered(engine, ASK_BUDGET)
    engine.labels.rate_answer(message_id, True)
    (label,) = engine.labels.list()
    assert (label.question, label.kind, label.evidence) == (
        ASK_BUDGET,
        LabelKind.ANSWERABLE,
        (LabelledPage("bridge.pdf", 1),),
    )
    engine.labels.rate_answer(message_id, False, "wrong year")
    assert engine.labels.list() == []
    assert engine.labels.rating(message_id) == Feedback(False, "wrong year")
    _, refusal = answered(engine, CHESS)
    engine.labels.rate_answer(refusal, True)
    assert [one.kind for one in engine.labels.list()] == [LabelKind.NO_ANSWER]
    engine.labels.withdraw_rating(refusal)
    assert (engine.labels.list(), engine.labels.rating(refusal)) == ([], None)


def test_a_right_passage_adds_its_page_to_the_label(engine: Engine) -> None:
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


def test_feedback_goes_with_its_conversation(engine: Engine) -> None:
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


def test_a_strategy_is_measured_like_any_configuration(tmp_path: Path, labels: list[Label]) -> None:
    answered = [one for one in labels if one.label_id == "budget"]
    script = [complete("money for the bridge"), complete("42 million euros [1].")]
    with ScriptedEndpoint(*script) as endpoint, measuring(tmp_path, endpoint) as engine:
        found = run(engine, answered, RetrievalConfig(strategy="queries"))
        assert found.configuration == "named, strategy queries"
        assert (value(found, "recall@1"), value(found, "contains_answer")) == (1.0, 1.0)
        assert len(endpoint.requests) == 2


@pytest.mark.parametrize("strategy", ["queries", "iterative"])
def test_no_plain_search_is_measured_in_the_place_of_a_strategy(
    tmp_path: Path, labels: list[Label], strategy: Strategy
) -> None:
    with (
        ScriptedEndpoint(lambda exchange: exchange.error(500)) as endpoint,
        measuring(tmp_path, endpoint) as engine,
        pytest.raises(GeneratorUnavailable, match="HTTP 500"),
    ):
        run(engine, labels, RetrievalConfig(strategy=strategy))


def test_no_quotes_are_measured_in_the_place_of_the_models_answers(tmp_path: Path, labels: list[Label]) -> None:
    script = [complete("42 million euros [1]."), lambda exchange: exchange.error(500)]
    with ScriptedEndpoint(*script) as endpoint, measuring(tmp_path, endpoint) as engine:
        with pytest.raises(GeneratorUnavailable, match="HTTP 500"):
            run(engine, labels)
        assert engine.evaluations.list() == []
        assert "recall@1" in {one.metric for one in run(engine, labels, answers=False).figures}


def test_a_strategy_without_a_model_cannot_be_measured(library: Engine, labels: list[Label]) -> None:
    with pytest.raises(SettingsError, match="RAG_OPENAI_MODEL"):
        run(library, labels, RetrievalConfig(strategy="hyde"))
