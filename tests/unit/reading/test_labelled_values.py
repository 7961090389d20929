"""Values of forms, found by their labels."""

from __future__ import annotations

import pytest

from rag_core.reading.labelled_values import find_labelled_value
from tests.support.passages import passage

FORM = """Application for a berth

Surname: Brandt
Date of birth: 4 May 1971
Fee in euros: 86
Valid from: 1 March 2025
Valid until: 31 October 2025
Newsletter wanted ☐
Key to the shed wanted ☒
Class of boat ☐ dinghy ☒ cruiser
Moorings ....... two
☒ is insured against fire"""


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the surname of the applicant?", "Brandt"),
        ("What is the date of birth?", "4 May 1971"),
        ("What is the fee?", "86"),
        ("Until when is it valid?", "31 October 2025"),
        ("Is the newsletter wanted?", "no"),
        ("Is a key to the shed wanted?", "yes"),
        ("Which class of boat is it?", "cruiser"),
        ("How many moorings are there?", "two"),
        ("Is the boat insured against fire?", "yes"),
        ("What is the first name?", None),
        ("Is it valid?", None),
        ("What is the surname of the landlord?", None),
        ("Is the fee refundable?", None),
        ("When is the fee due?", None),
        ("What did the harbour master say about the fee of last year?", None),
    ],
)
def test_value_of_the_label_in_the_question(question: str, value: str | None) -> None:
    found = find_labelled_value(question, [passage(text=FORM)])
    assert (found.value if found else None) == value
    if found:
        assert found.label in FORM[found.start : found.end]


def test_colon_in_prose_is_no_label() -> None:
    text = "The note said: nothing is lost.\nSurname: Brandt"
    assert find_labelled_value("What is the surname?", [passage(text=text)]) is None


def test_different_values_for_one_label_are_not_decided() -> None:
    other = FORM.replace("Brandt", "Okafor")
    assert find_labelled_value("What is the surname?", [passage(text=FORM), passage(2, other)]) is None
    assert find_labelled_value("What is the surname?", [passage(text=FORM), passage(2, FORM)]) is not None
