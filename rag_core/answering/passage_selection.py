"""Select the passages that may answer a question about one of several similar documents."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import PurePosixPath

from rag_core.text.grammar import split_tokens
from rag_core.text.normalize import normalize
from rag_core.text.words import ALPHANUMERIC, stem
from rag_core.types import Passage
from rag_core.types.searches import SearchOutcome


def select_passages(outcome: SearchOutcome, passages: Sequence[Passage]) -> list[Passage]:
    """Return passages of an outcome without those about a document that only resembles the one in the question.

    A question with two or more words in a row of the names of some documents, such as "the cleaning agreement", is
    about these documents.
    """
    question = outcome.result.question
    kept = _without_other_namesakes(passages, question)
    return keep_named_documents(kept, {one.document for one in outcome.passages}, question)


def keep_named_documents(passages: Sequence[Passage], documents: Collection[str], question: str) -> list[Passage]:
    """Return the passages of the documents whose names contain most words in a row of a question, if two or more.

    Return all passages if the name of the first passage's document contains other words of the question.
    """
    names = {document: {stem(word) for word in ALPHANUMERIC.findall(normalize(document))} for document in documents}
    words = [stem(normalize(token.word)) if not token.is_function else "" for token in split_tokens(question)]
    longest = {document: max(_measure_runs(words, parts)) for document, parts in names.items()}
    most = max(longest.values(), default=0)
    named = {document for document, length in longest.items() if length == most}
    covered = set(words) & set[str]().union(*(names[document] for document in named))
    if not passages or most < 2 or set(words) & names[passages[0].document] - covered:
        return list(passages)
    return [one for one in passages if one.document in named]


def _measure_runs(words: Sequence[str], parts: Collection[str]) -> Iterator[int]:
    """Yield the lengths of the runs of words that are in ``parts``; 0 first."""
    yield 0
    for is_part, run in groupby(words, key=lambda word: bool(word) and word in parts):
        if is_part:
            yield sum(1 for _ in run)


def _without_other_namesakes(passages: Sequence[Passage], question: str) -> list[Passage]:
    """Return the passages without those of documents whose namesake fits the question better.

    Of ``2021/statement.pdf`` and ``2022/statement.pdf``, a question with "2022" is about the second, although both
    documents may contain that number.
    """
    asked = set(ALPHANUMERIC.findall(question.casefold()))
    named = {one.document: len(asked & _folder_words(one.document)) for one in passages}
    most: dict[str, int] = {}
    for document, number in named.items():
        name = PurePosixPath(document).name
        most[name] = max(number, most.get(name, 0))
    return [one for one in passages if named[one.document] == most[PurePosixPath(one.document).name]]


def _folder_words(document: str) -> set[str]:
    return set(ALPHANUMERIC.findall(str(PurePosixPath(document).parent).casefold()))
