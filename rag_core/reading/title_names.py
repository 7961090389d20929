"""Read texts that do not repeat a name because the title of their document contains it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rag_core.text.annotated import AnnotatedText
from rag_core.text.names import annotate, contains_name_form, list_name_words
from rag_core.text.noun_phrases import find_names
from rag_core.text.words import Word
from rag_core.types import Reading

# Arguments: question, texts. Returns an iterator over the readings of the texts.
Read = Callable[[str, Sequence[str]], Iterator[Reading]]

# The ending of a possessive, as in "Acme's" and "General Mills'".
_POSSESSIVE = re.compile(r"['’]s?(?!\w)")
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
    """Return a question with a pronoun instead of each name that the title contains and the text does not.

    Of a name such as "Acme's Bridge Fund", the title may contain only the words up to the possessive.

    >>> replace_title_names("What were Acme's costs in Peru?", "Our costs were 3 million.", "acme_2021.pdf")
    'What were its costs in Peru?'
    """
    said, about = annotate(text), annotate(title)
    parts, end = [], 0
    for name in find_names(question):
        words = list_name_words(question, name)
        endings = [_POSSESSIVE.search(question, word.start, word.end + 1) for word in words]
        owner = next((words[: at + 1] for at, ending in enumerate(endings) if ending), words)
        for named in (words, owner):
            if named and _contain(named, _NO_TEXT, about) and not _contain(named, said, _NO_TEXT):
                ending = endings[len(named) - 1]
                parts += [question[end : name.start], "its" if ending else "it"]
                end = ending.end() if ending else named[-1].end
                break
    return "".join([*parts, question[end:]])


def _contain(name: Sequence[Word], said: AnnotatedText, about: AnnotatedText) -> bool:
    """Return whether a text (``said``) or a title (``about``) contains a form of each word of a name."""
    return all(contains_name_form(word, said, about) for word in name)
