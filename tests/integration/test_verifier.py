"""A model judges the statements that no value decides: a cross-encoder, or the connected language model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag_core.answering.statement_checks import DraftStatement
from rag_core.answering.verifier import NOT_VERIFIED
from rag_core.embedding.sentence_transformer import LocalVerifier
from rag_core.engine import Engine
from rag_core.errors import VerifierMissing
from rag_core.llm.context_budget import count_tokens
from rag_core.types.answers import Answer
from rag_core.types.checks import CheckedStatement
from rag_core.types.conversations import Scope
from rag_core.verification.attribution import NOT_CHECKED
from rag_core.verification.citation_markers import parse_markers
from tests.support.cross_encoders import make_cross_encoder
from tests.support.engines import ASK_BUDGET, BUDGET, COPPER, open_library, opened, scripted_engine
from tests.support.judges import Reply, find_task, judging, verdicts
from tests.support.servers import Exchange, Play, status

TRUE = "The budget of the Zanzibar bridge is 42 million euros"
# No value of it can be compared.
TURNED = "The budget of the Zanzibar bridge was never approved"
INFERENCE, REVERSED = ("contradiction", "entailment", "neutral"), ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
UNNAMED = ("LABEL_0", "LABEL_1", "LABEL_2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with three documents; tests must not change the documents."""
    folder = tmp_path_factory.mktemp("verifier") / "data"
    with open_library(folder):
        return folder


def check_pair(engine: Engine, statement: str, source: str) -> CheckedStatement:
    [checked] = engine.checker.check_pairs([(statement, source)])
    return checked


@pytest.mark.parametrize(
    ("names", "always", "supports"),
    [
        (INFERENCE, 0, False),
        (INFERENCE, 1, True),
        (INFERENCE, 2, True),
        (REVERSED, 0, True),
        (REVERSED, 2, False),
        (UNNAMED[:2], 0, False),
        (UNNAMED[:2], 1, True),
        (UNNAMED[:1], 0, True),
    ],
)
def test_labels_are_read_from_the_model(tmp_path: Path, names: tuple[str, ...], always: int, supports: bool) -> None:
    model = LocalVerifier(str(make_cross_encoder(tmp_path / "tiny", names=names, always=always)))
    assert model.supports([(BUDGET, TRUE), (BUDGET, TURNED)]) == [supports] * 2


def test_a_model_with_unknown_labels_is_refused(tmp_path: Path) -> None:
    model = make_cross_encoder(tmp_path / "tiny", names=UNNAMED)
    with pytest.raises(VerifierMissing, match="RAG_VERIFIER"):
        LocalVerifier(str(model))


def test_a_cross_encoder_checks_statements(folder: Path, tmp_path: Path) -> None:
    model = make_cross_encoder(tmp_path / "tiny", names=INFERENCE, always=0)
    with opened(folder, verifier=str(model)) as engine:
        judged = check_pair(engine, TRUE, BUDGET)
        decided = check_pair(engine, TRUE.replace("42", "47"), BUDGET)
    assert judged.words == "Not supported by the source, in a model's judgement"
    assert judged.citation is not None
    assert decided.words.startswith("Differs from the source: 42 million")
    with opened(folder, verifier=str(tmp_path / "missing")) as engine:
        unchecked = check_pair(engine, TRUE, BUDGET)
    assert unchecked.verdict == "supported"
    assert "not on this machine" in unchecked.notices[0]


def test_a_capable_model_judges_all_statements_of_an_answer_in_one_call(folder: Path) -> None:
    def judge(number: int, prompt: str) -> bool:
        return f"{number}. {TURNED}" not in prompt

    play = judging(f"{TRUE} [1]. {TURNED} [1].", statements=verdicts(judge))
    with scripted_engine(folder, play, verifier="model", model_capability="capable") as (engine, endpoint):
        *_, answer = engine.ask(ASK_BUDGET)
        calls = [find_task(one) for one in endpoint.exchanges]
        checked = list(engine.checker.check_all(engine.checker.split(f"{TRUE}. {TURNED}."), Scope()))
    assert isinstance(answer, Answer)
    assert [one.mark_text for one in answer.statements] == [
        "",
        "not supported by the source, in a model's judgement: so",
    ]
    assert answer.statements[1].compared_rank > 0
    assert calls == ["", "statements"]
    assert answer.usage.calls == 2
    assert "judged 2 statements (100 tokens in, 10 out)" in answer.steps[-1]
    assert [one.verdict for one in checked] == ["supported", "not_supported"]
    assert [one.usage.calls for one in checked] == [1, 0]


def test_a_capable_model_removes_marks_and_reads_the_header_of_a_table(folder: Path) -> None:
    table = "| Bridge | Budget (million euros) |\n| --- | --- |\n| Zanzibar | 42 |"
    written = f"{TRUE} [1]. {TRUE.replace('42', '47')} [1].\n\n{table}"
    prompts = []

    def judge(number: int, prompt: str) -> bool:
        prompts.append(prompt)
        return True

    answers = []
    for setting in (None, "model"):
        play = judging(written, statements=verdicts(judge))
        with scripted_engine(folder, play, verifier=setting, model_capability="capable") as (engine, _):
            *_, answer = engine.ask(ASK_BUDGET)
            assert isinstance(answer, Answer)
            answers.append(answer)
    marks = [[bool(one.mark) for one in answer.statements] for answer in answers]
    assert marks == [[False, True, False], [False, False, False]]
    assert all(one.supported for one in answers[1].statements)
    assert "In a table with the columns Bridge | Budget (million euros): Zanzibar | 42 (passage" in prompts[0]


# No sentence is similar enough to be cited.
PARAPHRASE = "Constructors of a river crossing in Africa receive a fortune."
FOREIGN = "Das Budget der Zanzibar-Brücke beträgt 42 Millionen Euro und wurde vom Stadtrat niemals genehmigt."


@pytest.mark.parametrize(
    ("statement", "reply", "words"),
    [
        # The more precise mark stays if the model agrees with it.
        (TRUE.replace("42", "47"), verdicts(lambda number, prompt: False), "Differs from the source: 42 million euros"),
        # No verdict decides nothing.
        (FOREIGN, lambda prompt: "sorry", "Unsure"),
        (FOREIGN, verdicts(lambda number, prompt: True), "Supported"),
        # A statement needs a citation to be supported.
        (FOREIGN, verdicts(lambda number, prompt: True, named=[]), "Unsure"),
        (FOREIGN, verdicts(lambda number, prompt: True, named=[7, "1", None, True]), "Unsure"),
        (PARAPHRASE, verdicts(lambda number, prompt: True, named=[7, 1]), "Supported"),
    ],
)
def test_verdict_of_a_capable_model_and_none(folder: Path, statement: str, reply: Reply, words: str) -> None:
    play = judging("", statements=reply)
    with scripted_engine(folder, play, verifier="model", model_capability="capable") as (engine, _):
        checked = check_pair(engine, statement, BUDGET)
    assert checked.words == words
    assert checked.verdict != "supported" or (checked.citation is not None and checked.citation.quote in BUDGET)
    assert [*checked.notices] == (["The model gave no usable verdict on 1 statement."] if words == "Unsure" else [])


def test_a_passage_that_a_verdict_names_is_cited_although_another_sentence_was_closer(folder: Path) -> None:
    wrong, copper = TRUE.replace("42", "47"), COPPER.partition(". ")[0]
    play = judging(f"{wrong} [1]. {copper}.", statements=verdicts(lambda number, prompt: True, named=[2]))
    with scripted_engine(folder, play, verifier="model", model_capability="capable") as (engine, _):
        *_, answer = engine.ask(ASK_BUDGET)
    assert isinstance(answer, Answer)
    # The passage that states another value is no longer cited.
    [first] = parse_markers(answer.text.partition(copper)[0])
    assert answer.text == f"{wrong} [{first}]. {copper} [{first}]."
    assert {one.marker for one in answer.citations} == {first}
    assert [one.supported for one in answer.statements] == [True, True]
    assert [one.quote for one in answer.citations if one.marker == first] == [f"{copper}.", COPPER]


@pytest.mark.parametrize(
    ("reply", "is_noticed"),
    [
        (verdicts(lambda number, prompt: True), False),
        (verdicts(lambda number, prompt: number == 1), False),
        (verdicts(lambda number, prompt: True, named=[]), True),
    ],
)
def test_notice_about_another_language_goes_after_the_model_decided(
    folder: Path, reply: Reply, is_noticed: bool
) -> None:
    play = judging(f"{FOREIGN} [1] {FOREIGN} [1]", statements=reply)
    with scripted_engine(folder, play, verifier="model", model_capability="capable") as (engine, _):
        *_, answer = engine.ask(ASK_BUDGET)
        assert isinstance(answer, Answer)
        broken = replace(answer, interrupted="No connection.", notices=(NOT_CHECKED, f"{NOT_VERIFIED} Time-out."))
        *_, continued = engine.continuations.continue_answer(broken)
    assert isinstance(continued, Answer)
    assert (NOT_CHECKED in answer.notices, NOT_CHECKED in continued.notices) == (is_noticed, is_noticed)
    assert "Time-out" not in "".join(continued.notices)


@pytest.mark.parametrize(
    ("above", "item", "context"),
    [
        ("The Zanzibar bridge:\n\n- ", "Budget: 42 million euros", "The Zanzibar bridge"),
        (
            "| Bridge | Budget (million euros) |\n| --- | --- |\n| ",
            "Zanzibar. Old | 42",
            "In a table with the columns Bridge | Budget (million euros)",
        ),
    ],
)
def test_an_item_or_row_of_a_draft_is_judged_with_what_stands_above_it(
    folder: Path, above: str, item: str, context: str
) -> None:
    with scripted_engine(folder, judging(""), verifier="model", model_capability="capable") as (engine, endpoint):
        [checked] = engine.checker.check_all(engine.checker.split(above + item), Scope())
    assert f"1. {context}: {item} (passage" in endpoint.exchanges[0].body["messages"][-1]["content"]
    assert (checked.statement, checked.verdict) == (item, "supported")
    assert checked.citation is not None
    assert checked.citation.document == "bridge.pdf"


def test_model_reads_the_next_page_and_no_struck_words(folder: Path) -> None:
    prompts = []

    def judge(number: int, prompt: str) -> bool:
        prompts.append(prompt)
        return True

    play = judging("", statements=verdicts(judge))
    with scripted_engine(folder, play, verifier="model", model_capability="capable") as (engine, _):
        check_pair(engine, "The budget was approved in May 2025.", "The budget ~~of 30~~ was approved in\fMay 2025.")
    assert "was approved in May 2025.\n</passages>" in prompts[0]
    assert "30" not in prompts[0]


FILLER = "The council met on a rainy evening and adjourned without a decision. "


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        # Statements about one passage, which is once in the prompt.
        (f"{FILLER * 10}\n{BUDGET}\n{FILLER * 10}", 1),
        # Between the places that the statements were compared with lies more than fits into a prompt.
        (f"{BUDGET}\n{FILLER * 150}\nThe mayor of Zanzibar is called Abasi Juma.", 2),
    ],
)
def test_a_batch_contains_each_passage_once_and_fits_the_context(folder: Path, source: str, calls: int) -> None:
    draft = f"{TRUE}. {TURNED}. {TRUE}. The mayor of Zanzibar is called Abasi Juma."
    context, reply = 2_000, 360
    options = {"verifier": "model", "model_capability": "capable", "openai_answer_tokens": reply}
    with scripted_engine(folder, judging(""), **options, openai_context_tokens=context) as (engine, endpoint):
        check_pair(engine, draft, source)
        prompts = [one.body["messages"] for one in endpoint.exchanges]
    assert len(prompts) == calls
    assert all(sum(count_tokens(one["content"]) for one in prompt) < context - reply for prompt in prompts)


@pytest.mark.parametrize(
    ("failure", "calls", "notice"),
    [
        (status(401), 1, "Set a valid key"),
        (Exchange.drop, 1, "No connection"),
        # Other failures may concern one batch only.
        (status(500), 2, "could not answer"),
    ],
)
def test_a_verifier_that_is_lost_is_not_called_again(folder: Path, failure: Play, calls: int, notice: str) -> None:
    draft = [DraftStatement(f"{TRUE}.")] * 17
    with scripted_engine(folder, failure, verifier="model", model_capability="capable") as (engine, endpoint):
        checked = list(engine.checker.check_all(draft, Scope()))
        sent = len(endpoint.exchanges)
        pairs = list(engine.checker.check_pairs([(TRUE, BUDGET)] * 3))
    assert sent == calls
    assert len(endpoint.exchanges) == 2 * calls
    assert {one.verdict for one in (*checked, *pairs)} == {"supported"}
    assert [len(one.notices) for one in checked[:9]] == [1, *[0] * 7, calls > 1]
    assert notice in checked[0].notices[0]


def test_a_model_that_failed_while_it_wrote_does_not_verify(folder: Path) -> None:
    def break_off(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta(f"{TRUE} [1]. {TURNED}")
        exchange.drop()

    with scripted_engine(folder, break_off, verifier="model", model_capability="capable") as (engine, endpoint):
        *_, answer = engine.ask(ASK_BUDGET)
        tasks = {find_task(one) for one in endpoint.exchanges}
    assert isinstance(answer, Answer)
    assert answer.interrupted
    assert tasks == {""}


def test_verdicts_before_a_failure_are_kept(folder: Path) -> None:
    script = (judging("", statements=verdicts(lambda number, prompt: False)), status(401))
    options = {"verifier": "model", "model_capability": "capable", "openai_answer_tokens": 64}
    with scripted_engine(folder, *script, **options) as (engine, endpoint):
        checked = check_pair(engine, f"{TRUE}. {TRUE}. {TRUE}.", BUDGET)
    assert len(endpoint.exchanges) == 2
    assert checked.is_by_verifier
    assert "Set a valid key" in checked.notices[0]


def test_a_small_model_is_not_asked(folder: Path) -> None:
    with scripted_engine(folder, judging(f"{TRUE} [1]."), verifier="model", model_capability="small") as (engine, _):
        *_, answer = engine.ask(ASK_BUDGET)
    assert isinstance(answer, Answer)
    assert answer.usage.calls == 1
    assert "needs a capable model" in answer.notices[-1]
