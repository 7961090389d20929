"""Checks of statements, such as those of a draft, against documents."""

from __future__ import annotations

from rag_core.answering.search import Searcher
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.types.checks import CheckedStatement, Verdict
from rag_core.types.conversations import Scope
from rag_core.types.retrieval import Passage, Timer
from rag_core.types.searches import DEFAULT_CONFIGURATION
from rag_core.verification.attribution import attribute_claims
from rag_core.verification.claims import split_claims
from rag_core.verification.support import create_text_encoder
from rag_core.verification.verified_answer import VerifiedAnswer


class StatementChecker:
    """Compares statements with the passages that a search for them finds, or with a given text.

    Parameters
    ----------
    searcher : Searcher
    generations : IndexGenerations
        The index in use, whose embedder compares words.
    """

    def __init__(self, searcher: Searcher, generations: IndexGenerations) -> None:
        self._searcher = searcher
        self._generations = generations

    @staticmethod
    def split(text: str) -> list[str]:
        """Return the statements of a text in order: its sentences, list items and table rows, without headings."""
        return [text[one.start : one.end] for one in split_claims(text) if one.start < one.end]

    def check(self, statement: str, scope: Scope) -> CheckedStatement:
        """Return what the documents of a scope say about a statement.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, SnapshotError, EmbedderError, IndexMismatch, StoreError
        """
        query = self._searcher.build_query(statement, scope, None, DEFAULT_CONFIGURATION)
        outcome = self._searcher.search(query, Timer())
        encode = create_text_encoder(outcome.ranked.embedder)
        passages = outcome.result.passages
        return _decide(statement, attribute_claims(statement, "", passages, encode) if passages else None)

    def check_pair(self, statement: str, source: str) -> CheckedStatement:
        """Return what a text says about a statement."""
        encode = create_text_encoder(self._generations.active().embedder)
        passage = Passage(1, "", "", "", "", 0, "", 0, 0, len(source), source, "", {})
        return _decide(statement, attribute_claims(statement, "", [passage], encode))


def _decide(statement: str, answer: VerifiedAnswer | None) -> CheckedStatement:
    if answer is None:
        return CheckedStatement(statement, "not_supported")
    marked = next((one for one in answer.statements if one.mark), None)
    citation = next(iter(answer.citations), None)
    if marked is not None:
        verdict: Verdict = "contradicted" if marked.mark == "contradicted" else "not_supported"
        return CheckedStatement(statement, verdict, marked.mark_text, citation)
    is_supported = answer.statements and all(one.supported for one in answer.statements) and not answer.unchecked
    return CheckedStatement(statement, "supported" if is_supported else "unsure", "", citation)
