"""Let a model judge the statements in which a comparison of values finds nothing wrong, if ``RAG_VERIFIER`` is set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.trace import AnswerTrace
from rag_core.errors import GeneratorError, VerifierMissing
from rag_core.llm.context_budget import PER_MESSAGE, TRUSTED_SHARE, count_prompt_tokens, count_tokens, pack_batches
from rag_core.llm.generator import LanguageModel
from rag_core.llm.judge_prompts import VERDICTS_SCHEMA, build_statement_messages, parse_verdicts
from rag_core.runtime.models import LocalModels
from rag_core.settings import Settings
from rag_core.types.answers import Citation, strip_markers
from rag_core.types.formatting import format_count
from rag_core.types.retrieval import Passage
from rag_core.verification.verified_answer import VerifiedAnswer

# The value of ``RAG_VERIFIER`` that stands for the connected language model; other values name a local model.
LANGUAGE_MODEL = "model"
# Characters of the passage that the model reads before and after the sentence that a statement was compared with.
_AROUND = 400
# Statements of a draft that a language model judges in one call.
_TOGETHER = 8
_NOT_JUDGED = "Statements were checked by their values only"


@dataclass(frozen=True, slots=True)
class _Undecided:
    """A statement to judge.

    Attributes
    ----------
    answer_index : int
        Index of the answer that contains the statement.
    position : int
        Index of the statement in the answer.
    text : str
    evidence : tuple of Passage
        The parts of passages that the statement was compared with.
    """

    answer_index: int
    position: int
    text: str
    evidence: tuple[Passage, ...]


class Verifier:
    """Marks statements that a model finds unsupported; without ``RAG_VERIFIER``, it changes nothing.

    Parameters
    ----------
    settings : Settings
    local_models : LocalModels
    """

    def __init__(self, settings: Settings, local_models: LocalModels) -> None:
        self._setting = settings.verifier
        self._local_models = local_models

    @property
    def asks_language_model(self) -> bool:
        """Whether the connected language model judges statements."""
        return self._setting == LANGUAGE_MODEL

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
            The language model that judges if the setting is ``model``.
        trace : AnswerTrace
            Gets the usage, what was judged, and why statements were not judged.
        """
        checked = [answer for answer, _ in answers]
        undecided = [
            one for at, (answer, passages) in enumerate(answers) for one in _list_undecided(at, answer, passages)
        ]
        if self._setting is None or not undecided:
            return checked
        try:
            if self.asks_language_model:
                rejected = _ask(model, question, undecided, trace)
            else:
                rejected = self._classify(self._setting, undecided)
        except (GeneratorError, VerifierMissing) as error:
            trace.notices.append(f"{_NOT_JUDGED}. {error}")
            return checked
        for one, reason in rejected:
            checked[one.answer_index] = _mark(checked[one.answer_index], one, reason)
        return checked

    def _classify(self, name: str, undecided: Sequence[_Undecided]) -> list[tuple[_Undecided, str]]:
        """Return the statements that the local model ``name`` does not find supported, with empty reasons."""
        pairs = [("\n".join(part.text for part in one.evidence), one.text) for one in undecided]
        verdicts = self._local_models.entailment_model(name).supports(pairs)
        return [(one, "") for one, is_supported in zip(undecided, verdicts, strict=True) if not is_supported]


def _list_undecided(answer_index: int, answer: VerifiedAnswer, passages: Sequence[Passage]) -> Iterator[_Undecided]:
    if answer.refused:
        return
    by_rank = {one.rank: one for one in passages}
    for position, (statement, compared) in enumerate(zip(answer.statements, answer.compared, strict=True)):
        text = " ".join(strip_markers(answer.text[statement.start : statement.end]).split())
        if not statement.mark and compared:
            evidence = tuple(_clip_passage(by_rank[one.passage_rank], one) for one in compared)
            yield _Undecided(answer_index, position, text, evidence)


def _clip_passage(passage: Passage, compared: Citation) -> Passage:
    """Return a passage cut to the sentence ``compared`` and `_AROUND` characters on each side."""
    text = passage.first_page_text
    start, end = compared.start - passage.start, compared.end - passage.start
    return replace(passage, text=text[max(0, start - _AROUND) : end + _AROUND].strip())


def _ask(
    model: LanguageModel | None, question: str, undecided: Sequence[_Undecided], trace: AnswerTrace
) -> list[tuple[_Undecided, str]]:
    """Return the statements that a language model does not find supported, each with the reason."""
    if model is None or model.capability != "capable":
        trace.notices.append(f"{_NOT_JUDGED}, because RAG_VERIFIER=model needs a capable model.")
        return []
    token_budget = int(model.profile.filled_tokens * TRUSTED_SHARE) - model.answer_tokens
    token_budget -= sum(
        count_tokens(one["content"]) + PER_MESSAGE for one in build_statement_messages(question, (), ())
    )
    costs = [count_tokens(one.text) + sum(map(count_prompt_tokens, one.evidence)) for one in undecided]
    rejected: list[tuple[_Undecided, str]] = []
    for run in pack_batches(costs, token_budget):
        together = undecided[run.start : run.stop]
        passages = _number_passages([part for one in together for part in one.evidence])
        texts = [
            f"{one.text} (passage {', '.join(str(passages[_identify(part)].rank) for part in one.evidence)})"
            for one in together
        ]
        reply = model.complete(build_statement_messages(question, [*passages.values()], texts), VERDICTS_SCHEMA)
        trace.usage += reply.usage
        trace.steps.append(f"{model.name} judged {format_count(len(together), 'statement')} ({reply.usage.label})")
        verdicts = parse_verdicts(reply.text, range(1, len(together) + 1))
        rejected += [
            (together[number - 1], verdict.reason) for number, verdict in verdicts.items() if not verdict.positive
        ]
    return rejected


def _number_passages(parts: Sequence[Passage]) -> dict[tuple[str, str], Passage]:
    """Return the distinct parts of passages, with ranks from 1, by what identifies a part."""
    different = {_identify(part): part for part in parts}
    return {key: replace(part, rank=rank) for rank, (key, part) in enumerate(different.items(), 1)}


def _identify(part: Passage) -> tuple[str, str]:
    return part.version_id, part.text


def _mark(answer: VerifiedAnswer, one: _Undecided, reason: str) -> VerifiedAnswer:
    """Return an answer in which a statement is marked as judged unsupported."""
    statements = list(answer.statements)
    statements[one.position] = replace(
        statements[one.position],
        supported=False,
        mark="judged",
        source_value=reason.rstrip("."),
        compared_rank=answer.compared[one.position][0].passage_rank,
    )
    return replace(answer, statements=tuple(statements))
