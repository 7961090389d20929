"""Answer questions from passages, and yield the answer as a stream of events."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import replace

from rag_core.answering.drafts import Draft, find_short_answer, join_quotes
from rag_core.answering.figures import answer_with_figure
from rag_core.answering.page_reading import PageReader
from rag_core.answering.prompt_evidence import PromptEvidence, cite_operands, collect_evidence
from rag_core.answering.quotes import Quotes, describe_disagreement, quote_answer
from rag_core.answering.refusals import refuse
from rag_core.answering.search import Searcher
from rag_core.answering.strategies import Strategies
from rag_core.answering.summary import WRITING, Summarizer
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import GeneratorError
from rag_core.gate.features import ANSWERABLE_SCORE
from rag_core.llm.generator import LanguageModel
from rag_core.llm.reasoning import retract_reasoning
from rag_core.runtime.language_models import LanguageModels
from rag_core.types import (
    Answer,
    AnswerState,
    AskEvent,
    Delta,
    Gate,
    Message,
    Restart,
    RetrievalConfig,
    Scope,
    SearchResult,
    Stage,
)
from rag_core.types.searches import DEFAULT_CONFIGURATION, DEFAULT_WRITER, Query, SearchOutcome, Writer
from rag_core.verification.attribution import EMPTY_ANSWER, NOT_CHECKED, contains_words, draft_answer
from rag_core.verification.support import create_text_encoder
from rag_core.verification.verifier import REFUSED, VerifiedAnswer

# If no passage answers the question with at least this probability, the prompt contains rules with which models refuse
# more often.
ALL_BUT_CERTAIN = 0.99


class Answerer:
    """Answers questions from the passages of a search, or with a summary of whole documents.

    Parameters
    ----------
    searcher : Searcher
    strategies : Strategies
    summarizer : Summarizer
    generators : LanguageModels
        The query's language model writes the answer. If it has none, the answer is quotes.
    reader : PageReader
    """

    def __init__(
        self,
        searcher: Searcher,
        strategies: Strategies,
        summarizer: Summarizer,
        generators: LanguageModels,
        reader: PageReader,
    ) -> None:
        self._searcher = searcher
        self._strategies = strategies
        self._summarizer = summarizer
        self._generators = generators
        self._reader = reader

    def ask(
        self,
        text: str,
        scope: Scope,
        top_k: int | None,
        history: Sequence[Message],
        configuration: RetrievalConfig = DEFAULT_CONFIGURATION,
        writer: Writer = DEFAULT_WRITER,
        asked: str = "",
    ) -> Generator[AskEvent, None, None]:
        """Yield the events of an answer; see `Engine.ask`.

        If ``text`` is only a part of the question, ``asked`` is the whole question.
        """
        trace = AnswerTrace()
        query = replace(self._searcher.build_query(text, scope, top_k, configuration, writer), asked=asked)
        if configuration.strategy == "summary":
            summary = yield from self._summarizer.summary(query, trace)
            if summary is not None:
                yield build_answer(query, summary.result, summary.verified, summary.generator, trace)
                return
            configuration = replace(configuration, strategy="plain")
        outcome = yield from self._strategies.search(replace(query, configuration=configuration), trace.timer)
        yield outcome.result
        yield from self._write_answer(query, outcome, history, trace)

    def answer(self, query: Query, outcome: SearchOutcome) -> Answer:
        """Return the answer to a query, given the outcome of its search."""
        events = self._write_answer(query, outcome, (), AnswerTrace())
        return next(event for event in events if isinstance(event, Answer))

    def _write_answer(
        self, query: Query, outcome: SearchOutcome, history: Sequence[Message], trace: AnswerTrace
    ) -> Generator[AskEvent, None, None]:
        result = outcome.result
        trace.steps += result.steps
        trace.usage += result.usage
        writer = self._generators.active(query.writer.model)
        figure = answer_with_figure(query.asked, outcome, self._reader)
        if figure is not None and writer is None:
            yield Delta(figure[0].text)
            yield build_answer(query, figure[1], figure[0], "extractive", trace)
            return
        if figure is not None and not figure[0].short:
            figure = None
        if figure is not None:
            result = figure[1]
        if not result.gate.answerable and writer is not None:
            yield from self._refuse(query, result, trace, has_model=True)
            return
        yield Stage("generate", WRITING)
        draft = Draft(VerifiedAnswer(""))
        if writer is not None:
            evidence = collect_evidence(replace(outcome, result=result), figure and figure[0], self._reader)
            draft = yield from self._write_draft(writer, query, evidence, history, trace)
            if draft.answer.text:
                # The passages keep their numbers if quotes follow the text.
                outcome, result = evidence.outcome, evidence.outcome.result
        answer = draft.answer
        if (draft.problem or draft.nothing_found or writer is None) and not (query.strict and writer):
            gate = result.gate
            if draft.problem:
                gate = self._searcher.quotes_gate(outcome.passages, query.configuration.threshold)
            quotes = self._quote(outcome, gate, trace)
            if not answer.text:
                result = replace(result, gate=quotes.gate)
                if writer is None and not quotes.gate.answerable:
                    yield from self._refuse(query, result, trace, has_model=False)
                    return
            answer = join_quotes(draft, quotes.answer, trace)
            result = replace(result, passages=quotes.passages)
            # Quotes after an interrupted text are shown on demand, so they are not streamed.
            new_text = answer.text if not draft.problem or not draft.answer.text else ""
            for piece in re.findall(r"\s*\S+", new_text[len(draft.answer.text) :]):
                trace.record_first_token()
                yield Delta(piece)
        elif not answer.refused:
            differing = describe_disagreement(outcome, self._searcher.find_document_date)
            trace.notices += [differing] if differing else []
        yield Stage("generate", WRITING, done=True)
        generator = writer.name if writer is not None and draft.answer.text else "extractive"
        yield replace(build_answer(query, result, answer, generator, trace), interrupted=draft.problem)

    def _refuse(
        self, query: Query, result: SearchResult, trace: AnswerTrace, *, has_model: bool
    ) -> Generator[AskEvent, None, None]:
        refusal = refuse(result, has_model=has_model, quotes_only=query.writer.model == "")
        yield Delta(refusal.text)
        notices = tuple(notice for notice in result.notices if notice != refusal.text)
        yield build_answer(query, replace(result, notices=notices), refusal, "extractive", trace)

    def _quote(self, outcome: SearchOutcome, gate: Gate, trace: AnswerTrace) -> Quotes:
        """Return quotes, without the passages that were added to the result and are not cited."""
        quotes = quote_answer(outcome, gate, self._reader, trace.notices, self._searcher.find_document_date)
        cited = {citation.passage_rank for citation in quotes.answer.citations}
        found = len(outcome.result.passages)
        kept = tuple(one for one in quotes.passages if one.rank <= found or one.rank in cited)
        return replace(quotes, passages=kept)

    def _write_draft(
        self,
        writer: LanguageModel,
        query: Query,
        evidence: PromptEvidence,
        history: Sequence[Message],
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, Draft]:
        """Yield the model's answer while it is written, and return it with its statements attributed to passages.

        If the endpoint fails, the draft contains the problem; for a strict query, the error is raised.
        """
        pieces: list[str] = []
        outcome, question = evidence.outcome, evidence.outcome.result.question
        doubtful = (
            max((one.scores.get(ANSWERABLE_SCORE) or 0.0 for one in outcome.passages), default=0.0) < ALL_BUT_CERTAIN
        )
        stream = writer.stream_answer(
            question,
            evidence.prompt_passages,
            history,
            doubtful=doubtful,
            instructions=query.writer.instructions,
            hint=evidence.hint,
        )
        problem = ""
        try:
            for piece in stream:
                trace.record_first_token()
                pieces.append(piece)
                yield Delta(piece)
        except GeneratorError as error:
            if query.strict:
                raise
            problem = str(error)
        finally:
            stream.close()
            trace.usage += stream.usage
        trace.notices += stream.notices
        text = (yield from retract_reasoning(pieces)).strip()
        if not contains_words(text):
            if pieces:
                yield Restart(EMPTY_ANSWER)
            return Draft(REFUSED if query.strict else VerifiedAnswer(""), problem or EMPTY_ANSWER)
        answer = draft_answer(text, question, evidence.sources, create_text_encoder(outcome.ranked.embedder))
        if answer.unchecked:
            trace.notices.append(NOT_CHECKED)
        short = find_short_answer(question, answer, evidence.sources, self._reader.read_statements)
        answer = replace(answer, short=short)
        return Draft(cite_operands(answer, evidence.fact) if evidence.fact else answer, problem)


def build_answer(
    query: Query, result: SearchResult, answer: VerifiedAnswer, generator: str, trace: AnswerTrace
) -> Answer:
    """Return the finished answer; for a refusal, ``answerable`` of its gate is false."""
    trace.timer.ms["total"] = trace.elapsed_ms
    gate = replace(result.gate, answerable=False) if answer.refused else result.gate
    return Answer(
        question=result.question,
        state=AnswerState.ABSTAINED if answer.refused else AnswerState.ANSWERED,
        text=answer.text,
        citations=answer.citations,
        passages=result.passages,
        gate=gate,
        generator=generator,
        timings_ms={name: round(value, 2) for name, value in trace.timer.ms.items()},
        notices=(*result.notices, *trace.notices),
        statements=answer.statements,
        short=answer.short,
        quotes_start=answer.quotes_start,
        usage=trace.usage,
        strategy=query.configuration.strategy,
        steps=tuple(trace.steps),
    )
