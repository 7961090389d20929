"""What exact match and token F1 compare."""

from __future__ import annotations

import pytest

from rag_core.evaluation.label_comparison import compare_with_label
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.evaluation import Label, LabelKind
from rag_core.types.retrieval import Gate

LABEL = Label("1", "How long is the bridge?", LabelKind.ANSWERABLE, answers=("412 metres",))


@pytest.mark.parametrize(("short", "exact", "f1"), [("412 metres", 1.0, 1.0), ("", 0.0, 0.5)])
def test_short_value_is_compared_if_the_answer_has_one(short: str, exact: float, f1: float) -> None:
    gate = Gate("answerable", 0.9, 0.8, True)
    text = "Its main span is 412 metres."
    answer = Answer(LABEL.question, AnswerState.ANSWERED, text, (), (), gate, "extractive", {}, short=short)
    values = compare_with_label(LABEL, {}, [], {}, answer, 0.8).values
    assert values["contains_answer"] == 1.0
    assert (values["exact_match"], values["token_f1"]) == (exact, f1)
