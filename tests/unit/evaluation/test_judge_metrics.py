"""Metrics of the judge, agreement and kappa, by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rag_core.evaluation.agreement import count_agreement, is_faithful, report_judgements
from rag_core.evaluation.judge import compute_context_precision, compute_share
from rag_core.types import Judgement, StatementVerdict, Usage


def agreement(*counts: int) -> Iterable[tuple[bool, bool]]:
    kinds = ((True, True), (True, False), (False, True), (False, False))
    return [pair for pair, count in zip(kinds, counts, strict=True) for _ in range(count)]


def test_context_precision_is_the_mean_of_precisions_at_useful_ranks() -> None:
    assert compute_context_precision([True, False, True]) == pytest.approx((1 + 2 / 3) / 2)
    assert compute_context_precision([False, True]) == 0.5
    assert compute_context_precision([False, False]) == 0.0
    assert compute_context_precision([True, None]) is None
    assert compute_context_precision([]) is None


def test_share_needs_all_verdicts() -> None:
    assert compute_share([True, False]) == 0.5
    assert compute_share([True, None]) is None
    assert compute_share([]) is None


def test_kappa_of_a_worked_example() -> None:
    # Of 50 proposals, both readers accept 20 and both reject 15: agreement .7, by chance .5, kappa .4.
    found = count_agreement("readers", agreement(20, 5, 10, 15))
    assert (found.n, found.share) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert count_agreement("", agreement(0, 4, 4, 0)).kappa == -1
    assert count_agreement("", agreement(3, 0, 0, 3)).kappa == 1
    assert count_agreement("", agreement(2, 2, 2, 2)).kappa == 0


def test_kappa_is_undefined_without_pairs_or_variation() -> None:
    assert count_agreement("", []).kappa is None
    assert count_agreement("", agreement(9, 0, 0, 0)).kappa is None
    assert count_agreement("", agreement(9, 1, 0, 0)).kappa == 0


def statement(judge: bool | None, verifier: bool) -> StatementVerdict:
    return StatementVerdict("q", "s", judge, verifier)


def test_report_adds_up_and_counts_only_judged_statements() -> None:
    judgements = [
        Judgement("j", not_judged=("judge_faithfulness",), statements=(statement(None, True), statement(True, True))),
        Judgement("j", statements=(statement(False, True),), usage=Usage(2, 30, 4), seconds=1.5, problems=("p",)),
        Judgement("j", usage=Usage(1, 5, 1), seconds=0.5, problems=("p",)),
    ]
    report = report_judgements(judgements, "w", [count_agreement("none", [])])
    assert [(one.both_positive, one.first_only, one.second_only) for one in report.agreements] == [(1, 0, 1)]
    assert (report.answers, report.not_judged) == (3, {"judge_faithfulness": 1})
    assert (report.usage.input_tokens, report.seconds, report.problems) == (35, 2.0, ("p",))
    assert report.warning == ""
    assert any("Not judged" in note and "(of 3 answers): judge_faithfulness 1." in note for note in report.notes)
    assert "wrote the answers itself" in report_judgements(judgements, "j", []).warning


def test_answer_is_faithful_if_all_its_statements_are() -> None:
    assert is_faithful(Judgement("j", statements=(statement(True, False),))) is True
    assert is_faithful(Judgement("j", statements=(statement(True, True), statement(False, True)))) is False
    assert is_faithful(Judgement("j", statements=(statement(True, True), statement(None, True)))) is None
    assert is_faithful(Judgement("j")) is None
