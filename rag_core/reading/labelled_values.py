"""Find the value of a form, such as "Surname: Berg", that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.reading.answer_types import Kind, contains_kind, find_answer_kind
from rag_core.text.grammar import AUXILIARIES, PREPOSITIONS, find_content_lemmas, split_tokens
from rag_core.types import Passage

# A line is read as a label and a value only if its passage has at least this many such lines. In prose, words before a
# colon are seldom a label.
FEWEST_LINES = 3
# Smallest share of the question's words that the label must contain.
MIN_SHARE = 0.5
_LIMITING = PREPOSITIONS - {"of"}
_ANSWERS = frozenset(("yes", "no"))
_TICKED, _NOT_TICKED = "☒", "☐"
_LINE = re.compile(r"[^\n]+")
_LABELLED = re.compile(r"(?P<label>[^\W\d_][^\n:☐☒.]{1,60}?)(?: ?: ?| ?\.{3,} ?)(?P<value>[^\s.][^\n]*)")
_OPTIONS = re.compile(rf"(?P<label>[^\W\d_][^\n:☐☒]{{1,60}}?) ?:? (?P<value>[{_TICKED}{_NOT_TICKED}][^\n]*)")
_TICK_FIRST = re.compile(rf"(?P<value>[{_TICKED}{_NOT_TICKED}]) (?P<label>[^\n:☐☒]{{2,60}})")
_OPTION = re.compile(rf"{_TICKED} ?([^{_TICKED}{_NOT_TICKED}]+)")


@dataclass(frozen=True, slots=True)
class LabelledValue:
    """A label and its value, and their span in the text of the passage.

    ``value`` is "yes" or "no" for a single box, and the ticked options for several.
    """

    passage: Passage
    label: str
    value: str
    start: int
    end: int


def find_labelled_value(question: str, passages: Sequence[Passage]) -> LabelledValue | None:
    """Return the value whose label is in a question; ``None`` if there is none, or if several values fit.

    All words of the label, or all before a preposition, as in "fee in euros", must be in the question. The other words
    of the question must be in the passage: a form about a boat does not answer a question about a landlord. A yes-no
    question is answered by a box only, and a question for a time by a value with a date.

    Parameters
    ----------
    question : str
    passages : sequence of Passage
        Best first.
    """
    words_asked = split_tokens(question)
    asked = find_content_lemmas(words_asked)
    prepositions = {word.word for word in words_asked if word.word in PREPOSITIONS}
    fitting: dict[frozenset[str], list[LabelledValue]] = {}
    kind = find_answer_kind(question)
    is_yes_no = bool(words_asked) and words_asked[0].word in AUXILIARIES
    for passage in passages:
        known = find_content_lemmas(split_tokens(f"{passage.document} {passage.text}"))
        for value in _find_values(passage):
            if is_yes_no != (value.value in _ANSWERS) or (
                kind is Kind.DATE and not contains_kind(Kind.DATE, value.value, question)
            ):
                continue
            for words in _find_label_words(value.label):
                share = len(words & asked)
                if (
                    words
                    and words <= asked | prepositions
                    and share >= MIN_SHARE * len(asked)
                    and asked <= words | known
                ):
                    fitting.setdefault(words, []).append(value)
                    break
    if not fitting:
        return None
    most = max(fitting, key=len)
    values = fitting[most]
    is_unique = len({" ".join(one.value.split()) for one in values}) == 1
    has_rival = any(words != most and len(words) == len(most) for words in fitting)
    return values[0] if is_unique and not has_rival else None


def _find_values(passage: Passage) -> Iterator[LabelledValue]:
    """Yield the labels and values of a passage if it has enough of them to be a form."""
    found = []
    for line in _LINE.finditer(passage.text):
        for pattern in (_OPTIONS, _TICK_FIRST, _LABELLED):
            if match := pattern.fullmatch(line[0].strip()):
                start = line.start() + len(line[0]) - len(line[0].lstrip())
                value = _read_value(match["value"].strip())
                found.append(LabelledValue(passage, match["label"].strip(), value, start, start + len(match[0])))
                break
    if len(found) >= FEWEST_LINES:
        yield from found


def _read_value(text: str) -> str:
    if text in (_TICKED, _NOT_TICKED):
        return "yes" if text == _TICKED else "no"
    if text[0] in (_TICKED, _NOT_TICKED):
        return ", ".join(option.strip() for option in _OPTION.findall(text))
    return text


def _find_label_words(label: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the lemmas of a label, and those before its preposition, as in "fee in euros".

    A preposition that ends the label, as in "valid until", is one of the words. "Of" does not end the words, because
    in "date of birth" both nouns are needed.
    """
    words = split_tokens(label)
    cut = next((place for place, word in enumerate(words) if place and word.word in _LIMITING), len(words))
    last = {words[-1].word} if cut == len(words) - 1 else frozenset()
    return find_content_lemmas(words) | last, find_content_lemmas(words[:cut]) | last
