"""Words that belong to a value."""

from __future__ import annotations

import pytest

from rag_core.reading.short_answers import extend_answer, has_limit, is_denied_elsewhere


@pytest.mark.parametrize(
    ("sentence", "found", "extended"),
    [
        ("It holds up to 500 guests.", "500", "up to 500"),
        ("It holds at least 500 guests.", "500 guests", "at least 500 guests"),
        ("The fee is more than £20 a year.", "£20", "more than £20"),
        ("The fee is 20 euros or more.", "20 euros", "20 euros or more"),
        ("Apply before 3 May 2024.", "3 May 2024", "before 3 May 2024"),
        ("It opened in late 2019.", "2019", "late 2019"),
        ("It opened in 2019.", "2019", "2019"),
        ("It was built by the mayor.", "mayor", "the mayor"),
        ("It was built by Eiffel.", "Eiffel", "Eiffel"),
        ("It was built by the mayor.", "the mayor", "the mayor"),
    ],
)
def test_limits_and_articles_are_added(sentence: str, found: str, extended: str) -> None:
    start = sentence.index(found)
    assert extend_answer(sentence, start, start + len(found)) == extended


def test_limits_before_and_after_a_value() -> None:
    assert has_limit("about 500 guests", 6, 9)
    assert has_limit("500 or more guests", 0, 3)
    assert not has_limit("exactly 500 guests", 8, 11)


@pytest.mark.parametrize(
    ("following", "denied"),
    [
        (" has been filled, that in music has not.", True),
        (" may be used, but the small boat may not.", True),
        (" may not be returned.", False),
        (" are not open, since both are reached by stairs.", False),
        (" is open.", False),
    ],
)
def test_negation_after_an_answer_may_concern_another_verb(following: str, denied: bool) -> None:
    assert is_denied_elsewhere(following) is denied
