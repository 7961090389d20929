"""Check statements, such as the sentences of a draft, against documents."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from rag_core.answering.check_export import export_csv, list_check_blocks
from rag_core.answering.export import write_markdown, write_pdf
from rag_core.answering.search import Searcher
from rag_core.answering.trace import AnswerTrace
from rag_core.answering.verifier import Verifier
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.settings import Settings
from rag_core.types.checks import CheckedStatement, Verdict
from rag_core.types.conversations import Scope
from rag_core.types.protocols import ModelIdentity, TextEncoder
from rag_core.types.retrieval import Passage, Timer
from rag_core.types.searches import DEFAULT_CONFIGURATION, MAX_QUESTION_CHARS
from rag_core.verification.attribution import attribute_claims
from rag_core.verification.claims import Context, TableHeader, split_claims
from rag_core.verification.support import create_text_encoder
from rag_core.verification.verified_answer import VerifiedAnswer

# Number of statements that are searched for at the same time.
_AHEAD = 2
# Number of texts whose token vectors are cached: statements of a draft are often compared with the same passages.
_KEPT_TEXTS = 256


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """A statement of a draft, with the introduction of its list or the header of its table, if any."""

    text: str
    context: Context | None = None


class StatementChecker:
    """Compares statements with the passages that a search for them finds, or with a given text.

    Parameters
    ----------
    settings : Settings
    searcher : Searcher
    generations : IndexGenerations
        The embedder of the active index compares words.
    models : LanguageModels
        The language model verifies statements if the setting ``verifier`` says so.
    verifier : Verifier
    """

    def __init__(
        self,
        settings: Settings,
        searcher: Searcher,
        generations: IndexGenerations,
        models: LanguageModels,
        verifier: Verifier,
    ) -> None:
        self._settings = settings
        self._models = models
        self._verifier = verifier
        self._searcher = searcher
        self._generations = generations

    @staticmethod
    def split(text: str) -> list[DraftStatement]:
        """Return the statements of a text in order: its sentences, list items and table rows, without headings."""
        claims = (one for one in split_claims(text) if one.start < one.end)
        return [DraftStatement(text[one.start : one.end], one.context) for one in claims]

    def check(self, statement: str, scope: Scope) -> CheckedStatement:
        """Return what the documents of a scope say about a statement.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, SnapshotError, EmbedderError, IndexMismatch, StoreError
        """
        return next(self.check_all([DraftStatement(statement)], scope))

    def check_all(self, statements: Sequence[DraftStatement], scope: Scope) -> Generator[CheckedStatement, None, None]:
        """Yield what the documents of a scope say about each statement, in order, while the next ones are checked.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, SnapshotError, EmbedderError, IndexMismatch, StoreError
        """
        encoders: dict[ModelIdentity, TextEncoder] = {}

        def check(statement: DraftStatement) -> _ComparedStatement:
            # The text of a search is limited, so only the beginning of a long statement is searched for.
            words = f"{statement.context.text}: {statement.text}" if statement.context else statement.text
            query = self._searcher.build_query(words[:MAX_QUESTION_CHARS], scope, None, DEFAULT_CONFIGURATION)
            outcome = self._searcher.search(replace(query, gated=False), Timer())
            embedder = outcome.ranked.embedder
            encode = encoders.setdefault(embedder.identity, lru_cache(_KEPT_TEXTS)(create_text_encoder(embedder)))
            return _compare(statement, outcome.result.passages, encode)

        remaining = iter(statements)
        with ThreadPoolExecutor(_AHEAD, "check") as pool:
            running: deque[Future[_ComparedStatement]] = deque(
                pool.submit(check, one) for one in islice(remaining, 2 * _AHEAD)
            )
            batch: list[_ComparedStatement] = []
            trace = AnswerTrace()
            try:
                while running:
                    batch.append(running.popleft().result())
                    running.extend(pool.submit(check, one) for one in islice(remaining, 1))
                    if not running or len(batch) == self._verifier.batch_size:
                        trace = AnswerTrace(verifier_failures=trace.verifier_failures)
                        yield from self._verify_batch(batch, trace)
                        batch = []
            finally:
                pool.shutdown(cancel_futures=True)

    def export_markdown(self, checked: Sequence[CheckedStatement]) -> str:
        """Return checked statements as Markdown."""
        return write_markdown(self._settings, list_check_blocks(checked))

    def export_pdf(self, checked: Sequence[CheckedStatement]) -> bytes:
        """Return checked statements as a PDF."""
        return write_pdf(self._settings, list_check_blocks(checked))

    def export_csv(self, checked: Sequence[CheckedStatement]) -> bytes:
        """Return checked statements as CSV with a row for each."""
        return export_csv(self._settings, checked)

    def check_pairs(self, pairs: Iterable[tuple[str, str]]) -> Iterator[CheckedStatement]:
        """Yield what the text says about the statement, for each pair of a statement and a text."""
        encode = create_text_encoder(self._generations.active().embedder)
        trace = AnswerTrace()
        for statement, source in pairs:
            passage = Passage(1, "", "", "", "", 0, "", 0, 0, len(source), source, "", {})
            trace = AnswerTrace(verifier_failures=trace.verifier_failures)
            yield from self._verify_batch([_compare(DraftStatement(statement), [passage], encode)], trace)

    def _verify_batch(self, batch: Sequence[_ComparedStatement], trace: AnswerTrace) -> Iterator[CheckedStatement]:
        """Yield the results of statements, verified together; the first has the usage and notices."""
        pairs = [(one.answer, one.passages) for one in batch]
        model = self._models.active() if self._verifier.is_language_model else None
        answers = self._verifier.verify(pairs, "", model, trace)
        for place, (one, answer) in enumerate(zip(batch, answers, strict=True)):
            result = _build_result(one.statement, answer, one.passages)
            yield replace(result, usage=trace.usage, notices=tuple(trace.notices)) if not place else result


@dataclass(frozen=True, slots=True)
class _ComparedStatement:
    """A statement, the passages that it was compared with, and the result of the comparison."""

    statement: str
    answer: VerifiedAnswer
    passages: Sequence[Passage]


def _compare(statement: DraftStatement, passages: Sequence[Passage], encode: TextEncoder) -> _ComparedStatement:
    # Between vertical bars, a row is one statement even if it contains a full stop.
    text = f"| {statement.text} |" if isinstance(statement.context, TableHeader) else statement.text
    answer = attribute_claims(text, "", passages, encode, statement.context) if passages else VerifiedAnswer(text)
    return _ComparedStatement(statement.text, answer, passages)


def _build_result(statement: str, answer: VerifiedAnswer, passages: Sequence[Passage]) -> CheckedStatement:
    if not passages:
        return CheckedStatement(statement, "not_supported")
    marked = next((one for one in answer.statements if one.mark), None)
    citation = next(iter(answer.citations), None)
    passage = next((one for one in passages if citation and one.rank == citation.passage_rank), None)
    if marked is not None:
        verdict: Verdict = "contradicted" if marked.mark == "contradicted" else "not_supported"
        by_verifier = marked.mark == "judged"
        return CheckedStatement(statement, verdict, marked.mark_text, citation, passage, is_by_verifier=by_verifier)
    is_supported = answer.statements and all(one.supported for one in answer.statements) and not answer.unchecked
    return CheckedStatement(statement, "supported" if is_supported else "unsure", "", citation, passage)
