"""The Evaluate page, and labels from ratings in the chat."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import backend
from rag_core.engine import Engine
from rag_core.types.conversations import Feedback
from rag_core.types.evaluation import Evaluation, LabelKind, LabelledPage
from rag_core.types.retrieval import RetrievalConfig
from tests.support.app import LENGTH, OpenPage, ask, conversation_of, settle, table, texts
from tests.support.engines import USUAL_SCORES
from tests.support.judges import judging, verdicts
from tests.support.servers import ScriptedEndpoint

CHESS = "Who won the chess match in Reykjavik in 1972?"
ROWS = [
    {"question": LENGTH, "document": "bridge.pdf", "page_index": 0, "answers": ["412 metres"]},
    {"question": "How many locks has the Lindow Canal?", "document": "canal.pdf", "page": "1", "answers": ["forty"]},
    {"question": CHESS, "kind": "off-corpus"},
]
FILE = ("labels.jsonl", "\n".join(json.dumps(row) for row in ROWS).encode(), "application/json")


def run(app: AppTest) -> AppTest:
    app.button(key="run_evaluation").click().run()
    return settle(app, lambda app: not app.button(key="run_evaluation").disabled)


def column(app: AppTest, name: str) -> dict[str, str]:
    (table,) = [element.value for element in app.dataframe if "Metric" in element.value]
    return dict(zip(table["Metric"], table[name], strict=True))


def stored_run(engine: Engine, configuration: RetrievalConfig) -> Evaluation:
    labels = engine.labels.parse_file(FILE[0], FILE[1])
    *_, last = engine.evaluations.run(labels, configuration, name="earlier")
    assert isinstance(last, Evaluation)
    return last


def test_evaluation_of_a_file_links_wrong_answers_to_the_lab(open_page: OpenPage, library: Engine) -> None:
    app = open_page("evaluate")
    assert "No evaluation has been run yet" in texts(app)
    assert app.button(key="run_evaluation").disabled
    app.file_uploader[0].upload(*FILE).run()
    assert "3 questions, 1 of them without an answer" in texts(app).replace("\\", "")
    run(app)
    assert column(app, "named")["recall@1"] == "1.000 (1.000 to 1.000)"
    assert column(app, "Questions")["refused"] == "1"
    assert "value_in_context@4000" not in column(app, "named")
    contexts = table(app, "Value in context")
    assert list(contexts["Tokens of pages, at most"]) == ["4,000", "8,000", "12,000", "24,000"]
    assert all(one.endswith(")") for one in contexts["Value in context"])
    assert "Cost of a question, up to" not in contexts.columns
    assert any("Went wrong: 1 of 3 questions" in element.value for element in app.header)
    assert "The answer does not contain the expected answer" in texts(app)
    links = [element.value for element in app.markdown if "](lab?" in element.value]
    assert [link.partition("](")[2] for link in links] == ["lab?question=How+many+locks+has+the+Lindow+Canal%3F)"]
    assert "Since the last run" not in texts(app)
    run(app)
    # The browser sends the title of the chosen evaluation, which the evaluation of the same minute must not share.
    app.run()
    assert "of 3 questions, **0 became right, 0 became wrong**, and 3 stayed as they were. No metric changed." in texts(
        app
    )
    library.preferences.set_threshold(1.0)
    run(app)
    assert "**0 became right, 1 became wrong**, and 2 stayed as they were. The differences mean nothing" in texts(app)
    changed = table(app, "Last run")
    assert tuple(changed.iloc[0])[:2] == (LENGTH, "Right")
    assert set(table(app, "What it means")["What it means"]) == {"May be chance"}


def test_value_in_context_has_the_price_of_the_connected_model(
    open_page: OpenPage, library: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = library.labels.parse_file(FILE[0], FILE[1])
    list(library.evaluations.run(labels, answers=False, with_context=True))
    for name, value in (("OPENAI_CONTEXT_TOKENS", "64000"), ("OPENAI_MODEL", "m"), ("OPENAI_BASE_URL", "http://[::1]")):
        monkeypatch.setenv(f"RAG_{name}", value)
    monkeypatch.setenv("RAG_PRICE", "0/10 USD")
    backend._create_backend.clear()
    contexts = table(open_page("evaluate"), "Value in context")
    assert list(contexts["Cost of a question, up to"]) == ["0.016 USD"] * 4


def test_two_configurations_are_compared(open_page: OpenPage, library: Engine) -> None:
    app = open_page("evaluate")
    app.file_uploader[0].upload(*FILE).run()
    options = app.multiselect(key="configurations").options
    app.multiselect(key="configurations").set_value([options[-1], options[0]]).run()
    run(app)
    columns = table(app, "Metric").columns
    assert list(columns)[1:4] == ["bm25 baseline, k 1.2, b 0.75", "named", "Second minus first"]
    assert column(app, "p")["map"] == "1.000"
    assert column(app, "p")["auroc"] == "–"


def test_all_methods_are_compared_in_one_table(open_page: OpenPage, library: Engine) -> None:
    app = open_page("evaluate")
    app.file_uploader[0].upload(*FILE).run()
    app.toggle(key="with_answers").set_value(False)
    app.toggle(key="all_methods").set_value(True).run()
    app.number_input(key="bm25_k").set_value(2.0).run()
    run(app)
    methods = table(app, "Method")
    assert list(methods["Method"]) == [
        *("tf-idf baseline", "bm25 baseline, k 2, b 0.75"),
        *(*USUAL_SCORES, "rrf", "rerank", "named (default)"),
    ]
    assert methods["recall@5"].iloc[-1] == "1.000 (1.00–1.00)"
    assert list(methods.columns[-3:]) == ["Median time", "p95", "Index"]
    assert "token F1" not in methods
    assert "differs from named" in texts(app)


def test_earlier_run_can_be_shown_compared_and_removed(open_page: OpenPage, library: Engine) -> None:
    dense, whole = stored_run(library, RetrievalConfig("dense")), stored_run(library, RetrievalConfig())
    app = open_page("evaluate")
    assert app.selectbox(key="evaluation_kept").value == whole.evaluation_id
    app.selectbox(key="compared_with_kept").set_value(dense.evaluation_id).run()
    assert column(app, "Second minus first")["map"].startswith("+0.000")
    app.button(key="remove_evaluation").click().run()
    assert [evaluation.evaluation_id for evaluation in library.evaluations.list()] == [dense.evaluation_id]
    assert not app.exception


def test_advised_threshold_can_be_applied(open_page: OpenPage, library: Engine) -> None:
    evaluation = stored_run(library, RetrievalConfig())
    advice = library.evaluations.advise_threshold(evaluation)
    assert advice is not None
    app = open_page("evaluate")
    assert app.button(key="use_threshold").label == f"Use {advice.threshold:.2f}"
    assert advice.confidence_text in texts(app)
    app.button(key="use_threshold").click().run()
    assert library.preferences.threshold == advice.threshold
    assert app.button(key="use_threshold").disabled


def test_threshold_of_an_evaluation_without_a_model_cannot_be_used_with_one(
    open_page: OpenPage, library: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored_run(library, RetrievalConfig())
    monkeypatch.setattr(type(library.models), "current", "chat:a-model")
    button = open_page("evaluate").button(key="use_threshold")
    assert button.disabled
    assert button.help.startswith("This evaluation ran without a language model, and the app now uses one.")


def test_evaluation_continues_on_other_pages_and_can_be_stopped(open_page: OpenPage, library: Engine) -> None:
    labels = library.labels.parse_file(FILE[0], FILE[1])
    library.evaluations.start([*labels] * 400, [RetrievalConfig()], name="many")
    open_page("documents")
    app = open_page("evaluate")
    assert app.button(key="run_evaluation").disabled
    assert "No evaluation has been run yet" not in texts(app)
    app.button(key="cancel_evaluation").click().run()
    settle(app, lambda app: "Stopped before the end" in texts(app))
    assert library.evaluations.list() == []


def test_themes_are_not_measured_before_they_are_built(open_page: OpenPage, library: Engine) -> None:
    options = open_page("evaluate").multiselect(key="configurations").options
    assert "As in the chat" in options
    assert not [option for option in options if "Themes" in option]


def test_invalid_labels_are_reported(open_page: OpenPage, library: Engine) -> None:
    app = open_page("evaluate")
    app.file_uploader[0].upload("l.jsonl", b"{broken", "application/json").run()
    assert "line 1 is not JSON" in app.error[0].value
    gone = json.dumps({"question": "q", "document": "gone.pdf", "page_index": 0}).encode()
    app.file_uploader[0].upload("l.jsonl", gone, "application/json").run()
    run(app)
    assert "is not in the library" in app.warning[0].value


def test_label_can_be_added_in_the_app(open_page: OpenPage, library: Engine) -> None:
    app = open_page("evaluate")
    app.segmented_control(key="labels_from").set_value("My test set").run()
    app.button(key="label_keep").click().run()
    assert "has no question" in app.error[0].value
    app.text_input(key="label_question").set_value(LENGTH)
    app.button(key="label_keep").click().run()
    assert "Give the page" in app.error[0].value
    app.selectbox(key="label_document").set_value("bridge.pdf")
    app.text_input(key="label_page").set_value("7")
    app.button(key="label_keep").click().run()
    assert "has no page printed 7" in app.error[0].value
    assert app.text_input(key="label_question").value == LENGTH
    app.text_input(key="label_page").set_value("1")
    app.text_input(key="label_answer").set_value("412 metres")
    app.selectbox(key="label_stale_document").set_value("canal.pdf")
    app.button(key="label_keep").click().run()
    assert "Give the page of each document" in app.error[0].value
    app.text_input(key="label_stale_page").set_value("7")
    app.button(key="label_keep").click().run()
    assert "canal.pdf has no page printed 7" in app.error[0].value.replace("\\", "")
    app.text_input(key="label_stale_page").set_value("1")
    app.button(key="label_keep").click().run()
    assert not app.error
    assert app.text_input(key="label_question").value == ""
    app.text_input(key="label_question").set_value(CHESS)
    app.radio(key="label_kind").set_value("No")
    app.button(key="label_keep").click().run()
    labels = [(label.question, label.kind, label.evidence, label.answers) for label in library.labels.list()]
    assert labels == [
        (
            LENGTH,
            LabelKind.ANSWERABLE,
            (LabelledPage("bridge.pdf", page="1"), LabelledPage("canal.pdf", page="1", state="stale")),
            ("412 metres",),
        ),
        (CHESS, LabelKind.NO_ANSWER, (), ()),
    ]
    assert column(run(app), "named")["recall@1"].startswith("1.000")


def test_ratings_become_labels_that_can_be_evaluated(open_page: OpenPage, library: Engine) -> None:
    app = ask(open_page(), LENGTH)
    messages = library.conversations.messages(conversation_of(app))
    answer_id = messages[-1].message_id
    app.feedback(key=f"thumb_{answer_id}").set_value(1).run()
    assert [label.evidence for label in library.labels.list()] == [(LabelledPage("bridge.pdf", 0),)]
    app.text_area(key=f"note_{answer_id}").set_value("just so").run()
    assert library.labels.rating(answer_id) == Feedback(True, "just so")
    reloaded = open_page(c=conversation_of(app))
    assert reloaded.feedback(key=f"thumb_{answer_id}").value == 1
    reloaded.feedback(key=f"thumb_{answer_id}").set_value(0).run()
    assert library.labels.list() == []
    reloaded.button(key=f"passage_{answer_id}_1_right").click().run()
    assert [label.kind for label in library.labels.list()] == [LabelKind.ANSWERABLE]
    reloaded.button(key=f"label_{answer_id}").click().run()
    assert reloaded.multiselect(key=f"label_pages_{answer_id}").value == [("bridge.pdf", 0)]
    reloaded.radio(key=f"label_kind_{answer_id}").set_value("Not stated in the documents").run()
    reloaded.button(key=f"label_save_{answer_id}").click().run()
    assert [label.kind for label in library.labels.list()] == [LabelKind.NO_ANSWER]
    reloaded.button(key=f"label_{answer_id}").click().run()
    reloaded.radio(key=f"label_kind_{answer_id}").set_value("On these pages").run()
    reloaded.button(key=f"label_save_{answer_id}").click().run()
    assert [label.evidence for label in library.labels.list()] == [(LabelledPage("bridge.pdf", 0),)]
    page = run(open_page("evaluate"))
    assert column(page, "named")["recall@5"].startswith("1.000")


def plain(text: str) -> str:
    """Return a text without the backslashes that escape Markdown."""
    return text.replace("\\", "")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set a model that answers and judges; it rejects all statements."""
    rejecting = verdicts(lambda number, prompt: False)
    with ScriptedEndpoint(judging("The Harrow Bridge is 412 metres long [1].", statements=rejecting)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "writer")
        yield


def test_model_judges_the_answers_if_asked(model: None, open_page: OpenPage, library: Engine) -> None:
    app = open_page("evaluate")
    app.file_uploader[0].upload(*FILE).run()
    app.toggle(key="with_judge").set_value(True).run()
    run(app)
    assert column(app, "named")["judge_faithfulness"].startswith("0.000")
    assert column(app, "named")["verifier_faithfulness"].startswith("1.000")
    assert "self-preference" in plain(app.warning[0].value)
    first = table(app, "Raters").iloc[0]
    assert (first["Raters"], first["Kappa"]) == ("judge and verifier: statements", "0.00")
    assert "Judge: not supported (so) · verifier: supported" in plain(texts(app))
    app.text_input(key="judge_model").set_value("referee").run()
    run(app)
    assert not any("self-preference" in plain(one.value) for one in app.warning)
    assert "The judge, openai:referee, used" in plain(texts(app))
