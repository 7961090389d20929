"""Answer a question without passages, to see what retrieval adds."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.answering.follow_up import FollowUps
from rag_core.llm.prompts import build_closed_book_messages
from rag_core.runtime.language_models import LanguageModels
from rag_core.types.answers import Answer
from rag_core.types.closed_book import ClosedBookAnswer
from rag_core.types.conversations import Scope
from rag_core.types.searches import Writer


class ClosedBook:
    """Asks a language model the same question with and without passages.

    Parameters
    ----------
    models : LanguageModels
    follow_ups : FollowUps
        Answers the question from passages.
    """

    def __init__(self, models: LanguageModels, follow_ups: FollowUps) -> None:
        self._models = models
        self._follow_ups = follow_ups

    def answer(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        model: str | None = None,
    ) -> ClosedBookAnswer:
        """Return the answer of a language model without passages, and the answer from passages.

        The answer without passages is not verified, because the model has not seen any passages.

        Parameters
        ----------
        question : str
        documents, collections, model
            As in `Engine.ask`.

        Raises
        ------
        SettingsError
            No language model is set.
        GeneratorError
            The endpoint gave no answer. `Engine.ask` lists the other exceptions.
        """
        writer = self._models.require("An answer without passages", model)
        events = self._follow_ups.ask(question, Scope.of(documents, collections), None, (), writer=Writer(model))
        grounded = next(event for event in events if isinstance(event, Answer))
        reply = writer.complete(build_closed_book_messages(grounded.question))
        return ClosedBookAnswer(reply.text.strip(), writer.name, reply.usage, grounded)
