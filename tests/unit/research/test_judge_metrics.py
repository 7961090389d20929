"""Metrics of the judge, agreement and kappa, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.evaluation.judging import JudgedAnswer
from rag_core.research.agreement import count_agreement, is_faithful, report_judgements
from rag_core.research.judge import compute_context_precision, compute_share
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.judgements import Judgement, StatementVerdict
from rag_core.types.retrieval import Gate
from rag_core.types.usage import Usage

ANSWER = Answer("q", AnswerState.ANSWERED, "s", (), (), Gate("answerable", 1.0, 0.5, True), "w", {})
PAIRS = ((True, True), (True, False), (False, True), (False, False))


@pytest.mark.parametrize(
    ("useful", "precision"),
    [
        ([True, False, True], pytest.approx((1 + 2 / 3) / 2)),
        ([False, True], 0.5),
        ([False, False], 0.0),
        ([True, None], None),
        ([], None),
    ],
)
def test_context_precision_is_the_mean_of_precisions_at_useful_ranks(
    useful: list[bool | None], precision: float | None
) -> None:
    assert compute_context_precision(useful) == precision


@pytest.mark.parametrize(("verdicts", "share"), [([True, False], 0.5), ([True, None], None), ([], None)])
def test_share_needs_all_verdicts(verdicts: list[bool | None], share: float | None) -> None:
    assert compute_share(verdicts) == share


@pytest.mark.parametrize(
    ("counts", "share", "kappa"),
    [
        # Of 50 proposals, both readers accept 20 and both reject 15: agreement .7, by chance .5, kappa .4.
        ((20, 5, 10, 15), 0.7, pytest.approx(0.4)),
        ((0, 4, 4, 0), 0.0, -1),
        ((3, 0, 0, 3), 1.0, 1),
        ((2, 2, 2, 2), 0.5, 0),
        ((9, 1, 0, 0), 0.9, 0),
        # Kappa is undefined without pairs or variation.
        ((9, 0, 0, 0), 1.0, None),
        ((0, 0, 0, 0), 0.0, None),
    ],
)
def test_kappa_of_worked_examples(counts: tuple[int, ...], share: float, kappa: float | None) -> None:
    pairs = [pair for pair, count in zip(PAIRS, counts, strict=True) for _ in range(count)]
    found = count_agreement("readers", pairs)
    assert (found.n, found.share, found.kappa) == (sum(counts), share, kappa)


def statement(judge: bool | None, verifier: bool) -> StatementVerdict:
    return StatementVerdict("q", "s", judge, verifier)


def test_report_adds_up_and_counts_only_judged_statements() -> None:
    judgements = [
        Judgement("j", not_judged=("judge_faithfulness",), statements=(statement(None, True), statement(True, True))),
        Judgement("j", statements=(statement(False, True),), usage=Usage(2, 30, 4), seconds=1.5, problems=("p",)),
        Judgement("j", usage=Usage(1, 5, 1), seconds=0.5, problems=("p",)),
    ]
    judged = [JudgedAnswer(ANSWER, one, (), None) for one in judgements]
    report = report_judgements(judged, "w")
    assert [(one.both_positive, one.first_only, one.second_only) for one in report.agreements] == [(1, 0, 1)]
    assert (report.answers, report.not_judged) == (3, {"judge_faithfulness": 1})
    assert (report.usage.input_tokens, report.seconds, report.problems) == (35, 2.0, ("p",))
    assert report.warning == ""
    assert any("Not judged" in note and "(of 3 answers): judge_faithfulness 1." in note for note in report.notes)
    assert "wrote the answers itself" in report_judgements(judged, "j").warning
    wrong = [replace(judged[1], is_right=False), judged[2]]
    assert [one.both_negative for one in report_judgements(wrong, "w").agreements] == [0, 1]


@pytest.mark.parametrize(
    ("statements", "faithful"),
    [
        ([(True, False)], True),
        ([(True, True), (False, True)], False),
        ([(True, True), (None, True)], None),
        ([], None),
    ],
)
def test_answer_is_faithful_if_all_its_statements_are(
    statements: list[tuple[bool | None, bool]], faithful: bool | None
) -> None:
    assert is_faithful(Judgement("j", statements=tuple(statement(*one) for one in statements))) is faithful
