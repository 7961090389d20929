"""Whether the pages that a capable model would get contain the expected answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from rag_core.answering.page_context import PageContext
from rag_core.evaluation.context_value import BUDGETS, measure_context
from rag_core.types.documents import PageReference
from rag_core.types.evaluation import Label, LabelKind
from tests.support.passages import passage

PAGES = [
    passage(1, "The cover is 24 months.", document_id="old", page_index=3),
    passage(2, "The cover is | 36 | months.", duplicates=(PageReference("copy", "copy.pdf", 4, "5"),)),
]


@dataclass
class Result:
    passages: tuple[Any, ...] = ()


@dataclass
class Outcome:
    passages: tuple[Any, ...] = ()
    result: Result = field(default_factory=Result)


class Selector:
    """Selects one more page for each budget."""

    def select(self, outcomes: list[Outcome], budget: int) -> PageContext:
        chosen = tuple(PAGES[: BUDGETS.index(budget)])
        return PageContext(chosen, chosen, frozenset(), 10 * len(chosen), tuple(one.rank for one in chosen))


@pytest.mark.parametrize(
    ("kind", "answers", "relevant", "by_budget"),
    [
        # The expected answer is looked for before the labelled page.
        (LabelKind.ANSWERABLE, ("36 months",), [("old", 3)], [0, 0, 1, 1]),
        (LabelKind.ANSWERABLE, ("48 months",), [("old", 3)], [0, 0, 0, 0]),
        # The labelled page or its copy counts if there is no expected answer.
        (LabelKind.ANSWERABLE, (), [("old", 3)], [0, 1, 1, 1]),
        (LabelKind.ANSWERABLE, (), [("copy", 4)], [0, 0, 1, 1]),
        (LabelKind.ANSWERABLE, (), [("old", 4)], [0, 0, 0, 0]),
        # Other questions have no value.
        (LabelKind.ANSWERABLE, (), [], []),
        (LabelKind.OFF_CORPUS, ("36 months",), [], []),
    ],
)
def test_pages_of_a_budget_contain_the_answer_or_the_labelled_page(
    kind: LabelKind, answers: tuple[str, ...], relevant: list[Any], by_budget: list[float]
) -> None:
    label = Label("terms", "How long is the cover?", kind, answers=answers)
    values = measure_context(label, relevant, Outcome(), Selector())  # type: ignore[arg-type]
    assert [value for name, value in values.items() if name.startswith("value_in_context@")] == by_budget
