"""The Lab page: the search for one question in detail."""

from __future__ import annotations

from datetime import date

import pytest
from streamlit.testing.v1 import AppTest

from pages.lab.marks import COLOURS, OTHERS, to_letters
from pages.lab.token_chart import build_token_table
from pages.lab.verdicts import describe_case, format_percent
from pages.lab.weighing import NOT_HERE, replace_dates
from pages.lab.words import Word, group_matches_by_word, split_into_segments
from pages.shared import keys
from rag_core.engine import Engine
from rag_core.types.evaluation import LabelledPage
from rag_core.types.explanations import EvidenceCase, EvidenceMass, TokenMatch, TokenMatches, WeightingConfig
from rag_core.types.marginalization import GeneratedToken, MarginalAnswer
from tests.support.app import BRIDGE, LENGTH, OpenPage, add, metric, plain_text, shown, texts
from tests.support.colours import CONFIG, GRAPHIC, TEXT, contrast
from tests.support.engines import USUAL_SCORES
from tests.support.pdfs import make_pdf

MATCHES = "footnote_matches"


def stages(app: AppTest) -> list[dict]:
    items = shown(app, "footnote_stages")
    return items[0]["stages"] if items else []


def open_passage(app: AppTest, letter: str) -> AppTest:
    """Open the passage with a letter."""
    chunk_id = next(row["id"] for stage in stages(app) for row in stage["rows"] if row["letter"] == letter)
    app.session_state[keys.LAB_OPEN] = chunk_id
    app.run()
    assert not app.exception, app.exception
    return app


def choose(app: AppTest, letter: str) -> AppTest:
    """Choose the right passage; an empty letter means that none is right."""
    rows = (row for stage in stages(app) for row in stage["rows"])
    right = next(row["id"] for row in rows if row["letter"] == letter) if letter else NOT_HERE
    app.selectbox(key=keys.LAB_RIGHT).set_value(right).run()
    return app


def test_empty_library_is_explained(open_page: OpenPage) -> None:
    app = open_page("lab", question=LENGTH)
    assert "The library is empty" in app.info[0].value
    assert stages(app) == []


def test_nothing_is_searched_without_a_question(
    open_page: OpenPage, library: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[str] = []
    monkeypatch.setattr(Engine, "explain", lambda engine, question, **options: questions.append(question))
    app = open_page("lab")
    assert "Ask something to see" in texts(app)
    assert (questions, stages(app)) == ([], [])


def test_question_in_the_address_is_asked_with_marks(open_page: OpenPage, library: Engine) -> None:
    app = open_page("lab", question=LENGTH)
    assert [stage["name"] for stage in stages(app)] == [*USUAL_SCORES, "rrf", "rerank"]
    marks = {(row["id"], row["letter"], row["colour"]) for stage in stages(app) for row in stage["rows"]}
    assert len(marks) == len({chunk_id for chunk_id, _, _ in marks}) == len({letter for _, letter, _ in marks})
    best = stages(app)[-1]["rows"][0]
    assert (best["letter"], best["document"], best["page"]) == ("A", "bridge.pdf", "p. 1")
    assert "Yes: the passages found seem to answer" in app.info[0].value
    assert "412 metres" in plain_text(shown(app)[0]["blocks"])
    assert "total" in texts(app)


def test_typed_question_replaces_the_former_one(open_page: OpenPage, library: Engine) -> None:
    app = open_page("lab")
    app.text_input(key=keys.LAB_QUESTION).set_value(LENGTH).run()
    assert stages(app)[-1]["rows"][0]["document"] == "bridge.pdf"
    app.text_input(key=keys.LAB_QUESTION).set_value("When was the Lindow Canal dug?").run()
    assert stages(app)[-1]["rows"][0]["document"] == "canal.pdf"


def test_documents_in_the_address_limit_the_search(open_page: OpenPage, library: Engine) -> None:
    app = open_page("lab", question=LENGTH, document="canal.pdf")
    assert {row["document"] for stage in stages(app) for row in stage["rows"]} == {"canal.pdf"}
    assert "No: the passages found do not seem to answer" in app.info[0].value
    app.multiselect(key=keys.LAB_DOCUMENTS).set_value(["bridge.pdf"]).run()
    assert app.query_params["document"] in ("bridge.pdf", ["bridge.pdf"])
    assert stages(app)[-1]["rows"][0]["document"] == "bridge.pdf"


def test_collections_in_the_address_limit_the_search(open_page: OpenPage, library: Engine) -> None:
    (canal,) = library.documents.find_ids(["canal.pdf"])
    library.collections.move_documents([canal], "Works")
    app = open_page("lab", question=LENGTH, collection="Works")
    assert {row["document"] for stage in stages(app) for row in stage["rows"]} == {"canal.pdf"}
    app.multiselect(key=keys.LAB_COLLECTIONS).set_value([]).run()
    assert stages(app)[-1]["rows"][0]["document"] == "bridge.pdf"


def test_source_is_named_in_the_address_beside_the_question(open_page: OpenPage, library: Engine) -> None:
    app = open_page("lab", question=LENGTH)
    for source in ("answer.1", "answer.2", ""):
        app.session_state[keys.SOURCE] = source
        app.run()
        assert not app.exception
        assert app.query_params.get("source", "") in (source, [source])
    assert app.query_params["question"] in (LENGTH, [LENGTH])


def test_unknown_document_is_reported(open_page: OpenPage, library: Engine) -> None:
    app = open_page("lab", question=LENGTH, document="gone.pdf")
    assert "gone" in app.error[0].value
    assert stages(app) == []


def test_opened_passage_shows_matching_words(open_page: OpenPage, library: Engine) -> None:
    app = open_passage(open_page("lab", question=LENGTH), "A")
    (data,) = shown(app, MATCHES)
    words = {word["s"]: word for word in data["words"]}
    assert words["Harrow"]["met"] == "Harrow"
    assert words["Bridge?"]["met"] == "Bridge"
    text = "".join(piece["s"] for piece in data["text"])
    assert "412 metres long" in text
    assert max(piece["n"] for piece in data["text"]) == 1
    assert "Rank in" in texts(app)


def test_right_passage_becomes_a_label(open_page: OpenPage, library: Engine) -> None:
    app = open_passage(open_page("lab", question=LENGTH), "A")
    app.button(key="lab_right_passage").click().run()
    (label,) = library.labels.list()
    assert (label.question, [(page.document, page.page_index) for page in label.evidence]) == (
        LENGTH,
        [("bridge.pdf", 0)],
    )
    for page in (app, open_page("lab", question=LENGTH)):
        assert not page.exception
        assert "The right passage counts most" in texts(page)
        assert metric(page, "Is the right passage read?") == "read, rank 1"
    assert open_passage(app, "A").button(key="lab_right_passage").disabled


@pytest.mark.parametrize(
    "evidence", [LabelledPage("bridge.pdf", page="1"), LabelledPage("bridge.pdf", quote="Harrow  Bridge")]
)
def test_label_by_printed_page_or_quote_marks_the_passage(
    open_page: OpenPage, library: Engine, evidence: LabelledPage
) -> None:
    gone = add(library, gone=make_pdf("Something else."))["gone"]
    library.labels.add(LENGTH, evidence=[LabelledPage("gone.pdf", 0)])
    library.documents.delete([gone])
    library.labels.add(f" {LENGTH}", evidence=[evidence])
    app = open_page("lab", question=LENGTH)
    assert metric(app, "Is the right passage read?") == "read, rank 1"
    assert open_passage(app, "A").button(key="lab_right_passage").disabled


def test_sliders_change_the_weight_of_the_right_passage(open_page: OpenPage, library: Engine) -> None:
    app = choose(open_page("lab", question=LENGTH), "B")
    assert "but A counts more" in texts(app)
    before = metric(app, "Its share")
    app.select_slider(key="lab_temperature").set_value(2.0).run()
    after = metric(app, "Its share")
    assert before != after == "33 %"
    app.slider(key="lab_k").set_value(1).run()
    assert "has rank 2, but an answer uses only the first 1" in texts(app).replace("\\", "")
    choose(app, "")
    assert "No stage found the right passage" in texts(app)


def test_mixture_reports_the_answers_of_the_passages(open_page: OpenPage, engine: Engine) -> None:
    stale = make_pdf("The Harrow Bridge is 99 metres long. Length of the Harrow Bridge: 99 metres.")
    add(engine, bridge=BRIDGE, old=stale)
    engine.labels.add(
        LENGTH,
        evidence=[LabelledPage("bridge.pdf", 0), LabelledPage("old.pdf", 0, state="stale")],
        answers=["412 metres"],
    )
    app = open_page("lab", question=LENGTH)
    app.select_slider(key="lab_temperature").set_value(0.005).run()
    assert not app.exception, app.exception
    # The label of the question names the right passage and the right answer.
    assert metric(app, "Is the right passage read?").startswith("read")
    assert (metric(app, "Is the answer right?"), metric(app, "Does its source say so?")) == ("wrong", "yes")
    assert "Wrong, although the right passage is read: an outdated passage, A, outweighs it" in texts(app).replace(
        "\\", ""
    )
    app.slider(key="lab_k").set_value(1).run()
    assert "Wrong, because the right passage is not read" in texts(app).replace("\\", "")
    # Without a GGUF file, there are no probabilities of tokens.
    assert "needs a language model in a GGUF file" in "\n".join(one.value for one in app.info)


def test_worked_example_needs_no_documents(open_page: OpenPage) -> None:
    app = open_page("lab")
    assert (metric(app, "Is the right passage read?"), metric(app, "Its share")) == ("read", "44 %")
    assert metric(app, "Is the answer right?") == "wrong"
    assert "an outdated passage, “Returns policy, replaced”, outweighs" in texts(app).replace("\\", "")
    app.slider(key="example_freshness_weight").set_value(0.12).run()
    assert (metric(app, "Its share"), metric(app, "Is the answer right?")) == ("56 %", "right")
    app.slider(key="example_k").set_value(1).run()
    app.slider(key="example_freshness_weight").set_value(0.0).run()
    assert metric(app, "Is the right passage read?") == "not read"
    assert not app.exception


def test_matrix_has_a_row_for_each_token_and_passage() -> None:
    tokens = (GeneratedToken("4", (0.75, 0.25)), GeneratedToken("4", (0.5, 0.5)), GeneratedToken("", (0.9, 0.1)))
    answer = MarginalAnswer("rag-token", "44", 0.5, ("1", "2"), (0.6, 0.4), tokens, (("44", 0.5),), 6, 20, 0.1)
    frame = build_token_table(answer, ["A", "B"])
    assert frame["percent"].tolist() == ["75 %", "25 %", "50 %", "50 %", "90 %", "10 %"]
    assert frame["passage"].tolist() == ["A", "B"] * 3
    # Equal tokens are different values of the axis.
    assert frame["token"].nunique() == 3


def test_noise_can_be_redrawn(open_page: OpenPage, library: Engine) -> None:
    app = open_page("lab", question=LENGTH)
    assert app.button(key="lab_draw").disabled
    app.slider(key="lab_noise").set_value(0.1).run()
    app.button(key="lab_draw").click().run()
    assert app.session_state["lab_seed"] == 1
    assert not app.exception


def test_older_rival_is_stale_until_freshness_counts(engine: Engine) -> None:
    add(engine, old=BRIDGE, new=make_pdf("The Harrow Bridge is 415 metres long since it was widened."))
    explanation = engine.explain(LENGTH)
    first = explanation.passages[0]
    right = next(passage for passage in explanation.passages if passage.document_id != first.document_id)
    assert replace_dates(explanation, {}) == explanation

    def case(day: date, freshness_weight: float = 0.0) -> EvidenceCase:
        weighed = engine.explanations.weight_passages(
            replace_dates(explanation, {first.document_id: day}), WeightingConfig(freshness_weight=freshness_weight)
        )
        return engine.explanations.evidence_mass(weighed, 5, right.chunk_id).case

    assert case(explanation.added_at[first.document_id].date()) is EvidenceCase.IGNORED
    assert case(date(2001, 1, 1)) is EvidenceCase.STALE
    assert case(date(2001, 1, 1), freshness_weight=1.0) is EvidenceCase.LEADS


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (EvidenceCase.ABSENT, "No stage found"),
        (EvidenceCase.TOO_LOW, "has rank 7, but an answer uses only the first 5"),
        (EvidenceCase.IGNORED, "C counts more (60 % against 12 %)"),
        (EvidenceCase.STALE, "C is older and counts more (60 % against 12 %)"),
        (EvidenceCase.LEADS, "counts most, with 12 % of the weight"),
    ],
)
def test_each_case_has_its_sentence(case: EvidenceCase, words: str) -> None:
    assert words in describe_case(EvidenceMass(case, 7, False, 0.12, "c"), 5, "C", 0.6)


def test_percentages_are_rounded() -> None:
    assert [format_percent(share) for share in (0.0, 0.004, 0.126, 1.0)] == ["0 %", "< 1 %", "13 %", "100 %"]


def test_letters_continue_after_z() -> None:
    assert [to_letters(at) for at in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]


@pytest.mark.parametrize("colour", [*COLOURS, OTHERS])
def test_mark_colors_have_enough_contrast(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= TEXT
    for theme in ("light", "dark"):
        assert contrast(colour, CONFIG["theme"][theme]["backgroundColor"]) >= GRAPHIC


QUESTION, TEXT_OF_CHUNK = "How rare-earth?", "doc.pdf\nRarely earthen, rare."


def match(question: tuple[int, int], chunk: tuple[int, int], weight: float, similarity: float) -> TokenMatch:
    return TokenMatch(*question, weight, similarity, *chunk)


def test_tokens_are_grouped_into_words() -> None:
    matches = TokenMatches(
        QUESTION,
        TEXT_OF_CHUNK,
        (
            match((0, 3), (0, 3), 0.0, 0.9),
            match((4, 8), (8, 12), 0.2, 0.5),
            match((8, 9), (22, 23), 0.0, 0.9),
            match((9, 14), (15, 18), 0.6, 0.9),
            match((14, 15), (22, 23), 0.2, 0.5),
        ),
        0.74,
        0.7,
    )
    (word,) = group_matches_by_word(matches)
    assert (word.text, word.weight, word.similarity) == ("rare-earth?", pytest.approx(1), pytest.approx(0.74))
    assert [TEXT_OF_CHUNK[start:end] for start, end in word.spans] == ["Rarely", "earthen", ","]


def test_text_is_split_by_the_weight_of_words() -> None:
    words = [Word("a", 0.6, 0.5, ((0, 3),)), Word("b", 0.4, 0.5, ((0, 3), (4, 7)))]
    pieces = list(split_into_segments("one two three", words))
    assert [(piece["s"], piece["words"]) for piece in pieces] == [
        ("one", [0, 1]),
        (" ", []),
        ("two", [1]),
        (" three", []),
    ]
    assert [piece["n"] for piece in pieces] == pytest.approx([1, 0, 0.25, 0])
    assert list(split_into_segments("", [])) == []
