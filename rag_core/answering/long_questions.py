"""Extract the questions from a long text, such as a pasted letter."""

from __future__ import annotations

import re

from rag_core.answering.anaphora import is_dependent
from rag_core.text.grammar import WH
from rag_core.text.proper_names import find_names
from rag_core.text.sentences import find_sentence_spans

# Minimum number of characters of a long text. A shorter text is one question.
LONG_CHARS = 300
# Maximum numbers of questions of a text, of characters of a question, and of names that are added to a question.
MAX_QUESTIONS, MAX_CHARS, MAX_NAMES = 6, 400, 8
# A request without a question mark, such as "I would like to know when the office opens."
_REQUEST = re.compile(
    r"\b(?:I|we)(?: would|['’]d| should) (?:like|love|be (?:glad|happy)) to (?:know|ask|hear|learn|find out)\b|"
    r"\b(?:I|we) (?:wonder|need to know|want to know)\b|\b(?:am|['’]m|are|['’]re) (?:wondering|curious)\b|"
    r"\b(?:tell|inform|show) (?:me|us)\b|\blet (?:me|us) know\b|\b(?:my|our) question is\b|\badvise (?:me|us)?\b",
    re.IGNORECASE,
)
_ASKED = re.compile(rf"\b(?:{'|'.join(sorted(WH))}|whether|if)\b", re.IGNORECASE)


def extract_questions(text: str) -> list[str]:
    """Return the questions and requests of a long text, in order; an empty list for a short text.

    If a question is incomplete without the rest of the text, as in "When does it end?", names from the rest of the text
    are added to it in brackets.
    """
    if len(text) < LONG_CHARS:
        return []
    sentences = [text[start:end] for start, end in find_sentence_spans(text)]
    questions = [one for one in sentences if len(one) <= MAX_CHARS and _is_question(one)][:MAX_QUESTIONS]
    if not any(map(is_dependent, questions)):
        return questions
    rest = " ".join(sentence for sentence in sentences if sentence not in questions)
    names = list(dict.fromkeys(name.text for name in find_names(rest)))
    return [_add_names(question, names) if is_dependent(question) else question for question in questions]


def _is_question(sentence: str) -> bool:
    request = _REQUEST.search(sentence)
    return sentence.endswith("?") or bool(request and _ASKED.search(sentence, request.end()))


def _add_names(question: str, names: list[str]) -> str:
    added = [name for name in names if name not in question][:MAX_NAMES]
    return f"{question.rstrip(' ?.')} ({', '.join(added)})?" if added else question
