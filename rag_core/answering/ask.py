"""Answer questions from passages, and yield the answer as a stream of events."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace

from rag_core.answering.answer_builder import build_answer
from rag_core.answering.excerpt_answers import ExcerptAnswer, answer_with_excerpts
from rag_core.answering.extractive_summary import ExtractiveSummarizer
from rag_core.answering.generated_answers import GeneratedAnswer, check_text, compare_with, join_quotes
from rag_core.answering.library_questions import LibraryAnswerer
from rag_core.answering.page_answers import PageAnswerer, may_be_on_topic
from rag_core.answering.page_reading import PageReader
from rag_core.answering.places.finding import MAX_PLACES, PlaceFinder
from rag_core.answering.places.quotes import quote_places
from rag_core.answering.prompt_evidence import PromptEvidence, cite_operands, collect_evidence
from rag_core.answering.search import Searcher
from rag_core.answering.set_answers import describe_unread, find_stems_to_quote
from rag_core.answering.strategies.base import SearchStrategy
from rag_core.answering.strategies.registry import Strategies
from rag_core.answering.summary import WRITING
from rag_core.answering.trace import AnswerTrace
from rag_core.answering.verifier import Verifier
from rag_core.llm.generator import LanguageModel
from rag_core.reading.excerpts import WHOLE_PAGES
from rag_core.reading.summary_requests import asks_for_summary
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.model_connection import explain_missing_model
from rag_core.runtime.stores import Stores
from rag_core.types.answers import NO_DOCUMENTS, NOT_IN_PLACES, REFUSAL, Answer, AskEvent, Delta, Restart, Stage
from rag_core.types.conversations import Message, Scope
from rag_core.types.retrieval import Gate, RetrievalConfig, SearchResult
from rag_core.types.searches import DEFAULT_CONFIGURATION, DEFAULT_WRITER, Query, SearchOutcome, Writer
from rag_core.verification.attribution import EMPTY_ANSWER, contains_words
from rag_core.verification.support import create_text_encoder
from rag_core.verification.verified_answer import REFUSED, VerifiedAnswer

# Parts of the message that a summary of a topic needs a language model.
_TOPIC_SUMMARY = "A summary of what documents say about a topic"
_ALTERNATIVE = "ask for a summary of a whole document, or for a fact"


class Answerer:
    """Answers questions from the passages of a search, or with a summary of whole documents.

    Parameters
    ----------
    searcher : Searcher
    strategies : Strategies
    extracts : ExtractiveSummarizer
        Summarizes documents if the query has no language model.
    models : LanguageModels
        The language model of the query writes the answer. Without one, the answer consists of excerpts.
    reader : PageReader
    stores : Stores
    library : LibraryAnswerer
        Answers small talk and questions about the library without a search.
    verifier : Verifier
    """

    def __init__(
        self,
        searcher: Searcher,
        strategies: Strategies,
        extracts: ExtractiveSummarizer,
        models: LanguageModels,
        reader: PageReader,
        stores: Stores,
        library: LibraryAnswerer,
        verifier: Verifier,
    ) -> None:
        self.library = library
        self._verifier = verifier
        self._searcher = searcher
        self._strategies = strategies
        self._extracts = extracts
        self._models = models
        self._reader = reader
        self._stores = stores
        self._places = PlaceFinder(stores)
        self._pages = PageAnswerer(stores, searcher, reader)

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
        strategy = self._strategies.select(query)
        if known := self.library.answer(query):
            result = _build_known_result(query, answerable=True)
            yield result
            yield Delta(known)
            yield build_answer(query, result, VerifiedAnswer(known), "extractive", trace)
            return
        question = query.text
        query, missing = self._places.resolve(query)
        if missing:
            refusal = VerifiedAnswer(missing, refused=True)
            yield Delta(missing)
            yield build_answer(query, _build_known_result(query, answerable=False), refusal, "extractive", trace)
            return
        with closing(self._answer(query, strategy, history, trace)) as events:
            for event in events:
                if isinstance(event, SearchResult):
                    passages = self._reader.restore_struck(event.passages)
                    event = replace(event, question=question, passages=passages)
                elif isinstance(event, Answer):
                    event = self._reader.restore_struck_in_answer(replace(event, question=question))
                yield event

    def _answer(
        self, query: Query, strategy: SearchStrategy, history: Sequence[Message], trace: AnswerTrace
    ) -> Generator[AskEvent, None, None]:
        """Yield the events of an answer that is a summary, or is written from the passages of a search."""
        if self._models.active(query.writer.model) is None:
            # Excerpts are looked for on the pages of more passages than the answer lists.
            query = replace(query, depth=max(query.depth, WHOLE_PAGES))
            if strategy.summarizes_without_model and (extract := (yield from self._extracts.summarize(query, history))):
                yield extract.result
                yield Delta(extract.verified.text)
                yield build_answer(query, extract.result, extract.verified, extract.generator, trace)
                return
        if (yield from strategy.answer(query, trace)):
            return
        outcome = yield from strategy.search(query, trace.timer)
        yield outcome.result
        yield from self._write_answer(query, outcome, history, trace)

    def answer(self, query: Query, outcome: SearchOutcome) -> Answer:
        """Return the answer to a query, given the outcome of its search."""
        events = self._write_answer(query, outcome, (), AnswerTrace())
        return next(event for event in events if isinstance(event, Answer))

    def _write_answer(
        self, query: Query, outcome: SearchOutcome, history: Sequence[Message], trace: AnswerTrace
    ) -> Generator[AskEvent, None, None]:
        """Yield the events of an answer from the outcome of a search: the model's text, quotes, or a refusal."""
        writer = self._models.active(query.writer.model)
        in_pages = writer is not None and self._strategies.reads_pages(query.configuration.strategy, writer)
        result = outcome.result
        trace.steps += result.steps
        trace.usage += result.usage
        may_answer = may_be_on_topic(outcome) or find_stems_to_quote(outcome, has_model=True)
        if in_pages and not result.gate.answerable and may_answer:
            result = replace(result, gate=result.gate.overrule())
            outcome = replace(outcome, result=result)
        if not result.gate.answerable and writer is not None:
            yield from self._refuse(query, result, trace, has_model=True)
            return
        yield Stage("generate", WRITING)
        generated = GeneratedAnswer(VerifiedAnswer(""))
        if writer is not None and in_pages:
            generated, result = yield from self._write_from_pages(writer, query, outcome, history, trace)
            outcome = replace(outcome, result=result)
        elif writer is not None:
            evidence = collect_evidence(outcome, self._reader)
            generated = yield from self._write_from_passages(writer, query, evidence, history, trace)
            if generated.answer.text:
                # Quotes that follow the text refer to these passages by the same numbers.
                outcome, result = evidence.outcome, evidence.outcome.result
        if (
            generated.answer.text
            and not generated.answer.refused
            and (unread := describe_unread(outcome, result.passages))
        ):
            trace.notices.append(unread)
            generated = replace(generated, answer=replace(generated.answer, short=""))
        answer = generated.answer
        if (generated.problem or generated.nothing_found or writer is None) and not (query.strict and writer):
            gate = result.gate
            if generated.problem:
                gate = self._searcher.decide_on_quotes(outcome.passages, query.configuration.threshold)
            quotes = self._quote(outcome, gate)
            if not answer.text:
                result = replace(result, gate=quotes.gate)
                if writer is None and not quotes.gate.answerable:
                    yield from self._refuse(query, result, trace, quotes.answer.text, has_model=False)
                    return
            trace.notices += filter(None, [quotes.other_years])
            answer = join_quotes(generated, quotes.answer, trace)
            result = replace(result, passages=quotes.passages)
            # Quotes after an interrupted text are shown on demand, so they are not streamed.
            new_text = answer.text if not generated.problem or not generated.answer.text else ""
            for piece in re.findall(r"\s*\S+", new_text[len(generated.answer.text) :]):
                trace.record_first_token()
                yield Delta(piece)
        yield Stage("generate", WRITING, done=True)
        generator = writer.name if writer is not None and generated.answer.text else "extractive"
        yield replace(build_answer(query, result, answer, generator, trace), interrupted=generated.problem)

    def _quote(self, outcome: SearchOutcome, gate: Gate) -> ExcerptAnswer:
        """Return excerpts that may answer, or the beginnings of the places whose text the question asks for."""
        if outcome.places is None or not outcome.places.is_whole:
            return answer_with_excerpts(outcome, gate, self._reader)
        answer, passages = quote_places(outcome.places, self._stores)
        return ExcerptAnswer(answer, passages, gate)

    def _write_from_pages(
        self,
        writer: LanguageModel,
        query: Query,
        outcome: SearchOutcome,
        history: Sequence[Message],
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, tuple[GeneratedAnswer, SearchResult]]:
        """Yield the text that a capable model writes from whole pages; return the checked answer and the search result.

        The passages of the result are the sources that the model read. If the model writes nothing, the result is that
        of the search.
        """
        reply = yield from self._pages.write(writer, query, outcome, history, trace)
        if not contains_words(reply.text):
            problem = reply.problem or EMPTY_ANSWER
            if reply.text:
                yield Restart(problem)
            return GeneratedAnswer(REFUSED if query.strict else VerifiedAnswer(""), problem), outcome.result
        answer = check_text(reply.text, reply.comparison, self._reader.read, self._verifier, writer, trace)
        if reply.is_refusal:
            answer = replace(answer, refused=True, statements=(), short="")
        # The prompt asks for the value first. A short answer that is elsewhere in the text is one of several values.
        if not answer.text.lstrip("*").startswith(answer.short):
            answer = replace(answer, short="")
        return GeneratedAnswer(answer, reply.problem), replace(outcome.result, passages=reply.context.sources)

    def _refuse(
        self,
        query: Query,
        result: SearchResult,
        trace: AnswerTrace,
        text: str = REFUSAL,
        *,
        has_model: bool,
    ) -> Generator[AskEvent, None, None]:
        """Yield the events of a refusal. It says why there is no answer, or ``text`` if the reason is unknown."""
        if query.places is not None:
            titles = [one.title for one in query.places.places]
            more = f" and {len(titles) - MAX_PLACES} more" if len(titles) > MAX_PLACES else ""
            text = NOT_IN_PLACES.format(places=f"{'; '.join(titles[:MAX_PLACES])}{more}")
        elif NO_DOCUMENTS in result.notices:
            text = NO_DOCUMENTS
        elif not has_model and asks_for_summary(result.question):
            text = explain_missing_model(_TOPIC_SUMMARY, _ALTERNATIVE, quotes_only=query.writer.model == "")
        yield Delta(text)
        result = replace(result, notices=tuple(notice for notice in result.notices if notice != text))
        yield build_answer(query, result, VerifiedAnswer(text, refused=True), "extractive", trace)

    def _write_from_passages(
        self,
        writer: LanguageModel,
        query: Query,
        evidence: PromptEvidence,
        history: Sequence[Message],
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, GeneratedAnswer]:
        """Yield the model's text; return the text as an answer whose statements are attributed to passages.

        If the model's endpoint fails, ``problem`` of the returned answer says why. For a strict query, the error is
        raised instead.
        """
        outcome, question = evidence.outcome, evidence.outcome.result.question
        strategy = self._strategies.select(query)
        text, problem = yield from strategy.write_text(writer, query, evidence, history, trace)
        if not contains_words(text):
            return GeneratedAnswer(REFUSED if query.strict else VerifiedAnswer(""), problem or EMPTY_ANSWER)
        comparison = compare_with(evidence.sources, question, create_text_encoder(outcome.ranked.embedder))
        answer = check_text(text, comparison, self._reader.read, self._verifier, writer, trace)
        return GeneratedAnswer(cite_operands(answer, evidence.fact) if evidence.fact else answer, problem)


def _build_known_result(query: Query, *, answerable: bool) -> SearchResult:
    """Return the result of a question that is answered or refused without a search, so it has no passages."""
    gate = Gate("library", float(answerable), 0.0, answerable=answerable, overruled=True)
    return SearchResult(query.text, (), gate, {}, as_of=query.as_of_label)
