"""Questions to a file whose first pages can be searched while the rest is read."""

from __future__ import annotations

import pytest

from rag_core.engine import Engine
from rag_core.indexing import parsing_stage
from rag_core.types.answers import AnswerState
from tests.support.engines import ASK_BUDGET, ASK_PENGUINS, BUDGET, PENGUINS, ReadingBarrier, assert_in_agreement

PAGES = [BUDGET, "The second page is about lamps.", "The third page is about rope.", PENGUINS]


def test_first_pages_answer_while_the_rest_is_read(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing_stage, "FIRST_PAGES_AFTER_S", 0.0)
    monkeypatch.setattr(parsing_stage, "REPORT_EVERY_S", 0.0)
    barrier = ReadingBarrier(monkeypatch, pages=3)
    job = barrier.submit(engine, "long.pdf", *PAGES)
    answer = engine.answer(ASK_BUDGET)
    assert answer.state is AnswerState.ANSWERED
    assert answer.citations[0].page_index == 0
    refusal = engine.answer(ASK_PENGUINS)
    assert refusal.state is AnswerState.ABSTAINED
    for one in (answer, refusal):
        assert any("of 4 pages of long.pdf are read so far" in notice for notice in one.notices)

    barrier.release()
    engine.jobs.wait([job.job_id])
    answer = engine.answer(ASK_PENGUINS)
    assert answer.state is AnswerState.ANSWERED
    assert not answer.notices
    assert_in_agreement(engine)
