"""Read texts that do not repeat a name because the title of their document contains it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rag_core.text.annotated import AnnotatedText
from rag_core.text.grammar import AUXILIARIES, BE, FUNCTION_WORDS
from rag_core.text.languages import detect_language
from rag_core.text.names import annotate, contains_name_form, is_question_word
from rag_core.text.noun_phrases import find_names
from rag_core.text.words import Word
from rag_core.types import Reading

# Arguments: question, texts. Returns an iterator over the readings of the texts.
Read = Callable[[str, Sequence[str]], Iterator[Reading]]

# The ending of a possessive, as in "Acme's" and "General Mills'".
_POSSESSIVE = re.compile(r"['’]s?(?!\w)")
# "Did Acme sell" has a verb after the name, but "were Acme shares" has a noun.
_AUXILIARY = re.compile(rf"\b(?:{'|'.join(sorted(AUXILIARIES - BE))})\s+$", re.IGNORECASE)
_WORD_AFTER = re.compile(r"\s+([a-z][\w-]*)")
_ARTICLE = re.compile(r"the\s+", re.IGNORECASE)
# A number or another name after a name, as in "the Acme protocol V1.2".
_GOES_ON = re.compile(r"\s+[A-Z0-9]")
_NO_TEXT = AnnotatedText("")


def read_titled_texts(
    question: str, texts: Sequence[str], titles: Sequence[str], read: Read
) -> list[tuple[Reading, bool]]:
    """Return the reading of each text, and whether its title stands for a name in the question.

    The reading model gives a low probability to a text without a name of the question. Where the title contains the
    name, the text is read with a pronoun in the question instead.

    Parameters
    ----------
    question : str
    texts, titles : sequence of str
        ``titles`` contains the title of the document of each text.
    read : callable
        Arguments: question, texts. Returns an iterator over the readings of the texts.
    """
    questions = [replace_title_names(question, text, title) for text, title in zip(texts, titles, strict=True)]
    groups = {one: [at for at, other in enumerate(questions) if other == one] for one in dict.fromkeys(questions)}
    # All calls are made before the first result is awaited, so that the model reads the groups at the same time.
    running = [(places, read(one, [texts[at] for at in places])) for one, places in groups.items()]
    readings = {at: reading for places, found in running for at, reading in zip(places, found, strict=True)}
    return [(readings[at], one != question) for at, one in enumerate(questions)]


def replace_title_names(question: str, text: str, title: str) -> str:
    """Return an English question with a pronoun instead of each name that the title contains and the text does not.

    Of a name such as "Acme's Bridge Fund", the title may contain only the words up to the possessive. A name before a
    noun, as in "Acme shares", is left out.

    >>> replace_title_names("What were Acme's costs in Peru?", "Our costs were 3 million.", "acme_2021.pdf")
    'What were its costs in Peru?'
    """
    if detect_language(question):
        return question
    said, about = annotate(text), annotate(title)
    parts, position = [], 0
    for start, end in _list_names(question):
        words = [one for one in annotate(question).words if start <= one.start < end and not is_question_word(one)]
        if _contain(words, _NO_TEXT, about) and not _contain(words, said, _NO_TEXT):
            stand_in, first, last = _choose_stand_in(question, start, end)
            parts += [question[position:first], stand_in]
            position = last
    return "".join([*parts, question[position:]])


def _list_names(question: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the names without digits, up to the possessive and with its ending."""
    for name in find_names(question):
        owner = _POSSESSIVE.search(question, name.start, name.end + 2)
        end = owner.end() if owner else name.end
        has_digit = any(char.isdigit() for char in question[name.start : end])
        if not has_digit and (owner or not _GOES_ON.match(question, end)):
            yield name.start, end


def _choose_stand_in(question: str, start: int, end: int) -> tuple[str, int, int]:
    """Return what stands for a name, and the span that it replaces."""
    if _POSSESSIVE.search(question, start, end):
        return "its", start, end
    article = _ARTICLE.match(question, start, end)
    noun = _WORD_AFTER.match(question, end)
    if noun and noun[1] not in FUNCTION_WORDS and (article or not _AUXILIARY.search(question, 0, start)):
        return "", article.end() if article else start, noun.start(1)
    return "it", start, end


def _contain(name: Sequence[Word], said: AnnotatedText, about: AnnotatedText) -> bool:
    """Return whether a text (``said``) or a title (``about``) contains a form of each word of a name."""
    return all(contains_name_form(word, said, about) for word in name)
