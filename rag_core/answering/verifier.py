"""Verify the statements of an answer with a model, if one is chosen for this: the verifier.

The connected language model verifies all statements and can remove the marks of the comparison of values, which cannot
follow every calculation or translation. A local model verifies only the statements without a mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rag_core.answering.agent_prompt import count_messages
from rag_core.answering.trace import MAX_VERIFIER_FAILURES, AnswerTrace
from rag_core.errors import GeneratorAuthError, GeneratorError, GeneratorTimeout, VerifierMissing
from rag_core.llm.context_budget import TRUSTED_SHARE
from rag_core.llm.generator import LanguageModel
from rag_core.llm.judge_prompts import CITED_VERDICTS_SCHEMA, build_statement_messages, parse_verdicts
from rag_core.runtime.models import LocalModels
from rag_core.runtime.preferences import LANGUAGE_MODEL, Preferences
from rag_core.text.struck import remove_struck
from rag_core.types.answers import Citation, strip_markers
from rag_core.types.chunks import PAGE_BREAK
from rag_core.types.formatting import format_count
from rag_core.types.judgements import Verdict
from rag_core.types.retrieval import Passage
from rag_core.types.tables import Span
from rag_core.verification.claims import describe_context
from rag_core.verification.verified_answer import VerifiedAnswer, cite_statement

# Number of characters that are read before and after the compared sentences of a passage, by a language model and by a
# local model, whose input is shorter.
_AROUND, _AROUND_LOCAL = 1_000, 400
# Number of characters of the beginning of a passage that are read in any case.
_BEGINNING = 200
# Maximum number of tokens of a verdict with its reason and its passages, also in languages with many tokens a word.
_VERDICT_TOKENS = 90
# Number of statements of a draft that a language model verifies in one call.
_BATCH_SIZE = 8
# Beginning of the notice about a failure of the verifier.
NOT_VERIFIED = "Statements without a verdict of the model were checked by their values only."
# The key of a passage: its version, its page, its start on the page, and its text.
_PassageKey = tuple[str, int, int, str]


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement to verify.

    Attributes
    ----------
    answer_index : int
        Index of the answer that contains the statement.
    position : int
        Index of the statement in the answer.
    text : str
        The statement, after the introduction of its list or the header of its table.
    citations : tuple of Citation
        The sentences that the statement was compared with.
    places : tuple of tuple of Passage and Span
        The same sentences as spans of the texts of passages.
    passages : mapping of tuple to Passage
        All passages of the answer, by their keys.
    """

    answer_index: int
    position: int
    text: str
    citations: tuple[Citation, ...]
    places: tuple[tuple[Passage, Span], ...]
    passages: Mapping[_PassageKey, Passage]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Statements that one call verifies, their sources with ranks from 1, and the messages of the call."""

    statements: tuple[_Statement, ...]
    sources: Mapping[_PassageKey, Passage]
    messages: list[dict[str, str]]


class _CitedVerdict(NamedTuple):
    """A verdict on a statement, with citations of the passages that it names."""

    statement: _Statement
    verdict: Verdict
    citations: tuple[Citation, ...] = ()


class Verifier:
    """Verifies statements with a model; without a model, answers do not change.

    Parameters
    ----------
    preferences : Preferences
        Names the model.
    local_models : LocalModels
    """

    def __init__(self, preferences: Preferences, local_models: LocalModels) -> None:
        self._preferences = preferences
        self._local_models = local_models

    @property
    def is_language_model(self) -> bool:
        """Whether the verifier is the connected language model."""
        return self._preferences.model_verifies

    @property
    def batch_size(self) -> int:
        """The number of statements of a draft to verify together: several in one call of a language model, or one."""
        return _BATCH_SIZE if self.is_language_model else 1

    def verify(
        self,
        answers: Sequence[tuple[VerifiedAnswer, Sequence[Passage]]],
        question: str,
        model: LanguageModel | None,
        trace: AnswerTrace,
    ) -> list[VerifiedAnswer]:
        """Return the answers with the verdicts of the model: it can set marks, and a language model can remove them.

        Parameters
        ----------
        answers : sequence of tuple
            Each answer with the passages that it was checked against. All are verified in one call if they fit.
        question : str
        model : LanguageModel, optional
            The language model, which is asked if it is the verifier.
        trace : AnswerTrace
            Records the usage, which statements were verified, and why others were not.
        """
        checked = [answer for answer, _ in answers]
        name = self._preferences.verifier
        if name is None:
            return checked
        statements = [
            one
            for index, (answer, passages) in enumerate(answers)
            for one in _list_statements(index, answer, passages)
            if name == LANGUAGE_MODEL or not answer.statements[one.position].mark
        ]
        if not statements or trace.is_verifier_lost:
            return checked
        if name == LANGUAGE_MODEL and trace.is_model_lost:
            trace.notices.append(NOT_VERIFIED)
            return checked
        verdicts = (
            _verify_with_language_model(model, question, statements, trace)
            if name == LANGUAGE_MODEL
            else self._verify_locally(name, statements, trace)
        )
        for one in verdicts:
            index = one.statement.answer_index
            checked[index] = _apply_verdict(checked[index], one)
        if name != LANGUAGE_MODEL:
            return checked
        decided = Counter(one.statement.answer_index for one in verdicts)
        # Statements that were not compared, such as those about the description of a figure, need no verdict.
        return [
            replace(answer, unchecked=False) if decided[index] == sum(map(bool, answer.compared)) > 0 else answer
            for index, answer in enumerate(checked)
        ]

    def _verify_locally(self, name: str, statements: Sequence[_Statement], trace: AnswerTrace) -> list[_CitedVerdict]:
        """Return the negative verdicts of the local model ``name``; its positive verdicts are not certain enough."""
        pairs = [
            ("\n".join(_clip_passage(*place, _AROUND_LOCAL).text for place in one.places), one.text)
            for one in statements
        ]
        try:
            supported = self._local_models.verifier(name).supports(pairs)
        except VerifierMissing as error:
            _record_failure(error, trace)
            return []
        return [
            _CitedVerdict(one, Verdict(False))
            for one, is_supported in zip(statements, supported, strict=True)
            if not is_supported
        ]


def _list_statements(answer_index: int, answer: VerifiedAnswer, passages: Sequence[Passage]) -> Iterator[_Statement]:
    """Yield the statements of an answer that were compared with a sentence."""
    if answer.refused:
        return
    by_rank = {one.rank: one for one in passages}
    by_key = {_build_key(one): one for one in passages}
    described = zip(answer.statements, answer.compared, answer.contexts, strict=True)
    for position, (statement, compared, context) in enumerate(described):
        if compared:
            text = " ".join(strip_markers(answer.text[statement.start : statement.end]).split())
            sources = [(one, by_rank[one.passage_rank]) for one in compared]
            places = tuple((passage, _find_span(one, passage)) for one, passage in sources)
            yield _Statement(answer_index, position, f"{describe_context(context)}{text}", compared, places, by_key)


def _find_span(citation: Citation, passage: Passage) -> Span:
    """Return the span of a cited sentence in the text of its passage, which may continue on the next page."""
    if citation.page_index != passage.page_index:
        return len(passage.first_page_text), len(passage.text)
    return citation.start - passage.start, citation.end - passage.start


def _clip_passage(passage: Passage, span: Span, around: int) -> Passage:
    """Return a passage without struck words, cut to its beginning and a span with ``around`` characters on each side.

    The beginning often says what a table or a document is about.
    """
    text = remove_struck(passage.text).replace(PAGE_BREAK, " ")
    start, end = max(0, span[0] - around), span[1] + around
    begin = f"{text[:_BEGINNING]} … " if start > _BEGINNING else text[:start]
    return replace(passage, text=f"{begin}{text[start:end]}".strip())


def _verify_with_language_model(
    model: LanguageModel | None, question: str, statements: Sequence[_Statement], trace: AnswerTrace
) -> list[_CitedVerdict]:
    """Return the verdicts of a language model; statements without a usable verdict are left out."""
    if model is None or model.capability != "capable":
        trace.notices.append("Statements were checked by their values only, because this needs a capable model.")
        return []
    token_budget = int(model.profile.filled_tokens * TRUSTED_SHARE) - model.answer_tokens
    most = max(1, model.answer_tokens // _VERDICT_TOKENS)
    verdicts: list[_CitedVerdict] = []
    missing = 0
    for batch in _split_into_batches(question, statements, token_budget, most):
        try:
            reply = model.complete(batch.messages, CITED_VERDICTS_SCHEMA)
        except GeneratorError as error:
            _record_failure(error, trace)
            if trace.is_verifier_lost:
                break
            continue
        trace.verifier_failures = 0
        trace.usage += reply.usage
        trace.steps.append(
            f"{model.name} judged {format_count(len(batch.statements), 'statement')} ({reply.usage.label})"
        )
        found = list(_parse_reply(reply.text, batch))
        verdicts += found
        missing += len(batch.statements) - len(found)
    if missing:
        trace.notices.append(f"The model gave no usable verdict on {format_count(missing, 'statement')}.")
    return verdicts


def _parse_reply(reply: str, batch: _Batch) -> Iterator[_CitedVerdict]:
    """Yield the verdicts of a reply. A positive verdict must name a passage of the statement's answer."""
    numbers, ranks = range(1, len(batch.statements) + 1), [one.rank for one in batch.sources.values()]
    for number, verdict in parse_verdicts(reply, numbers, ranks).items():
        one = batch.statements[number - 1]
        citations = tuple(_cite_named(one, batch.sources, verdict.ranks))
        if citations or not verdict.positive:
            yield _CitedVerdict(one, verdict, citations)


def _cite_named(
    statement: _Statement, sources: Mapping[_PassageKey, Passage], ranks: Sequence[int]
) -> Iterator[Citation]:
    """Yield citations of the passages that a verdict names: of the sentences compared, or else of the whole passage."""
    for key, source in sources.items():
        passage = statement.passages.get(key)
        if passage and source.rank in ranks:
            sentences = [one for one in statement.citations if one.passage_rank == passage.rank]
            yield from sentences or _cite_whole(passage)


def _cite_whole(passage: Passage) -> Iterator[Citation]:
    """Yield a citation of the text of a passage on each of its pages.

    A passage has only the label of its first page. If that label is not the number of the page, the label of the
    second page is unknown, and only the first page is cited.
    """
    first, _, rest = passage.text.partition(PAGE_BREAK)
    yield Citation.of(passage, 0, len(first))
    if rest and passage.page_label == str(passage.page_index + 1):
        label, start = str(passage.page_index_end + 1), passage.end - len(rest)
        next_page = replace(passage, page_index=passage.page_index_end, page_label=label, start=start, text=rest)
        yield Citation.of(next_page, 0, len(rest))


def _record_failure(error: GeneratorError | VerifierMissing, trace: AnswerTrace) -> None:
    """Add a failure of the verifier to the notices, once, and count it; a lasting one ends the calls at once."""
    notice = f"{NOT_VERIFIED} {error}"
    trace.notices += [notice] if notice not in trace.notices else []
    is_lasting = isinstance(error, (GeneratorAuthError, GeneratorTimeout, VerifierMissing)) or error.is_unreachable
    trace.verifier_failures = MAX_VERIFIER_FAILURES if is_lasting else trace.verifier_failures + 1


def _split_into_batches(
    question: str, statements: Sequence[_Statement], token_budget: int, most: int
) -> Iterator[_Batch]:
    """Yield batches of at most ``most`` statements whose prompts fit; a statement that is too long is a batch alone."""
    batch: _Batch | None = None
    for one in statements:
        larger = _build_batch(question, (*batch.statements, one) if batch else (one,))
        if batch and (len(larger.statements) > most or count_messages(larger.messages) > token_budget):
            yield batch
            larger = _build_batch(question, (one,))
        batch = larger
    if batch:
        yield batch


def _build_batch(question: str, statements: tuple[_Statement, ...]) -> _Batch:
    sources = _number_sources(statements)
    texts = [f"{one.text} (passage {_format_ranks(one, sources)})" for one in statements]
    return _Batch(statements, sources, build_statement_messages(question, [*sources.values()], texts, is_cited=True))


def _number_sources(statements: Sequence[_Statement]) -> dict[_PassageKey, Passage]:
    """Return the passages that statements were compared with, clipped, with ranks from 1, by their keys."""
    spans: dict[_PassageKey, tuple[Passage, Span]] = {}
    for passage, (start, end) in (place for one in statements for place in one.places):
        _, (first, last) = spans.get(_build_key(passage), (passage, (start, end)))
        spans[_build_key(passage)] = passage, (min(first, start), max(last, end))
    clipped = [_clip_passage(passage, span, _AROUND) for passage, span in spans.values()]
    return {key: replace(one, rank=rank) for rank, (key, one) in enumerate(zip(spans, clipped, strict=True), 1)}


def _format_ranks(statement: _Statement, sources: Mapping[_PassageKey, Passage]) -> str:
    ranks = dict.fromkeys(str(sources[_build_key(passage)].rank) for passage, _ in statement.places)
    return ", ".join(ranks)


def _build_key(passage: Passage) -> _PassageKey:
    return passage.version_id, passage.page_index, passage.start, passage.text


def _apply_verdict(answer: VerifiedAnswer, one: _CitedVerdict) -> VerifiedAnswer:
    """Return an answer with a verdict on a statement.

    After a positive verdict, the statement is supported and cited, without a mark. After a negative verdict, it is
    marked as not supported; a mark of the comparison of values stays, because it is more precise.
    """
    position = one.statement.position
    statement = answer.statements[position]
    if one.verdict.positive:
        cited = {citation.marker for citation in one.statement.citations} if statement.supported else set()
        new = [citation for citation in one.citations if citation.marker not in cited]
        # The passage that the comparison of values found to contradict the statement does not support it.
        without = statement.compared_rank if statement.mark == "contradicted" else 0
        answer = cite_statement(answer, position, new, without=without)
        statement = answer.statements[position]
        changed = replace(statement, supported=True, mark="", source_value="", compared_rank=0)
    elif statement.mark:
        return answer
    else:
        rank = statement.compared_rank or one.statement.citations[0].passage_rank
        reason = one.verdict.reason.rstrip(".")
        changed = replace(statement, supported=False, mark="judged", source_value=reason, compared_rank=rank)
    statements = (*answer.statements[:position], changed, *answer.statements[position + 1 :])
    return replace(answer, statements=statements)
