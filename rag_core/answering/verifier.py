"""Let a model judge the statements of an answer, if one is chosen for this.

The connected language model judges all statements and can remove the marks of the comparison of values, which cannot
follow every calculation or translation. A local model judges only the statements without a mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.agent_prompt import count_messages
from rag_core.answering.trace import AnswerTrace
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

# Characters of a passage that a language model reads before and after the sentences that statements were compared with.
_AROUND = 1_000
# The same for a local model, whose input is shorter.
_AROUND_LOCAL = 400
# Characters of the beginning of a passage that are read in any case.
_BEGINNING = 200
# Tokens of a verdict with its reason and its passages.
_VERDICT_TOKENS = 50
# Statements of a draft that a language model judges in one call.
_TOGETHER = 8
_NOT_JUDGED = "Statements were checked by their values only"


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement to judge.

    Attributes
    ----------
    answer_index : int
        Index of the answer that contains the statement.
    position : int
        Index of the statement in the answer.
    text : str
        The statement, after the introduction of its list or the header of its table.
    compared : tuple of tuple of Passage and Span
        The sentences that the statement was compared with: a passage, and a span of its text.
    citations : tuple of Citation
        The same sentences as citations.
    passages : mapping of str to Passage
        All passages of the answer, by what identifies them.
    """

    answer_index: int
    position: int
    text: str
    compared: tuple[tuple[Passage, Span], ...]
    citations: tuple[Citation, ...]
    passages: Mapping[tuple[str, str], Passage]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Statements that one call judges, and the messages of the call.

    ``sources`` contains each passage in the messages once, with ranks from 1, by what identifies it.
    """

    statements: tuple[_Statement, ...]
    sources: Mapping[tuple[str, str], Passage]
    messages: list[dict[str, str]]


# A verdict on a statement, with citations of the passages that it names.
_Judged = tuple[_Statement, Verdict, tuple[Citation, ...]]


class Verifier:
    """Judges statements with a model; without one, it changes nothing.

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
    def asks_language_model(self) -> bool:
        """Whether the connected language model judges statements."""
        return self._preferences.model_verifies

    @property
    def statements_per_call(self) -> int:
        """The number of statements of a draft to judge together: several in one call of a language model, or one."""
        return _TOGETHER if self.asks_language_model else 1

    def verify(
        self,
        answers: Sequence[tuple[VerifiedAnswer, Sequence[Passage]]],
        question: str,
        model: LanguageModel | None,
        trace: AnswerTrace,
    ) -> list[VerifiedAnswer]:
        """Return the answers, with marks on the statements that the model does not find supported.

        Parameters
        ----------
        answers : sequence of tuple
            Each answer with the passages that it was checked against. All of them are judged in one call if they fit.
        question : str
        model : LanguageModel, optional
            The language model that judges if it is the verifier.
        trace : AnswerTrace
            Gets the usage, what was judged, and why statements were not judged.
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
        verdicts = (
            _ask(model, question, statements, trace)
            if name == LANGUAGE_MODEL
            else self._classify(name, statements, trace)
        )
        for one, verdict, citations in verdicts:
            checked[one.answer_index] = _apply_verdict(checked[one.answer_index], one, verdict, citations)
        if name != LANGUAGE_MODEL:
            return checked
        judged = Counter(one.answer_index for one, *_ in verdicts)
        # What was not compared, such as a statement about the description of a figure, is undecided for another reason.
        return [
            replace(answer, unchecked=False) if judged[index] == sum(map(bool, answer.compared)) > 0 else answer
            for index, answer in enumerate(checked)
        ]

    def _classify(self, name: str, statements: Sequence[_Statement], trace: AnswerTrace) -> list[_Judged]:
        """Return the negative verdicts of the local model ``name``; what it does not contradict may still be wrong."""
        pairs = [
            ("\n".join(_clip(*place, _AROUND_LOCAL).text for place in one.compared), one.text) for one in statements
        ]
        try:
            supported = self._local_models.entailment_model(name).supports(pairs)
        except VerifierMissing as error:
            _record_failure(error, trace)
            return []
        return [
            (one, Verdict(False), ())
            for one, is_supported in zip(statements, supported, strict=True)
            if not is_supported
        ]


def _list_statements(answer_index: int, answer: VerifiedAnswer, passages: Sequence[Passage]) -> Iterator[_Statement]:
    """Yield the statements of an answer that were compared with a sentence."""
    if answer.refused:
        return
    by_rank = {one.rank: one for one in passages}
    by_key = {_identify(one): one for one in passages}
    described = zip(answer.statements, answer.compared, answer.contexts, strict=True)
    for position, (statement, compared, context) in enumerate(described):
        if compared:
            text = " ".join(strip_markers(answer.text[statement.start : statement.end]).split())
            places = tuple(_locate(one, by_rank[one.passage_rank]) for one in compared)
            yield _Statement(answer_index, position, f"{describe_context(context)}{text}", places, compared, by_key)


def _locate(compared: Citation, passage: Passage) -> tuple[Passage, Span]:
    """Return the passage and the span of a compared sentence in its text, which may continue on the next page."""
    if compared.page_index != passage.page_index:
        return passage, (len(passage.first_page_text), len(passage.text))
    return passage, (compared.start - passage.start, compared.end - passage.start)


def _clip(passage: Passage, span: Span, around: int) -> Passage:
    """Return a passage without struck words, cut to a span with ``around`` characters on each side, and its beginning.

    The beginning often says what a table or a document is about.
    """
    text = remove_struck(passage.text).replace(PAGE_BREAK, " ")
    start, end = max(0, span[0] - around), span[1] + around
    begin = f"{text[:_BEGINNING]} … " if start > _BEGINNING else text[:start]
    return replace(passage, text=f"{begin}{text[start:end]}".strip())


def _ask(
    model: LanguageModel | None, question: str, statements: Sequence[_Statement], trace: AnswerTrace
) -> list[_Judged]:
    """Return the verdicts of a language model; statements without a readable verdict are left out."""
    if model is None or model.capability != "capable":
        trace.notices.append(f"{_NOT_JUDGED}, because this needs a capable model.")
        return []
    token_budget = int(model.profile.filled_tokens * TRUSTED_SHARE) - model.answer_tokens
    most = max(1, model.answer_tokens // _VERDICT_TOKENS)
    judged: list[_Judged] = []
    unreadable = 0
    for batch in _split_into_batches(question, statements, token_budget, most):
        try:
            reply = model.complete(batch.messages, CITED_VERDICTS_SCHEMA)
        except GeneratorError as error:
            _record_failure(error, trace)
            if trace.is_verifier_lost:
                break
            continue
        trace.usage += reply.usage
        trace.steps.append(
            f"{model.name} judged {format_count(len(batch.statements), 'statement')} ({reply.usage.label})"
        )
        found = list(_parse_reply(reply.text, batch))
        judged += found
        unreadable += len(batch.statements) - len(found)
    if unreadable:
        trace.notices.append(f"The model gave no readable verdict on {format_count(unreadable, 'statement')}.")
    return judged


def _parse_reply(reply: str, batch: _Batch) -> Iterator[_Judged]:
    """Yield the verdicts of a reply; one that finds a statement supported must name a passage of its answer."""
    numbers, ranks = range(1, len(batch.statements) + 1), [one.rank for one in batch.sources.values()]
    for number, verdict in parse_verdicts(reply, numbers, ranks).items():
        one = batch.statements[number - 1]
        citations = tuple(_cite_named(one, batch.sources, verdict.ranks))
        if citations or not verdict.positive:
            yield one, verdict, citations


def _cite_named(
    statement: _Statement, sources: Mapping[tuple[str, str], Passage], ranks: Sequence[int]
) -> Iterator[Citation]:
    """Yield citations of the passages that a verdict names: of the sentences compared, or else of the whole passage."""
    for key, source in sources.items():
        passage = statement.passages.get(key)
        if passage and source.rank in ranks:
            sentences = [one for one in statement.citations if one.passage_rank == passage.rank]
            yield from sentences or [Citation.of(passage, 0, len(passage.first_page_text))]


def _record_failure(error: GeneratorError | VerifierMissing, trace: AnswerTrace) -> None:
    """Add a failure of the verifier to the notices, once, and record whether a further call would repeat it."""
    notice = f"{_NOT_JUDGED}. {error}"
    trace.notices += [notice] if notice not in trace.notices else []
    is_lasting = isinstance(error, (GeneratorAuthError, GeneratorTimeout, VerifierMissing)) or error.is_unreachable
    trace.is_verifier_lost = is_lasting


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


def _number_sources(statements: Sequence[_Statement]) -> dict[tuple[str, str], Passage]:
    """Return the passages that statements were compared with, clipped, with ranks from 1, by what identifies them."""
    spans: dict[tuple[str, str], tuple[Passage, Span]] = {}
    for passage, (start, end) in (place for one in statements for place in one.compared):
        _, (first, last) = spans.get(_identify(passage), (passage, (start, end)))
        spans[_identify(passage)] = passage, (min(first, start), max(last, end))
    clipped = [_clip(passage, span, _AROUND) for passage, span in spans.values()]
    return {key: replace(one, rank=rank) for rank, (key, one) in enumerate(zip(spans, clipped, strict=True), 1)}


def _format_ranks(statement: _Statement, sources: Mapping[tuple[str, str], Passage]) -> str:
    ranks = dict.fromkeys(str(sources[_identify(passage)].rank) for passage, _ in statement.compared)
    return ", ".join(ranks)


def _identify(passage: Passage) -> tuple[str, str]:
    return passage.version_id, passage.text


def _apply_verdict(
    answer: VerifiedAnswer, one: _Statement, verdict: Verdict, citations: Sequence[Citation]
) -> VerifiedAnswer:
    """Return an answer in which a statement is supported and cited, without a mark, or is marked as judged unsupported.

    A mark of the comparison of values stays if the model agrees with it, because it is more precise.
    """
    if verdict.positive:
        known = {cited.marker for cited in one.citations} if answer.statements[one.position].supported else set()
        answer = cite_statement(answer, one.position, [cited for cited in citations if cited.marker not in known])
    statements = list(answer.statements)
    statement = statements[one.position]
    if verdict.positive:
        changed = replace(statement, supported=True, mark="", source_value="", compared_rank=0)
    elif statement.mark:
        return answer
    else:
        rank = statement.compared_rank or answer.compared[one.position][0].passage_rank
        reason = verdict.reason.rstrip(".")
        changed = replace(statement, supported=False, mark="judged", source_value=reason, compared_rank=rank)
    statements[one.position] = changed
    return replace(answer, statements=tuple(statements))
