"""Select the passages that may answer a question about a code, or about one of several documents of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from rag_core.text.identifiers import contains_identifier, find_identifiers, is_about_similar
from rag_core.text.words import ALPHANUMERIC
from rag_core.types import Passage
from rag_core.types.searches import SearchOutcome


def select_passages(outcome: SearchOutcome) -> list[Passage]:
    """Return the passages without those about a code or a document that only resembles the one in the question.

    If no passage contains the code of the question and the first one is about a similar code, there is no answer.
    """
    question = outcome.result.question
    identifiers = find_identifiers(question)
    passages = _without_other_namesakes(outcome.result.passages, question)
    if any(contains_identifier(one.text, identifiers) for one in passages):
        return [one for one in passages if not is_about_similar(one.text, identifiers)]
    codes = [one for one in identifiers if not one.isdecimal()]
    return [] if passages and is_about_similar(passages[0].text, codes) else passages


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
