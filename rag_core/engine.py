"""The interface of the application for the web pages, the command line and the API."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from rag_core import guide
from rag_core.answering.steps import run_to_end
from rag_core.errors import RagError
from rag_core.runtime.status import check_health
from rag_core.services import Services
from rag_core.types.answers import Answer, AskEvent
from rag_core.types.conversations import Message, Scope
from rag_core.types.explanations import Explanation
from rag_core.types.retrieval import RetrievalConfig, SearchResult, Timer
from rag_core.types.searches import DEFAULT_CONFIGURATION, Writer
from rag_core.types.status import Readiness, Status


class Engine(Services):
    """Answers questions from documents, with citations. All methods are thread-safe.

    `Services` lists the attributes, and the exceptions that the constructor raises. Each model is loaded when it is
    first used, or by `warm_up` in the background.

    Parameters
    ----------
    settings : Settings
    """

    GUIDE_NAME: str = guide.GUIDE_NAME
    GUIDE_QUESTIONS: tuple[str, ...] = guide.GUIDE_QUESTIONS

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def announce(self, address: str) -> None:
        """Store the address at which this process serves the application, for the command line in another process."""
        self._stores.announce(address)

    def warm_up(self) -> None:
        """Load models, open the dense index and start parser processes in the background; later calls do nothing."""
        self._warm_up.start()

    def load_search(self) -> None:
        """Load the models and indexes for searches, so that the first question is as fast as later ones."""
        self._warm_up.load_search()

    def readiness(self) -> Readiness:
        """Return whether the models are ready for searches, and if not, why."""
        return self._local_models.readiness

    def describe_embedding(self) -> str:
        """Return the name and the speed of the runtime of the bundled embedder; empty if another embedder is in use."""
        return self._local_models.describe_runtime()

    def status(self) -> Status:
        """Return the state of the installation; block while the embedding model is being loaded."""
        return check_health(
            self.settings,
            self._stores,
            self._generations,
            self.preferences,
            self.models,
            list_unfinished=self._removal.list_unfinished,
            queue_problem=self.jobs.problem,
            describe_failures=self._drawings.describe_failures,
        )

    def search(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        as_of: str = "",
        top_k: int | None = None,
        configuration: RetrievalConfig | None = None,
    ) -> SearchResult:
        """Return passages for a question, best first, without an answer.

        Parameters
        ----------
        question : str
        documents, collections : sequence of str, optional
            Names or ids of the documents, and names of the collections, to search. Default: all documents.
        as_of : str
            Name of a snapshot, or a date (YYYY-MM-DD), which stands for the newest snapshot of that date or before. The
            content of the documents at that time is searched. Default: the present content.
        top_k : int, optional
            Number of passages; overrides ``configuration.top_k``.
        configuration : RetrievalConfig, optional
            How to retrieve. Default: as in the settings.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, SnapshotError, EmbedderError, RerankerMissing, IndexMismatch
        StoreError
        SettingsError
            The configuration's strategy needs a language model, but none is set.
        """
        query = self._searcher.build_query(
            question, Scope.of(documents, collections, as_of), top_k, configuration or DEFAULT_CONFIGURATION
        )
        return run_to_end(self.strategies.search(query, Timer())).result

    def ask(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        as_of: str = "",
        top_k: int | None = None,
        history: Sequence[Message] = (),
        configuration: RetrievalConfig | None = None,
        search_for: str | None = None,
        model: str | None = None,
        instructions: str = "",
    ) -> Generator[AskEvent, None, None]:
        """Answer a question, and yield the steps, the text and finally the `Answer` as events.

        - A `Stage` names the current step.
        - A `Rewritten` contains the question that replaces a follow-up question.
        - A `SearchResult` contains the passages for the answer.
        - A `Delta` adds text to the answer.
        - A `Restart` discards all text so far.

        Closing the iterator stops the work.

        Parameters
        ----------
        question : str
        documents, collections, as_of, top_k
            As in `search`.
        history : sequence of Message
            Earlier messages, oldest first. A question that refers to them is rewritten before the search;
            ``rewritten`` of the answer contains the new question.
        configuration : RetrievalConfig, optional
            How to retrieve. Default: as in the settings. The steps of its search strategy are yielded as events and
            listed in the answer.
        search_for : str, optional
            A text to search for instead of the question, which is then not rewritten.
        model : str, optional
            Name of the language model, as in `LanguageModels.find_name`; an empty name means quotes only.
        instructions : str
            Instructions about the language, length and tone of the answer, in addition to those of the preferences.
            They do not change quotes, citations, checks and refusals.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, SnapshotError, EmbedderError, RerankerMissing, IndexMismatch
        StoreError
        SettingsError
            The configuration's strategy needs a language model, but none is set, or the instructions are too long.
        """
        scope = Scope.of(documents, collections, as_of)
        how, writer = configuration or DEFAULT_CONFIGURATION, Writer(model, instructions)
        with self.cards.paused():
            events = self._follow_ups.ask(question, scope, top_k, history, how, search_for, writer)
            yield from self.activity.observe_question(events)

    def answer(self, question: str, **options: Any) -> Answer:
        """Return the answer to a question; ``options`` are the keyword arguments of `ask`."""
        for event in self.ask(question, **options):
            if isinstance(event, Answer):
                return event
        raise RagError("The question ended without an answer. Ask it again.")

    def explain(self, question: str, **options: Any) -> Explanation:
        """Return the ranking of each stage of a search; see `Explanations.explain` for ``options``."""
        return self.explanations.explain(question, **options)
