"""Values of a text, and their comparison across forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from rag_core.text.measures import find_unit_after
from rag_core.text.spelled_numbers import SPELLED_LANGUAGES, parse_spelled_numbers
from rag_core.text.values import find_values, is_same_value


def states(said: str, source: str, scales: frozenset[int] = frozenset()) -> bool:
    """Return whether a source states all values of a text."""
    known = find_values(source)
    values = find_values(said)
    return bool(values) and all(any(is_same_value(one, other, scales) for other in known) for one in values)


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("1.7 billion", "1,749 million"),
        ("12 March 2024", "le 12 mars 2024"),
        ("on 12.03.2024", "12 March 2024"),
        ("in March", "12.03.2024"),
        ("in 2024", "12 March 2024"),
        ("on Mondays", "montags und freitags"),
        ("at 2:30 pm", "14:30"),
        ("11:15", "11.15 Uhr"),
        ("1,234.5 kg", "1.234,5 kg"),
        ("dreißig Tage und ein Jahr", "30 Tage"),
        ("valve FT-204-19", "Ventil FT-204-19"),
        ("version 2.4.1", "v2.4.1"),
        ("0.6 to 0.8 Nm", "0.6...0.8 Nm"),
        ("falls from 9.4 to 8.7 percent", "von 9,4 auf 8,7 Prozent"),
    ],
)
def test_value_in_another_form_is_the_same(said: str, source: str) -> None:
    assert states(said, source)


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("600 employees", "500 employees"),
        ("September 31", "September 21"),
        ("12 March 2024", "12 March 2025"),
        ("on Mondays", "on Tuesdays"),
        ("5 %", "5 euros"),
        ("€20", "$20"),
        ("848 billion", "848 million"),
        ("SPE8EF30P0173", "SPE8EF20P0173"),
        ("P100", "V100"),
        ("version 2.4.1", "version 2.4.2"),
        ("11:15", "12:15"),
    ],
)
def test_changed_value_is_another(said: str, source: str) -> None:
    assert not states(said, source)


def test_number_of_a_table_in_thousands_is_the_same() -> None:
    assert states("1,151,000", "1.151", frozenset({3}))


@pytest.mark.parametrize("language", sorted(SPELLED_LANGUAGES))
@given(data=st.data())
def test_spelled_numbers_are_read_in_each_language(language: str, data: st.DataObject) -> None:
    # Larger Italian numbers have two spellings, "centottanta" and "centoottanta".
    number = data.draw(st.integers(2, 99 if language == "it" else 999))
    [found] = parse_spelled_numbers(f"x {num2words(number, lang=language)} y", language)
    assert found.values == {number}


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("45 Minuten", "duration-minute"),
        ("45 minutes", "duration-minute"),
        ("45 min", "duration-minute"),
        ("300 µA", "A-µ"),
        ("300 mA", "A-m"),
        ("5000 m", "length-meter"),
        ("12 widgets", ""),
    ],
)
def test_unit_after_a_number_is_found_by_name_and_symbol(text: str, unit: str) -> None:
    [value] = find_values(text)
    assert find_unit_after(text, value.end) == unit
