"""Translate the texts, numbers and dates of the pages into the language of the reader's browser.

The texts in the code are English. `pages/languages` has a file of translations for each other language.
The texts of the engine stay English in the database and on the command line; `translate_message` translates them when
a page shows them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from string import Formatter
from typing import Any

import streamlit as st
from babel import Locale, negotiate_locale
from babel.dates import format_date as format_day
from babel.dates import format_skeleton
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import get_decimal_symbol, get_group_symbol
from streamlit.runtime.scriptrunner import get_script_run_ctx

SOURCE = "en"
LANGUAGES = Path(__file__).parents[1] / "languages"
# The context, in the files of languages, of the texts that the engine writes.
ENGINE = "engine"
# Between two sentences of a message.
_GAP = re.compile(r"(?<=[.!?])\s+")
# A template with fewer letters matches too many texts, so it is used only if one of its values is a message that can be
# translated.
_LETTERS = 4
# Maximum number of characters of a message of the engine. Longer texts are not translated.
_MAX_CHARS = 600


def get_language() -> str:
    """Return the code of the browser's language; ``en`` without a file for that language, or outside of a page."""
    is_page = get_script_run_ctx(suppress_warning=True) is not None
    return _choose_language(st.context.locale or SOURCE) if is_page else SOURCE


def _(text: str, /, **values: object) -> str:
    """Return a text in the reader's language, in which values replace ``{names}``; whole numbers are grouped."""
    return _fill(_load_words(get_language()).gettext(text), values)


def ngettext(one: str, many: str, number: int, /, **values: object) -> str:
    """Return ``one`` or ``many`` in the reader's language, depending on the number, which replaces ``{number}``."""
    return _fill(_load_words(get_language()).ngettext(one, many, number), {"number": number, **values})


def N_(text: str) -> str:  # noqa: N802 - the usual name
    """Mark a constant for translation; `_` translates it when it is shown."""
    return text


def _fill(text: str, values: Mapping[str, object]) -> str:
    if not values:
        return text
    shown = {name: format_number(one) if isinstance(one, int) else one for name, one in values.items()}
    return text.format_map(shown)


def translate_message(text: str) -> str:
    """Return a message of the engine in the reader's language; a text without translation stays as it is.

    A message may consist of several sentences, each with a translation, and may contain other messages.
    """
    language = get_language()
    return text if language == SOURCE or len(text) > _MAX_CHARS else _translate_message(text, language)


def translate_chart(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a chart of the engine with its titles in the reader's language."""
    translated = {name: _translate_part(one) for name, one in specification.items() if name != "data"}
    # Without a title, the name of a field is shown.
    title = specification.get("title", specification.get("field"))
    if isinstance(title, str) and (words := translate_message(title)) != title:
        translated["title"] = words
    return translated | ({"data": specification["data"]} if "data" in specification else {})


def _translate_part(value: Any) -> Any:
    if isinstance(value, Mapping):
        return translate_chart(value)
    return [_translate_part(one) for one in value] if isinstance(value, list | tuple) else value


@lru_cache(4096)
def _translate_message(text: str, language: str) -> str:
    for pattern, translation in _load_messages(language):
        if found := pattern.fullmatch(text):
            inner = {name: _translate_inner(value, language) for name, value in found.groupdict().items()}
            # A short template such as "{0} has {1}." also matches other texts.
            if inner != found.groupdict() or not _is_too_general(pattern):
                return translation.format_map(inner)
    for gap in _GAP.finditer(text):
        first = _translate_message(text[: gap.start()], language)
        if first != text[: gap.start()]:
            return first + gap[0] + _translate_message(text[gap.end() :], language)
    return text


def _translate_inner(text: str, language: str) -> str:
    # A value may be the name of a document, and a name of a single word may equal a message.
    return _translate_message(text, language) if " " in text else text


@cache
def _find_language_codes() -> dict[str, str]:
    return {name: code for code, name in Locale.parse(SOURCE).languages.items()}


def translate_language(name: str) -> str:
    """Return the name of a language, given in English, in the reader's language."""
    code = _find_language_codes().get(name, "")
    return str(Locale.parse(get_language()).languages.get(code, name))


def format_number(value: float, decimals: int = 0, sign: str = "") -> str:
    """Return a number with the separators of the reader's language, such as ``18,400``; ``sign`` is as in a format."""
    return f"{value:{sign},.{decimals}f}".translate(_find_separators(get_language()))


def format_date(day: date) -> str:
    """Return a day such as ``23 November 2026``."""
    language = get_language()
    return f"{day:%d %B %Y}" if language == SOURCE else format_day(day, "long", locale=language)


def format_date_and_time(when: datetime) -> str:
    """Return a time such as ``23 Nov 2026, 20:45``."""
    language = get_language()
    if language == SOURCE:
        return f"{when:%d %b %Y, %H:%M}"
    return f"{format_skeleton('yMMMd', when, locale=language)}, {when:%H:%M}"


@cache
def _choose_language(locale: str) -> str:
    known = [SOURCE, *(one.stem for one in LANGUAGES.glob("*.po"))]
    return negotiate_locale([locale], known, sep="-") or SOURCE


@cache
def _read_language(language: str) -> Catalog:
    with (LANGUAGES / f"{language}.po").open("rb") as file:
        return read_po(file)


@cache
def _load_words(language: str) -> NullTranslations:
    if language == SOURCE:
        return NullTranslations()
    compiled = io.BytesIO()
    write_mo(compiled, _read_language(language))
    compiled.seek(0)
    return GNUTranslations(compiled)


@cache
def _load_messages(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return pairs of a pattern and a translation, one for each message of the engine.

    Messages with more characters outside of ``{names}`` come first.
    """
    found = [(str(one.id), str(one.string)) for one in _read_language(language) if one.context == ENGINE]
    found.sort(key=lambda one: -len(re.sub(r"\{[^}]*\}", "", one[0])))
    return [(_compile_template(one), re.sub(r"\{(\d)", r"{n\1", translation)) for one, translation in found]


def _compile_template(template: str) -> re.Pattern[str]:
    """Return a pattern that matches the texts of a template, with a group for each of its ``{names}``."""
    parts, seen = [], set[str]()
    is_sentence = ". " not in template
    for literal, name, *_rest in Formatter().parse(template):
        parts.append(re.escape(literal))
        if name is not None:
            group = f"n{name}" if name.isdecimal() else name
            parts.append(f"(?P={group})" if group in seen else f"(?P<{group}>{_choose_pattern(group)})")
            seen.add(group)
    # A value at the end of a sentence does not extend into the next one.
    pattern = "".join(parts)
    if is_sentence and pattern.endswith(".*?)"):
        pattern = pattern.removesuffix(".*?)") + r"(?:(?!\. ).)*)"
    return re.compile(pattern, re.DOTALL)


def _is_too_general(pattern: re.Pattern[str]) -> bool:
    """Return whether a template has fewer than `_LETTERS` letters, and values that match any text."""
    is_free = bool(pattern.groups) and "number" not in pattern.groupindex
    return is_free and len(re.sub(r"\(\?.*?\)|\W", "", pattern.pattern)) < _LETTERS


def _choose_pattern(group: str) -> str:
    # A value may be empty.
    return r"[\d.,]+" if group == "number" else ".*?"


@cache
def _find_separators(language: str) -> dict[int, int]:
    """Return the translation table from the English separators of numbers to those of a language."""
    locale = Locale.parse(language)
    return str.maketrans(",.", get_group_symbol(locale) + get_decimal_symbol(locale))


def load_languages() -> None:
    """Read the files of all languages, so that no visitor waits for them."""
    for one in LANGUAGES.glob("*.po"):
        _load_words(one.stem)
        _load_messages(one.stem)
