"""Select the passages of the document that a question names, if several documents have similar names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rag_core.text.grammar import split_tokens
from rag_core.text.normalize import normalize
from rag_core.text.words import ALPHANUMERIC, stem
from rag_core.types.retrieval import Passage
from rag_core.types.searches import SearchOutcome


def select_passages(outcome: SearchOutcome, passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages of the documents that the question of an outcome names; see `keep_named_documents`."""
    return keep_named_documents(passages, {one.document for one in outcome.passages}, outcome.result.question)


def keep_named_documents(passages: Sequence[Passage], documents: Collection[str], question: str) -> list[Passage]:
    """Return the passages of those documents whose names contain the largest number of words of a question.

    Return all passages if no name contains two words of the question, or if the name of the first passage's document
    contains words of the question that those names lack.

    A question about "the cleaning agreement" means "cleaning_agreement.pdf", and not "lease_agreement.pdf". A question
    about "the statement of 2022" means "2022/statement.pdf", and not "2021/statement.pdf".
    """
    words = {stem(normalize(token.word)) for token in split_tokens(question) if not token.is_function_word}
    names = {
        document: words & {stem(word) for word in ALPHANUMERIC.findall(normalize(document))} for document in documents
    }
    most = max(map(len, names.values()), default=0)
    named = {document for document, contained in names.items() if len(contained) == most}
    covered = set[str]().union(*(names[document] for document in named))
    if not passages or most < 2 or names[passages[0].document] - covered:
        return list(passages)
    return [one for one in passages if one.document in named]
