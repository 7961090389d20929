"""Replace misspelt words of a question by words that the documents contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rag_core.index.words import WordIndex
from rag_core.text.languages import detect_language
from rag_core.text.spelling import find_words_to_check, is_ordinary_word
from rag_core.text.words import replace_words

# Maximum number of unknown words of a question. With more unknown words, its language probably has no dictionary here.
MAX_UNKNOWN = 2


def correct_spelling(
    question: str, index: WordIndex, find_ranges: Callable[[], Mapping[str, tuple[int, int]] | None]
) -> tuple[str, tuple[str, ...]]:
    """Return a question without typing errors, and a notice for each word that was replaced.

    A word is replaced if the documents and the dictionaries do not contain it, and if exactly one word of the documents
    differs from it by a typing error. For example, "salmon" is in a dictionary, so it does not become "Salomon".

    ``find_ranges`` returns the chunks that are searched, as for `WordIndex.find_words`, or ``None`` for all chunks.
    Words that only other chunks contain are unknown, and do not replace other words.
    """
    words = dict.fromkeys(question[slice(*span)] for span in find_words_to_check(question))
    language = detect_language(question)
    rare = [word for word in words if not is_ordinary_word(word, language)]
    if not rare:
        return question, ()
    ranges = find_ranges()
    unknown = index.find_missing(rare, ranges)
    if len(unknown) > MAX_UNKNOWN:
        return question, ()
    corrected = {word: similar for word in unknown if (similar := index.find_similar_word(word, ranges))}
    notices = (f"Searched for “{similar}” instead of “{word}”." for word, similar in corrected.items())
    return replace_words(question, corrected), tuple(notices)
