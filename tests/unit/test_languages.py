"""The files of languages: complete, without texts that are gone, and with the values of the English texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Message

from pages.shared.translation import ENGINE, LANGUAGES
from tests.support.messages import build_updated, collect_templates, collect_texts, read_language

FILES = sorted(LANGUAGES.glob("*.po"))
# What a translation must keep: values, icons and badges, bold text and code.
_KEPT = re.compile(r"\{\w*|:[a-z]+/\w+:|:[a-z]+-badge|\*\*|`[^`]+`")


def _pair(message: Message) -> list[tuple[str, str]]:
    """Return each form of a text with its translation."""
    if isinstance(message.id, tuple):
        one, many = message.id
        return [(one if not place else many, text) for place, text in enumerate(message.string)]
    return [(str(message.id), str(message.string))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_language_has_all_texts_and_no_others(path: Path) -> None:
    """`python -m tests.support.messages` brings a file up to date."""
    assert path.read_bytes() == build_updated(path), "run python -m tests.support.messages"
    language = read_language(path)
    found = {one.id: one for one in language if one.id and one.context is None}
    assert found.keys() == {one.id for one in collect_texts() if one.id}
    assert {one.id for one in language if one.context == ENGINE} <= collect_templates()
    for message in (one for one in language if one.id):
        assert not message.fuzzy, message.id
        assert not isinstance(message.id, tuple) or len(message.string) == language.num_plurals, message.id
        for text, translation in _pair(message):
            assert translation.strip(), text
            kept, values = set(_KEPT.findall(translation)), set(_KEPT.findall(text))
            assert kept == values or (message.context == ENGINE and kept <= values), (text, translation)
            blanks = [(one[0] == " ", one[-1] == " ") for one in (text, translation)]
            assert blanks[0] == blanks[1] or message.context == ENGINE, text
