"""Rewrite follow-up questions so that they can be understood without the conversation, and answer them."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from rag_core.answering.anaphora import contains_name_or_number, is_dependent
from rag_core.answering.ask import Answerer
from rag_core.answering.cited_tables import add_cited_tables
from rag_core.answering.long_questions import extract_questions
from rag_core.answering.search import Searcher
from rag_core.errors import GeneratorError
from rag_core.llm.generator import LanguageModel
from rag_core.llm.query_planning import build_rewrite_messages, format_conversation, parse_rewritten_question
from rag_core.reading.summary_requests import asks_for_summary
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.text.grammar import split_tokens
from rag_core.text.proper_names import find_content_words
from rag_core.types.answers import Answer, AskEvent, Rewritten, Stage
from rag_core.types.conversations import Message, Scope
from rag_core.types.retrieval import RetrievalConfig, Timer
from rag_core.types.searches import DEFAULT_CONFIGURATION, DEFAULT_WRITER, Writer
from rag_core.types.usage import Usage

# Without a model, a follow-up question gets words of one of the last `MAX_TURNS` questions, at most `MAX_WORDS`.
MAX_TURNS, MAX_WORDS = 3, 8
LABEL = "Reading the conversation"


class FollowUps:
    """Rewrites and answers follow-up questions.

    Parameters
    ----------
    models : LanguageModels
        The language model of the writer rewrites questions. Without one, rules add words of earlier questions.
    searcher : Searcher
        Searches for each question of a long text, such as a letter, to select those that the documents answer.
    answerer : Answerer
        Answers the rewritten question.
    stores : Stores
    """

    def __init__(self, models: LanguageModels, searcher: Searcher, answerer: Answerer, stores: Stores) -> None:
        self._models = models
        self._searcher = searcher
        self._answerer = answerer
        self._stores = stores

    def ask(
        self,
        text: str,
        scope: Scope,
        top_k: int | None,
        history: Sequence[Message],
        configuration: RetrievalConfig = DEFAULT_CONFIGURATION,
        search_for: str | None = None,
        writer: Writer = DEFAULT_WRITER,
    ) -> Generator[AskEvent, None, None]:
        """Yield the events of an answer; see `Engine.ask`."""
        started = time.perf_counter()
        question = " ".join(text.split())
        rewriting = Rewriting()
        asked = ""
        if search_for is not None:
            query = " ".join(search_for.split())
            rewriting = Rewriting("" if query == question else query)
        elif questions := extract_questions(question):
            rewriting = Rewriting(self._select_questions(questions, scope, configuration, writer))
            asked = question
        elif history and not self._answerer.library.is_small_talk(question):
            yield Stage("rewrite", LABEL)
            rewriting = Rewriter(self._models.active(writer.model)).rewrite(question, history)
            yield Stage("rewrite", LABEL, done=True)
        if rewriting.text:
            yield Rewritten(rewriting.text)
        elapsed_ms = 1000 * (time.perf_counter() - started)
        searched = self._searcher.normalize_question(rewriting.text or text)
        events = self._answerer.ask(rewriting.text or text, scope, top_k, history, configuration, writer, asked)
        with closing(events):
            for event in events:
                if isinstance(event, Answer):
                    if event.question != searched:  # its spelling was corrected
                        rewriting = replace(rewriting, text=event.question)
                    answer = _restore_question(event, question, rewriting, elapsed_ms)
                    yield add_cited_tables(answer, self._stores)
                else:
                    yield event

    def _select_questions(
        self, questions: Sequence[str], scope: Scope, configuration: RetrievalConfig, writer: Writer
    ) -> str:
        """Return those questions of a letter that the documents answer, as one text; all of them if none is answered.

        A letter may contain questions that are not for the documents, such as "How are you?".
        """
        if len(questions) == 1:
            return questions[0]
        gates = {
            question: self._searcher.search(
                self._searcher.build_query(question, scope, configuration=configuration, writer=writer), Timer()
            ).result.gate
            for question in dict.fromkeys(questions)
        }
        answered = [question for question, gate in gates.items() if gate.answerable]
        return " ".join(answered or gates)


def _restore_question(answer: Answer, question: str, rewriting: Rewriting, elapsed_ms: float) -> Answer:
    """Return the answer with the original question, and with the time, notices and usage of the rewriting added.

    ``elapsed_ms`` is the time of the rewriting in milliseconds.
    """
    timings = {**answer.timings_ms, "total": answer.timings_ms["total"] + round(elapsed_ms, 2)}
    if rewriting.text:
        answer = replace(answer, question=question, rewritten=rewriting.text)
        timings = {"rewrite": round(elapsed_ms, 2), **timings}
    return replace(
        answer,
        timings_ms=timings,
        notices=(*rewriting.notices, *answer.notices),
        usage=rewriting.usage + answer.usage,
    )


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The query that replaces a question; ``text`` is empty if the question is not rewritten."""

    text: str = ""
    notices: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Rewriter:
    """Rewrites follow-up questions with a language model, or by rules.

    The rules add words of an earlier question to a question that refers to earlier turns.

    Parameters
    ----------
    generator : LanguageModel or None
        Rewrites questions that refer to earlier turns, and questions that may refer to them: those with content words,
        but without a name, a quotation or a long number. A capable model gets all questions after the first. ``None``
        means that only the rules are used.
    """

    def __init__(self, generator: LanguageModel | None) -> None:
        self._generator = generator

    def rewrite(self, question: str, history: Sequence[Message]) -> Rewriting:
        """Return the rewriting of a question; its text is empty if the question stays as it is.

        If the model fails to rewrite a question that refers to earlier turns, rules complete the question, and a notice
        says so.
        """
        depends = is_dependent(question) and not (self._generator is None and asks_for_summary(question))
        if not history or not (depends or self._may_depend(question)):
            return Rewriting()
        notices: tuple[str, ...] = ()
        usage = Usage()
        if self._generator is not None:
            conversation = format_conversation(history)
            try:
                reply = self._generator.complete(build_rewrite_messages(question, conversation))
            except GeneratorError as error:
                notices = (f"{error} The question was completed by rules instead.",) if depends else ()
            else:
                usage = reply.usage
                if rewritten := parse_rewritten_question(reply.text, question, conversation):
                    return Rewriting("" if rewritten == question else rewritten, usage=usage)
                notices = ("The model did not rewrite the question; it was completed by rules instead.",)
        completed = add_earlier_words(question, history) if depends else question
        return Rewriting("" if completed == question else completed, notices if depends else (), usage)

    def _may_depend(self, question: str) -> bool:
        """Return whether the model is to rewrite a question although no word of it refers to earlier turns."""
        if self._generator is None:
            return False
        is_bare = bool(find_content_words(question)) and not contains_name_or_number(question)
        return is_bare or self._generator.capability == "capable"


def add_earlier_words(question: str, history: Sequence[Message]) -> str:
    """Return a question followed by words of an earlier question in brackets.

    The words come from the newest earlier question with content words that the question lacks. If that earlier question
    was rewritten, its rewritten form is used. If there are no such words, the question does not change. The method is
    query resolution by terms of earlier turns: Voskarides et al., "Query resolution for conversational search with
    limited supervision", SIGIR 2020.

    After "How long is the Harrow Bridge?", the question "And its width?" becomes "And its width (long Harrow Bridge)?".
    """
    present = {token.word for token in split_tokens(question)}
    for earlier in reversed(_list_earlier_questions(history)[-MAX_TURNS:]):
        words = {token.word: token.text for token in split_tokens(earlier) if not token.is_function_word}
        if added := [text for word, text in words.items() if word not in present][:MAX_WORDS]:
            return f"{question.rstrip(' ?')} ({' '.join(added)})?"
    return question


def _list_earlier_questions(history: Sequence[Message]) -> list[str]:
    """Return the questions of a conversation, oldest first, each in its rewritten form if it was rewritten."""
    questions: list[str] = []
    for message in history:
        if message.role == "user":
            questions.append(message.text)
        elif questions and message.answer and message.answer.rewritten:
            questions[-1] = message.answer.rewritten
    return questions
