"""The one way in: web pages and command line call this and nothing below it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from rag_core import guide
from rag_core.answering.ask import Asking
from rag_core.answering.explain import Explaining, candidates
from rag_core.answering.export import markdown, pdf
from rag_core.answering.follow_up import Conversing
from rag_core.answering.search import Searching
from rag_core.answering.strategies import Strategies, finished
from rag_core.answering.summary import Summarising
from rag_core.errors import RagError, SettingsError
from rag_core.evaluation.label_files import parse_labels
from rag_core.evaluation.labels import Labelling
from rag_core.evaluation.metrics import compare, gate_scores
from rag_core.evaluation.plots import plots, score_plot
from rag_core.evaluation.report import write_report
from rag_core.evaluation.runner import Background, Evaluating
from rag_core.evaluation.thresholds import MOST_ANSWERED, advise_threshold
from rag_core.indexing.documents import Viewing
from rag_core.indexing.queue import IndexingQueue
from rag_core.indexing.recovery import record_clean_shutdown, recover
from rag_core.indexing.removal import Removal
from rag_core.indexing.submission import SameName
from rag_core.indexing.watches import Watching
from rag_core.retrieval.passage_weights import evidence_mass, weigh
from rag_core.retrieval.queries import AS_SET
from rag_core.runtime.health import condition
from rag_core.runtime.index_generations import Generations
from rag_core.runtime.language_models import Generators
from rag_core.runtime.models import Models
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.store.files import clean_collection
from rag_core.system import keep_freed_memory
from rag_core.types import (
    Answer,
    AskEvent,
    Baseline,
    Check,
    ChunkSpan,
    Comparison,
    Configuration,
    Conversation,
    DeleteReceipt,
    DocumentInfo,
    Evaluation,
    EvaluationEvent,
    EvaluationState,
    Evidence,
    EvidenceMass,
    Explanation,
    Feedback,
    Job,
    JobState,
    Label,
    LabelKind,
    Message,
    Page,
    PageImage,
    PageKey,
    Scope,
    SearchResult,
    Status,
    Sync,
    ThresholdAdvice,
    TokenMatches,
    UsageTotal,
    Warmth,
    Watch,
    Weighed,
    Weighting,
)
from rag_core.types.retrieval import Timer

log = logging.getLogger(__name__)
DEFAULT_COLLECTION = "default"
# Words of the questions that a model is warmed up with, as `range` takes them.
WARM_LENGTHS = (6, 95, 8)
# As many tokens as some sentences and a question have.
WARM_READINGS = (20, 160, 8)
# Of ten thousand jobs one ends every few milliseconds, and to look at all of them takes longer than that:
# whoever waits for them is not to take half of the processor from them.
LOOK_SELDOMER = 10
# A look that a stalled machine or a locked database held up says nothing of how many jobs there are.
LONGEST_LOOK_AWAY_S = 1.0


class Engine:
    """Documents in, cited answers out. Methods may be called from many threads.

    Opening it loads no model: that happens in the background (`warm_up`) or when first needed. Work
    that an earlier process left unfinished goes on.

    Parameters
    ----------
    settings : Settings

    Raises
    ------
    DataFolderInUse, DataFolderUnwritable, StoreUnavailable, SettingsError
    """

    GUIDE_QUESTIONS: tuple[str, ...] = guide.GUIDE_QUESTIONS

    def __init__(self, settings: Settings) -> None:
        keep_freed_memory()
        self.settings = settings
        self._stores = Stores(settings)
        self._models = Models(settings)
        self._generations = Generations(settings, self._stores, self._models)
        self._removal = Removal(self._stores)
        self._generators = Generators(settings, self._stores)
        self._preferences = Preferences(settings, self._stores, self._generators)
        self._searching = Searching(settings, self._stores, self._models, self._generations, self._preferences)
        self._strategies = Strategies(settings, self._stores, self._searching, self._generators)
        summarising = Summarising(settings, self._stores, self._generations, self._generators)
        self._asking = Asking(self._searching, self._strategies, summarising, self._generators)
        self._conversing = Conversing(self._generators, self._searching, self._asking)
        self._indexer = IndexingQueue(settings, self._stores, self._generations, self._removal)
        self._watching = Watching(self._stores, self._indexer, self.delete, settings.watch_interval_s)
        self._viewing = Viewing(self._stores)
        self._labelling = Labelling(self._stores)
        self._explaining = Explaining(self._stores, self._generations, self._searching)
        self._evaluating = Evaluating(
            settings,
            self._stores,
            self._searching,
            self._strategies,
            self._asking,
            self._preferences,
            lambda: self.generator_name,
        )
        self._evaluations = Background(self._evaluating)
        self._warming: threading.Thread | None = None
        self._starting = threading.Lock()
        self._closed = False
        try:
            self._swept = recover(self._stores, self._removal)
            self._indexer.start()
        except BaseException:
            self._stores.close()
            raise

    def close(self) -> None:
        """Stop in order. Jobs that run are put back and go on at the next start."""
        if self._closed:
            return
        self._closed = True
        try:
            self._watching.stop()
            self._evaluations.close()
            self._indexer.stop()
            if self._warming:
                self._warming.join()
            self._generators.close()
            self._models.close()
            if self._swept:
                record_clean_shutdown(self._stores)
        finally:
            self._stores.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # models

    def warm_up(self) -> None:
        """Load models, open Chroma and start those that read files in the background, once."""
        with self._starting:
            if self._warming is None:
                self._warming = threading.Thread(target=self._warm, name="warm-up", daemon=True)
                self._warming.start()

    @property
    def generator_name(self) -> str:
        """Who writes answers: ``openai:MODEL`` or ``gguf:FILE``; ``extractive`` where they are quoted."""
        return self._generators.name

    @property
    def model(self) -> str:
        """The language model in use: what was set in Admin, else the setting; empty where there is none."""
        return self._generators.model

    @property
    def endpoint(self) -> str:
        """Where language models are asked: a URL without secrets, or a file; empty where nothing says."""
        return self._generators.endpoint

    def set_model(self, name: str | None) -> None:
        """Override the model of the endpoint; ``None`` goes back to the setting."""
        self._generators.set_model(name)

    def models(self) -> list[str]:
        """Names of the language models that the endpoint lists, sorted; raises a `GeneratorError`."""
        return self._generators.named(self.model).models()

    def test_model(self, name: str | None = None) -> Iterator[Check]:
        """Try a language model out with one small request: what works and, where it does not, what to do.

        Parameters
        ----------
        name : str, optional
            One of the endpoint's models; the one in use, unless given.

        Raises
        ------
        SettingsError
            There is none.
        """
        model = name or self.model
        if not model:
            raise SettingsError("RAG_OPENAI_MODEL is not set. Name a model that the endpoint serves.")
        return self._generators.named(model).probe()

    def warmth(self) -> Warmth:
        """How far the models are."""
        return self._models.warmth

    def _warm(self) -> None:
        try:
            self._indexer.warm_up()
            with self._models.preparing():
                self._warm_search()
                if self.settings.reranker:
                    self._models.cross_encoder()
            self._generators.warm_up()
        except RagError as error:
            # Shown by `warmth` and `status`; each question that needs the model says it again.
            log.warning("warm-up: %s", error)

    def warm_up_search(self) -> None:
        """Load what searches need, and wait for it: the first of many questions then takes no longer than the others.

        What cannot be loaded is told by the question that needs it.
        """
        with suppress(RagError):
            self._warm_search()

    def _warm_search(self) -> None:
        generation = self._generations.active()
        self._stores.dense(generation.generation_id).count()
        # A length that a model meets for the first time takes it twice as long.
        for tokens in range(*WARM_LENGTHS):
            for beside in (False, True):
                generation.embedder.embed_question("warm " * tokens, beside=beside)
        for tokens in range(*WARM_READINGS):
            list(self._models.answerability()("warm", ["warm " * tokens] * 2))
        self._searching.warm_up()

    # documents

    def submit(
        self,
        name: str,
        data: bytes,
        *,
        collection: str = DEFAULT_COLLECTION,
        on_same_name: SameName = "replace",
        password: str | None = None,
    ) -> Job:
        """Store a file and queue its indexing; returns at once.

        What is wrong with a file is told by the job's ``result`` and ``reason`` and by the document's
        row, never raised. Content that is in the library already is a ``duplicate`` and not stored.

        Parameters
        ----------
        name : str
            Shown to people; folders and control characters are dropped.
        data : bytes
        collection : str
        on_same_name : {"replace", "keep"}
            What becomes of a document of that name with other content: it is searched until the new
            one is complete and then removed, or kept beside a numbered newcomer.
        password : str, optional
            Of an encrypted PDF; kept in memory until the file has been read, never stored.
        """
        return self._indexer.submit(name, data, clean_collection(collection), on_same_name, password)

    def clashes(self, name: str, data: bytes, *, collection: str = DEFAULT_COLLECTION) -> bool:
        """Whether a document of that name but with other content is in the library, or waits to be indexed.

        `submit` would replace it, or keep both, as ``on_same_name`` says: a question to ask first.
        """
        return self._indexer.clashes(name, data, clean_collection(collection))

    def add(self, name: str, data: bytes, **options: Any) -> Job:
        """`submit`, and wait until the file is indexed or refused."""
        return self.wait([self.submit(name, data, **options).job_id])[0]

    def add_guide(self) -> Job:
        """Queue the user guide that comes along."""
        return self.submit(guide.GUIDE_NAME, guide.guide_pdf())

    def as_ended(self, job_ids: Sequence[str], on_progress: Callable[[Job], None] | None = None) -> Iterator[Job]:
        """These jobs, each as soon as it has ended.

        ``on_progress`` hears of each job that runs, a few times a second, and once when it ends.

        Raises
        ------
        UnknownDocument
            A job is no longer listed, because its document was deleted.
        """
        left = set(job_ids)
        while left:
            started = time.monotonic()
            states = self._stores.jobs.states(sorted(left))
            looked = time.monotonic() - started
            if gone := left - states.keys():
                self._stores.jobs.get(gone.pop())  # raises, in words
            for job_id, state in states.items():
                if state is JobState.QUEUED or (state is JobState.RUNNING and on_progress is None):
                    continue
                job = self._stores.jobs.get(job_id)
                if on_progress is not None:
                    on_progress(job)
                if job.state not in (JobState.QUEUED, JobState.RUNNING):
                    left.remove(job_id)
                    yield job
            if left:
                self._indexer.wait_for_change(0.2)
                time.sleep(min(LOOK_SELDOMER * looked, LONGEST_LOOK_AWAY_S))

    def wait(self, job_ids: Sequence[str], on_progress: Callable[[Job], None] | None = None) -> list[Job]:
        """Wait until these jobs have ended; they are returned in the given order. See `as_ended`."""
        ended = {job.job_id: job for job in self.as_ended(job_ids, on_progress)}
        return [ended[one] for one in job_ids]

    def jobs(self, active: bool = False, limit: int = 50) -> list[Job]:
        """Work that is queued, running or ended, newest first; only what has not ended if ``active``."""
        return self._stores.jobs.listed(active=active, limit=limit)

    def cancel(self, job_id: str) -> None:
        """Stop a job soon; what it had made is removed, an earlier version stays."""
        self._indexer.cancel(job_id)

    def retry(self, document_id: str, *, password: str | None = None) -> Job:
        """Index a document's file once more; raises `UnknownDocument`, or `StoreUnavailable` where it is gone.

        A file that is to replace it meanwhile goes before.
        """
        return self._indexer.retry(document_id, password)

    def documents(self) -> list[DocumentInfo]:
        """The library, newest first, with what was refused and what is still being indexed."""
        return self._stores.library.documents()

    def document(self, document_id: str) -> DocumentInfo:
        """One document; raises `UnknownDocument`."""
        return self._stores.library.document(document_id)

    def title(self, document_id: str) -> str:
        """What its first page calls it beyond its file's name, often nothing; raises `UnknownDocument`."""
        return self._viewing.title(document_id)

    def pages(self, document_id: str) -> list[Page]:
        """Its pages in order, without word boxes; raises `UnknownDocument`."""
        return self._viewing.pages(document_id)

    def page(self, document_id: str, page_index: int) -> Page:
        """One page, with its word boxes; raises `UnknownDocument`."""
        return self._viewing.page(document_id, page_index)

    def page_text(self, document_id: str, page_index: int) -> str:
        """A page's text; raises `UnknownDocument`."""
        return self.page(document_id, page_index).text

    def chunks(self, document_id: str, page_index: int | None = None) -> list[ChunkSpan]:
        """Its chunks in order, of one page if given; raises `UnknownDocument`."""
        return self._viewing.chunks(document_id, page_index)

    def neighbours(self, chunk_id: str) -> tuple[ChunkSpan | None, ChunkSpan | None]:
        """The chunks before and after one in its document; ``None`` at its ends, and where it is gone."""
        return self._viewing.neighbours(chunk_id)

    def original(self, document_id: str) -> bytes:
        """The file as it was uploaded; raises `UnknownDocument`."""
        return self._viewing.original(document_id)

    def delete(self, document_ids: Sequence[str]) -> list[DeleteReceipt]:
        """Remove documents from every store, and count afterwards what each store still holds.

        One whose removal a store cut off is in no list any more; it is removed the rest of the way by
        itself, or when it is deleted again.

        Raises
        ------
        UnknownDocument
            One of them is not in the library; the ones before it are gone.
        """
        for job in self.jobs(active=True, limit=10_000):
            if job.document_id in set(document_ids):
                self.cancel(job.job_id)
                self.wait([job.job_id])
        return [self._removal.document(document_id) for document_id in document_ids]

    def resolve(self, names: Sequence[str]) -> list[str]:
        """Document ids for names or ids; raises `UnknownDocument`."""
        return self._stores.library.resolve(names)

    def move(self, document_ids: Sequence[str], collection: str) -> None:
        """Put documents into a collection, which begins with its first document and ends with its last.

        Raises
        ------
        CollectionError
            The name is none, or a document of the same name would be there twice; nothing was moved.
        """
        self._stores.library.move(document_ids, clean_collection(collection))

    def reindex(
        self,
        document_ids: Sequence[str] | None = None,
        *,
        chunk_tokens: int | None = None,
        chunk_overlap: float | None = None,
        embedder: str | None = None,
    ) -> Job:
        """Queue a re-index of these documents, or of all.

        All documents, settings unchanged: what is complete in every store is kept. Settings changed:
        a new index is built beside the old, which answers until one transaction swaps them. Text that
        was embedded before by the same model is not embedded again.
        """
        changes = {"chunk_tokens": chunk_tokens, "chunk_overlap": chunk_overlap, "embedder": embedder}
        return self._indexer.reindex(document_ids, **changes)

    def reindex_seconds(self) -> float | None:
        """How long it would take to make every vector anew, as fast as the newest files were indexed.

        ``None`` where no file was indexed yet.
        """
        pace = self._stores.jobs.chunks_per_second()
        return self._stores.library.counts()["chunks"] / pace if pace else None

    def render_page(
        self,
        document_id: str,
        page_index: int,
        *,
        version_id: str | None = None,
        highlights: Sequence[tuple[int, int]] = (),
        scale: float = 1.5,
    ) -> PageImage:
        """A picture of a page, with spans of its text marked.

        Parameters
        ----------
        version_id : str, optional
            The version that the spans refer to. Where another has taken its place the page is shown
            without marks, rather than with wrong ones.
        highlights : sequence of (start, end)
            Character offsets in the page's text.
        scale : float
            Pixels a point.

        Raises
        ------
        UnknownDocument
            The document or the page is not in the library.
        EncryptedPdf
            The file needs a password, which is not kept: only its text can be shown.
        """
        return self._viewing.picture(document_id, page_index, version_id, highlights, scale)

    # watched folders

    def watches(self) -> list[Watch]:
        """Folders that the library is kept in step with."""
        return self._stores.watches.listed()

    def watch(self, url: str, *, collection: str = DEFAULT_COLLECTION) -> Watch:
        """Keep the library in step with a folder or fsspec URL; raises `SettingsError`.

        Looked at by `sync_watch`, and from time to time once `start_watching` was called.
        """
        return self._watching.add(url, clean_collection(collection))

    def watched(self, url: str) -> Watch | None:
        """The watch of a folder or fsspec URL, reachable or not; raises `SettingsError` for what is neither."""
        return self._watching.find(url)

    def unwatch(self, watch_id: str) -> None:
        """Watch a folder no longer; its documents stay."""
        self._stores.watches.remove(watch_id)

    def sync_watch(self, watch_id: str) -> Sync | None:
        """Look at a watched folder now; ``None`` when it is not watched any more."""
        found = [watch for watch in self.watches() if watch.watch_id == watch_id]
        return self._watching.sync(found[0]) if found else None

    def start_watching(self) -> None:
        """Look at watched folders from time to time, in the background."""
        self._watching.start()

    # asking

    def search(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        top_k: int | None = None,
        configuration: Configuration | None = None,
    ) -> SearchResult:
        """Passages for a question, best first, without an answer.

        Parameters
        ----------
        question : str
        documents, collections : sequence of str, optional
            Names or ids of documents, and names of collections, to search in; everything when none is given.
        top_k : int, optional
            How many passages; wins over the configuration's.
        configuration : Configuration, optional
            How to retrieve; as set, unless given.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, EmbedderError, RerankerMissing, IndexMismatch, StoreError
        SettingsError
            The configuration's strategy needs a language model, and none is set.
        """
        scope = _scope(documents, collections)
        query = self._searching.query(question, scope, top_k, configuration or AS_SET)
        return finished(self._strategies.search(query, Timer())).result

    def ask(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        top_k: int | None = None,
        history: Sequence[Message] = (),
        configuration: Configuration | None = None,
        search_for: str | None = None,
        suggest: bool = False,
    ) -> Generator[AskEvent, None, None]:
        """Answer a question, as a stream of events that ends with one `Answer`.

        A `Stage` tells what is being done, `Rewritten` what is searched for in place of a follow-up, a
        `SearchResult` what the answer is written from, a `Delta` brings the next piece of text, a `Restart`
        takes back what came so far. Closing the iterator stops the work.

        Parameters
        ----------
        history : sequence of Message
            Earlier turns, oldest first. A question that leans on them is searched for in words that
            stand alone, which the answer's ``rewritten`` tells.
        configuration : Configuration, optional
            How to retrieve; as set, unless given. Its strategy's steps are stages, and kept with the answer.
        search_for : str, optional
            Search for this, whatever the history: a rewriting that the reader corrected.
        suggest : bool
            Fill the answer's ``follow_ups``, which takes a few searches more.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, EmbedderError, RerankerMissing, IndexMismatch, StoreError
        SettingsError
            The configuration's strategy needs a language model, and none is set.
        """
        scope = _scope(documents, collections)
        asked = self._conversing.ask(question, scope, top_k, history, configuration or AS_SET, search_for)
        return self._conversing.with_follow_ups(asked, scope) if suggest else asked

    def answer(self, question: str, **options: Any) -> Answer:
        """`ask`, without the stream."""
        started = time.perf_counter()
        for event in self.ask(question, **options):
            if isinstance(event, Answer):
                return event
        raise RagError(f"No answer came in {time.perf_counter() - started:.0f} s.")

    # explaining

    def explain(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        configuration: Configuration | None = None,
    ) -> Explanation:
        """What each stage of `search` found for a question, all ranks and scores, and the gate's verdict.

        Parameters
        ----------
        question : str
        documents, collections : sequence of str, optional
            As in `search`.
        configuration : Configuration, optional
            How to retrieve; as set, unless given.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, EmbedderError, RerankerMissing, IndexMismatch, StoreError
        """
        return self._explaining.explain(question, _scope(documents, collections), configuration or AS_SET)

    def token_matches(self, question: str, chunk_id: str) -> TokenMatches:
        """For each token of a question, its weight and its best match in a chunk.

        There are none where the embedder gives no token vectors, or the chunk has none yet.

        Raises
        ------
        QuestionError, UnknownDocument, EmbedderError, RerankerMissing, IndexMismatch, StoreError
        """
        return self._explaining.token_matches(question, chunk_id)

    def weigh(self, explanation: Explanation, weighting: Weighting) -> tuple[Weighed, ...]:
        """Passages with the weights that a reader would give them, best first.

        See `rag_core.retrieval.passage_weights.weigh` for the formula. Passages without a rerank score are
        left out. Raises `ValueError` where k or temperature is out of range.
        """
        return weigh(candidates(explanation), weighting)

    def evidence_mass(self, weighed: Sequence[Weighed], k: int, right: str | None) -> EvidenceMass:
        """What becomes of the right passage among the ``k`` that are weighed; ``None``: no stage found it."""
        return evidence_mass(weighed, k, right)

    # conversations

    def conversations(self, query: str = "") -> list[Conversation]:
        """Conversations whose title or text holds ``query``: pinned first, then newest."""
        return self._stores.conversations.listed(query)

    def new_conversation(self, scope: Scope | None = None) -> Conversation:
        """Begin a conversation, over everything unless a scope is given."""
        return self._stores.conversations.add(scope or Scope())

    def conversation(self, conversation_id: str) -> tuple[Conversation, list[Message]]:
        """A conversation and its messages; raises `UnknownConversation`."""
        store = self._stores.conversations
        return store.get(conversation_id), store.messages(conversation_id)

    def append(self, conversation_id: str, role: str, text: str, answer: Answer | None = None) -> Message:
        """Add a turn; the first question becomes the title. Raises `UnknownConversation`."""
        return self._stores.conversations.append(conversation_id, role, text, answer)

    def remove_messages(self, message_ids: Sequence[str]) -> None:
        """Take turns out of a conversation, as when one is asked again."""
        self._stores.conversations.remove_messages(message_ids)

    def export_markdown(self, conversation_id: str) -> str:
        """A conversation as Markdown, with the sources of its answers; raises `UnknownConversation`."""
        return markdown(self.settings, *self.conversation(conversation_id))

    def export_pdf(self, conversation_id: str) -> bytes:
        """A conversation as a PDF, with the sources of its answers; raises `UnknownConversation`."""
        return pdf(self.settings, *self.conversation(conversation_id))

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title; an empty one changes nothing."""
        if title.strip():
            self._stores.conversations.update(conversation_id, title=" ".join(title.split())[:200])

    def pin(self, conversation_id: str, pinned: bool) -> None:
        self._stores.conversations.update(conversation_id, pinned=pinned)

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        """Choose what a conversation asks over; raises `UnknownConversation`."""
        self._stores.conversations.set_scope(conversation_id, scope)

    def delete_conversation(self, conversation_id: str) -> None:
        self._stores.conversations.delete(conversation_id)

    # evaluation

    def feedback(self, message_id: str, good: bool, note: str = "") -> None:
        """Note what a reader thinks of an answer, in place of what was noted before.

        A good answer becomes a label: its question with the pages that it cites, or, where it is a
        refusal, as a question without an answer. A bad one takes back the label made from it.

        Raises
        ------
        UnknownConversation, LabelError
        """
        self._labelling.feedback(message_id, Feedback(good, note))

    def withdraw_feedback(self, message_id: str) -> None:
        """Take back what was noted of an answer, and the label made from it."""
        self._labelling.withdraw(message_id)

    def feedback_on(self, message_id: str) -> Feedback | None:
        """What was noted of an answer."""
        return self._stores.evaluations.feedback(message_id)

    def confirm_passage(self, message_id: str, rank: int) -> None:
        """Label an answer's question with the page of one of its passages, which answers it.

        Raises
        ------
        UnknownConversation, LabelError
        """
        self._labelling.confirm_passage(message_id, rank)

    def labels(self) -> list[Label]:
        """Labels made in the app, oldest first."""
        return self._stores.evaluations.labels()

    def labelled_pages(self, question: str) -> set[PageKey]:
        """Pages that a question's labels made in the app say answer it, as far as the library still holds them."""
        return self._labelling.pages_of(question)

    def add_label(
        self,
        question: str,
        *,
        kind: LabelKind = LabelKind.ANSWERABLE,
        evidence: Sequence[Evidence] = (),
        answers: Sequence[str] = (),
    ) -> Label:
        """Keep a labelled question.

        Raises
        ------
        LabelError
            There is no question, or it is said to have an answer and neither page nor answer is named, or a page is
            named that the library does not hold.
        """
        return self._labelling.add(question, kind, evidence, answers)

    def remove_label(self, label_id: str) -> None:
        self._stores.evaluations.remove_label(label_id)

    def read_labels(self, name: str, data: bytes) -> list[Label]:
        """Labelled questions of a file in JSON lines or CSV; raises `LabelError`, with the line.

        See `rag_core.evaluation.label_files.parse_labels` for what may stand in it.
        """
        return parse_labels(name, data)

    def evaluate(
        self,
        labels: Sequence[Label],
        configuration: Configuration | Baseline | None = None,
        *,
        name: str = "",
        answers: bool = True,
    ) -> Generator[EvaluationEvent, None, None]:
        """Ask labelled questions, as a stream of progress that ends with one `Evaluation`, which is kept.

        Each question is searched for once, and answered below the threshold as well, so that other
        thresholds can be judged by the same answers. Closing the iterator stops the work; nothing is
        kept then.

        Parameters
        ----------
        labels : sequence of Label
        configuration : Configuration or Baseline, optional
            How to retrieve; as set, unless given.
        name : str
            What the evaluation is listed as.
        answers : bool
            Whether to answer; else only rankings are judged.

        Raises
        ------
        LabelError
            There are none, or some name what the library does not hold.
        GeneratorError
            The endpoint failed: quotes in the place of its answers would be measured as its own.
        EmbedderError, RerankerMissing, IndexMismatch, StoreError
        """
        return self._evaluating.run(labels, configuration or AS_SET, name, answers=answers)

    def start_evaluation(
        self,
        labels: Sequence[Label],
        configurations: Sequence[Configuration | Baseline],
        *,
        name: str = "",
        answers: bool = True,
    ) -> EvaluationState:
        """`evaluate` each configuration in the background, one evaluation at a time.

        Where one is under way already, that one goes on and its state is given.
        """
        return self._evaluations.start(labels, configurations, name, answers=answers)

    def evaluation_state(self) -> EvaluationState | None:
        """How far the evaluation in the background is, or how the last one ended."""
        return self._evaluations.state()

    def cancel_evaluation(self) -> None:
        """Stop the evaluation in the background after its present question."""
        self._evaluations.cancel()

    def evaluations(self) -> list[Evaluation]:
        """Evaluations that were kept, newest first."""
        return self._stores.evaluations.listed()

    def evaluation(self, evaluation_id: str) -> Evaluation:
        """One of them; raises `UnknownEvaluation`."""
        return self._stores.evaluations.get(evaluation_id)

    def remove_evaluation(self, evaluation_id: str) -> None:
        self._stores.evaluations.remove(evaluation_id)

    def compare(self, first: Evaluation, second: Evaluation) -> tuple[Comparison, ...]:
        """How much higher the second is in each metric, on the questions that both asked."""
        return compare(first.outcomes, second.outcomes)

    def advise_threshold(self, evaluation: Evaluation, most: float = MOST_ANSWERED) -> ThresholdAdvice | None:
        """The lowest threshold at which at most a share of the questions without an answer is answered.

        ``None`` where questions of either sort are missing, or no threshold up to 1 does it.
        """
        return advise_threshold(*gate_scores(evaluation.outcomes), most)

    def evaluation_plots(self, evaluations: Sequence[Evaluation]) -> dict[str, Mapping[str, Any]]:
        """Charts of one or two evaluations by name, as Vega-Lite specifications."""
        return dict(plots(evaluations))

    def write_report(self, evaluations: Sequence[Evaluation], folder: Path) -> list[Path]:
        """Write tables (CSV) and charts (SVG) of one or two evaluations; raises `SettingsError`."""
        comparisons = self.compare(*evaluations) if len(evaluations) == 2 else ()
        return write_report(evaluations, comparisons, folder)

    # administration

    def status(self) -> Status:
        """The state of the whole installation; waits for the model if it is being loaded."""
        return condition(
            self.settings,
            self._stores,
            self._generations,
            self._preferences,
            lambda: self.generator_name,
            self._removal.unfinished,
        )

    def usage(self, since: datetime | None = None) -> list[UsageTotal]:
        """What language models took since a moment, or ever: by generator, and by currency of its cost."""
        return self._stores.usage.totals(since)

    def mismatch(self) -> dict[str, tuple[Any, Any]]:
        """Where the index and the settings differ, as ``name: (index, settings)``."""
        return self._generations.mismatch()

    @property
    def threshold(self) -> float:
        """The gate's threshold in use, which depends on whether there is a language model."""
        return self._preferences.threshold

    @property
    def gate(self) -> str:
        """The score that decides whether to answer, which depends on whether there is a language model."""
        return self._preferences.gate

    @property
    def default_threshold(self) -> float:
        """What the settings say of the threshold in use."""
        return self._preferences.default_threshold

    def set_threshold(self, value: float | None) -> None:
        """Override the threshold in use; ``None`` goes back to the setting."""
        self._preferences.set_threshold(value)

    def gate_scores(self, most: int = 200) -> list[float]:
        """The scores of the present gate for the newest questions of conversations, newest first."""
        return self._stores.conversations.gate_scores(self._preferences.gate, most)

    def gate_scores_plot(self, scores: Sequence[float]) -> Mapping[str, Any]:
        """Such scores and the threshold as a chart, a Vega-Lite specification."""
        return score_plot(scores, self.threshold)

    @property
    def top_k(self) -> int:
        """How many passages are shown and given to the answerer."""
        return self._preferences.top_k

    def set_top_k(self, value: int | None) -> None:
        """Override the number of passages; ``None`` goes back to the setting."""
        self._preferences.set_top_k(value)


def _scope(documents: Sequence[str] | None, collections: Sequence[str]) -> Scope:
    return Scope(tuple(documents or ()), tuple(collections))
