"""Find what a long text, such as a pasted letter, asks."""

from __future__ import annotations

from rag_core.answering.anaphora import is_dependent
from rag_core.text.noun_phrases import find_names
from rag_core.text.sentences import sentence_spans

# A shorter text is searched for as it is.
LONG_CHARS = 300
# Limits of the text that is searched for: characters of the questions, and names that are added from the rest.
MAX_CHARS, MAX_NAMES = 400, 8


def extract_questions(text: str) -> str:
    """Return the questions of a long text; empty for a short text, and for one that contains no question mark.

    If a question is incomplete without the rest of the text, as "When does it end?" is, names of the rest follow in
    brackets.
    """
    if len(text) < LONG_CHARS:
        return ""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    questions: list[str] = []
    for sentence in sentences:
        if sentence.endswith("?") and sum(map(len, questions)) + len(sentence) <= MAX_CHARS:
            questions.append(sentence)
    if not questions:
        return ""
    joined = " ".join(questions)
    if not any(map(is_dependent, questions)):
        return joined
    rest = " ".join(sentence for sentence in sentences if sentence not in questions)
    names = list(dict.fromkeys(name.text for name in find_names(rest) if name.text not in joined))[:MAX_NAMES]
    return f"{joined.rstrip(' ?')} ({', '.join(names)})?" if names else joined
