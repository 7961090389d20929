"""Check the health of the installation: the availability and the sizes of the stores, and their problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from rag_core.errors import RagError
from rag_core.index.retriever import Retriever
from rag_core.llm.gguf import find_gguf_problem
from rag_core.parsing.formats.accepted import PARSER_VERSIONS
from rag_core.parsing.libreoffice import find_soffice
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.store.read_only import describe_refusal
from rag_core.types.chunks import Fingerprint
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import Job
from rag_core.types.status import Status, describe_outdated

T = TypeVar("T")
# Maximum number of names of waiting files in a notice.
MAX_NAMED = 5
SHOWN_VERSIONS = ("streamlit", "chromadb", "sentence-transformers", "torch", "pypdfium2", "pypdf", "openai")


def check_health(
    settings: Settings,
    stores: Stores,
    generations: IndexGenerations,
    preferences: Preferences,
    models: LanguageModels,
    *,
    list_unfinished: Callable[[], list[str]],
    queue_problem: str,
    describe_failures: Callable[[], list[str]],
) -> Status:
    """Check all stores and settings, and return a `Status`.

    A store that does not answer is reported as a problem.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    generations : IndexGenerations
    preferences : Preferences
    models : LanguageModels
    list_unfinished : callable
        Returns the names of the documents whose removal was interrupted.
    queue_problem : str
        Why the indexing queue cannot go on; empty if it works.
    describe_failures : callable
        Returns a sentence for each document that LibreOffice could not convert.
    """
    problems: list[str] = [queue_problem] if queue_problem else []
    reachable: dict[str, bool] = {}
    sizes: dict[str, int] = {}

    def try_call(call: Callable[[], T], default: T) -> T:
        try:
            return call()
        except (RagError, OSError) as error:
            problems.append(str(error))
            return default

    def count(name: str, call: Callable[[], int]) -> None:
        number = try_call(call, -1)
        reachable[name] = number >= 0
        if reachable[name]:
            sizes[name] = number

    counts = try_call(lambda: _count_contents(stores), dict[str, int]())
    count("database", stores.documents.count_chunks)
    built = try_call(generations.built_with, None)
    retrievers = stores.list_retrievers(built)
    for retriever in retrievers:
        count(retriever.store, partial(_count_indexed, stores, retriever))
    count("token vectors", stores.embeddings.count)
    contents = try_call(stores.documents.searchable_digests, frozenset[str]())
    files = try_call(lambda: frozenset(stores.files.digests()), None)
    count("files", lambda: -1 if files is None else len(files))
    configured = try_call(generations.configured, None)
    try_call(generations.active, None)
    gguf = try_call(lambda: models.settings.gguf, settings.gguf)
    if gguf and (problem := find_gguf_problem(gguf)):
        problems.append(problem)
    if names := try_call(list_unfinished, list[str]()):
        problems.append(
            f"The removal of {', '.join(names)} was interrupted, for example by a store that did not answer: parts are "
            "still stored, but no search finds them. It continues automatically."
        )
    # Compare the numbers of chunks only if all stores have answered and none is being changed.
    busy = try_call(lambda: _is_busy(stores), False)
    settled = all(reachable.values()) and not busy
    if settled and {sizes[one.store] for one in retrievers} != {sizes["database"]}:
        indexed = "".join(f", {sizes[one.store]} {one.place}" for one in retrievers)
        problems.append(
            f"The stores disagree: {sizes['database']} chunks in the database{indexed}. "
            "Re-index all documents to repair it."
        )
    lost = frozenset[str]() if files is None else contents - files
    if lost:  # Ignore documents that were deleted after the first query, because deletion removes their files.
        lost &= try_call(stores.documents.searchable_digests, frozenset[str]())
    if lost:
        problems.append(
            f"{'The file of 1 document is' if len(lost) == 1 else f'The files of {len(lost)} documents are'} missing. "
            "Searches still work, but those pages cannot be shown or indexed again: set RAG_FILES_URL to the folder of "
            "the files, restore them from a backup of the data folder, or add the same files again."
        )
    outdated = len(try_call(lambda: stores.documents.outdated_ids(PARSER_VERSIONS), list[str]()))
    # Remove repetitions: if a store does not answer, several checks report the same problem.
    unique = list(dict.fromkeys(problems))
    return Status(
        healthy=not unique,
        problems=unique,
        counts=counts,
        stores=sizes,
        reachable=reachable,
        built_with=built,
        configured=configured,
        disk_bytes=_measure_disk(settings.data_dir),
        data_dir=str(settings.data_dir),
        threshold=try_call(lambda: preferences.threshold, settings.threshold),
        generator=try_call(lambda: models.generator, settings.generator_name),
        usage=try_call(stores.usage.totals, []),
        notices=[
            *([describe_refusal(settings.data_dir)] if stores.is_read_only else []),
            *_describe_waiting(try_call(lambda: stores.jobs.all(active=True), [])),
            *_describe_differences(built, configured),
            *try_call(describe_failures, list[str]()),
            *([f"{describe_outdated(outdated)} To re-index: python -m rag_core reindex"] if outdated else []),
        ],
        versions={name: metadata.version(name) for name in SHOWN_VERSIONS},
        libreoffice=find_soffice(),
    )


def _describe_waiting(jobs: Sequence[Job]) -> list[str]:
    """Return a notice about the files that are not indexed yet; an empty list if there are no such files."""
    files = [job.name for job in reversed(jobs) if job.kind == "index"]
    if not files:
        return []
    more = f" and {len(files) - MAX_NAMED:,} more" if len(files) > MAX_NAMED else ""
    return [
        f"Not indexed yet: {', '.join(files[:MAX_NAMED])}{more}. "
        "Indexing goes on while Footnote runs; python -m rag_core add --resume waits until it is done."
    ]


def _describe_differences(built: Fingerprint | None, configured: Fingerprint | None) -> list[str]:
    """Return a notice about the settings that a re-index would apply; an empty list if no setting differs."""
    if built is None or configured is None:
        return []
    # The version of the parser has a separate notice.
    differing = sorted(built.differences(configured).keys() - {"extractor"})
    if not differing:
        return []
    return [
        f"The index was built with other settings ({', '.join(differing)}). It is used unchanged; re-index all "
        "documents to apply the new settings."
    ]


def _count_contents(stores: Stores) -> dict[str, int]:
    failed = sum(document.status is DocumentStatus.FAILED for document in stores.documents.documents())
    return {**stores.documents.counts(), "failed": failed, "conversations": stores.conversations.count()}


def _is_busy(stores: Stores) -> bool:
    """Return whether documents are being indexed or removed, so that the stores may differ for a while."""
    hidden = stores.documents.find_inactive_versions().keys() - stores.snapshots.find_snapshot_only_versions()
    return bool(hidden or stores.jobs.all(active=True, limit=1))


def _count_indexed(stores: Stores, retriever: Retriever) -> int:
    # One index for all generations can be counted even if the database does not answer.
    generations = [] if retriever.is_shared else stores.documents.generations("active", "building")
    return sum(index.count() for index in retriever.open_all(generation_id for generation_id, _ in generations))


def _measure_disk(folder: Path) -> dict[str, int]:
    """Return the sizes in bytes of the files and folders directly in the data folder, by name.

    The files of a SQLite database count as one. Locks and hidden files are left out.
    """
    sizes: dict[str, int] = {}
    for file in folder.rglob("*"):
        try:
            size = file.lstat().st_size if file.is_file() else 0
        except OSError:  # The file was deleted after it was listed.
            continue
        part = file.relative_to(folder).parts[0].removesuffix("-wal").removesuffix("-shm")
        # Ignore lock files and the file with the id of the process that holds the lock.
        if part.startswith(".") or part.endswith(".lock"):
            continue
        name = "database" if part == "footnote.sqlite" else part.removesuffix(".sqlite")
        sizes[name] = sizes.get(name, 0) + size
    return sizes
