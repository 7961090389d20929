"""Answer a question without passages, to see what retrieval adds."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.answering.follow_up import FollowUps
from rag_core.errors import SettingsError
from rag_core.llm.prompts import build_closed_book_messages
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.types import Answer, ClosedBookAnswer, Scope
from rag_core.types.searches import Writer
from rag_core.verification.attribution import contains_words, draft_answer
from rag_core.verification.support import create_text_encoder


class ClosedBook:
    """Asks a language model the same question with and without passages.

    Parameters
    ----------
    generators : LanguageModels
    generations : IndexGenerations
        The embedder of the active index compares the statements of the model with the passages.
    follow_ups : FollowUps
        Answers the question from passages.
    """

    def __init__(self, generators: LanguageModels, generations: IndexGenerations, follow_ups: FollowUps) -> None:
        self._generators = generators
        self._generations = generations
        self._follow_ups = follow_ups

    def answer(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        model: str | None = None,
    ) -> ClosedBookAnswer:
        """Return the answer of a language model without passages, beside the answer from passages.

        Each statement of the answer without passages is compared with the passages of the other one. A statement that
        they support may still come from the model's memory only, and one that they don't support may be right.

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
        writer = self._generators.active(model)
        if writer is None:
            raise SettingsError(
                "Only a language model can answer without passages, and none is connected. Connect one on the page "
                "Admin."
            )
        events = self._follow_ups.ask(question, Scope.of(documents, collections), None, (), writer=Writer(model))
        grounded = next(event for event in events if isinstance(event, Answer))
        reply = writer.complete(build_closed_book_messages(grounded.question))
        text = reply.text.strip()
        if not contains_words(text):
            return ClosedBookAnswer(text, writer.name, reply.usage, grounded, 0, 0)
        encode = create_text_encoder(self._generations.active().embedder)
        checked = draft_answer(text, grounded.question, grounded.passages, encode)
        supported = sum(one.supported for one in checked.statements)
        return ClosedBookAnswer(text, writer.name, reply.usage, grounded, len(checked.statements), supported)
