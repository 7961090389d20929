"""Questions as parts of a conversation: completed from it before they are asked."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace

from rag_core.answering.ask import Asking
from rag_core.answering.search import Searching
from rag_core.answering.suggestions import follow_ups
from rag_core.errors import RagError
from rag_core.llm.rewriter import Rewriter, Rewriting
from rag_core.retrieval.queries import AS_SET
from rag_core.runtime.language_models import LanguageModels
from rag_core.types import Answer, AskEvent, Configuration, Message, Rewritten, Scope, Stage

LABEL = "Reading the conversation"


class Conversing:
    """Asks follow-ups in words that stand alone.

    Parameters
    ----------
    generators : LanguageModels
        Where there is a generator, it does the rewriting.
    searching : Searching
        Tries questions to go on with.
    asking : Asking
        Answers what comes out.
    """

    def __init__(self, generators: LanguageModels, searching: Searching, asking: Asking) -> None:
        self._generators = generators
        self._searching = searching
        self._asking = asking

    def ask(
        self,
        text: str,
        scope: Scope,
        top_k: int | None,
        history: Sequence[Message],
        configuration: Configuration = AS_SET,
        search_for: str | None = None,
    ) -> Generator[AskEvent, None, None]:
        """Answer; see `Engine.ask`."""
        started = time.perf_counter()
        question = " ".join(text.split())
        rewriting = Rewriting()
        if search_for is not None:
            wanted = " ".join(search_for.split())
            rewriting = Rewriting("" if wanted == question else wanted)
        elif history:
            yield Stage("rewrite", LABEL)
            rewriting = Rewriter(self._generators.active()).rewrite(question, history)
            yield Stage("rewrite", LABEL, done=True)
        if rewriting.text:
            yield Rewritten(rewriting.text)
        spent = 1000 * (time.perf_counter() - started)
        events = self._asking.ask(rewriting.text or text, scope, top_k, history, configuration)
        with closing(events):
            for event in events:
                yield _completed(event, question, rewriting, spent) if isinstance(event, Answer) else event

    def with_follow_ups(self, events: Generator[AskEvent, None, None], scope: Scope) -> Generator[AskEvent, None, None]:
        """The events, the answer with questions to go on with, or with a notice of why there are none."""
        with closing(events):
            for event in events:
                yield self._suggesting(event, scope) if isinstance(event, Answer) else event

    def _suggesting(self, answer: Answer, scope: Scope) -> Answer:
        try:
            return replace(answer, follow_ups=follow_ups(self._searching, answer, scope))
        except RagError as error:
            # The answer is made and paid for: what became of the documents since may not take it away.
            return replace(answer, notices=(*answer.notices, f"{error} No further questions are suggested."))


def _completed(answer: Answer, question: str, rewriting: Rewriting, spent_ms: float) -> Answer:
    """The answer to what was searched for, as one to what was asked."""
    timings = {**answer.timings_ms, "total": answer.timings_ms["total"] + round(spent_ms, 2)}
    if rewriting.text:
        answer = replace(answer, question=question, rewritten=rewriting.text)
        timings = {"rewrite": round(spent_ms, 2), **timings}
    return replace(
        answer,
        timings_ms=timings,
        notices=(*rewriting.notices, *answer.notices),
        usage=rewriting.usage + answer.usage,
    )
