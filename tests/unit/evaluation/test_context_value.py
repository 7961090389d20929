"""Whether the pages that a capable model would get contain the expected answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rag_core.answering.page_context import PageContext
from rag_core.evaluation.context_value import BUDGETS, measure_context
from rag_core.types import Label, LabelKind, PageReference
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


def measure(kind: LabelKind = LabelKind.ANSWERABLE, answers: tuple[str, ...] = (), *relevant: Any) -> list[float]:
    """Return the values by budget, without their tokens."""
    label = Label("terms", "How long is the cover?", kind, answers=answers)
    values = measure_context(label, relevant, Outcome(), Selector())  # type: ignore[arg-type]
    return [value for name, value in values.items() if name.startswith("value_in_context@")]


def test_expected_answer_is_looked_for_before_the_labelled_page() -> None:
    assert measure(LabelKind.ANSWERABLE, ("36 months",), ("old", 3)) == [0, 0, 1, 1]
    assert measure(LabelKind.ANSWERABLE, ("48 months",), ("old", 3)) == [0, 0, 0, 0]


def test_labelled_page_or_its_copy_counts_if_there_is_no_expected_answer() -> None:
    assert measure(LabelKind.ANSWERABLE, (), ("old", 3)) == [0, 1, 1, 1]
    assert measure(LabelKind.ANSWERABLE, (), ("copy", 4)) == [0, 0, 1, 1]
    assert measure(LabelKind.ANSWERABLE, (), ("old", 4)) == [0, 0, 0, 0]


def test_other_questions_have_no_value() -> None:
    assert measure() == []
    assert measure(LabelKind.OFF_CORPUS, ("36 months",)) == []
