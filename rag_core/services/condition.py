"""The state of the installation: what each store holds, what answers, what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from rag_core.errors import RagError, StoreError
from rag_core.services.generations import Generations
from rag_core.services.stores import Stores
from rag_core.settings import Settings
from rag_core.types import DocumentStatus, Status

SHOWN_VERSIONS = ("streamlit", "chromadb", "sentence-transformers", "torch", "pypdfium2", "pypdf", "openai")


def condition(settings: Settings, stores: Stores, generations: Generations, threshold: float) -> Status:
    """Look at everything once; see `Status`. A store that does not answer is a problem, not an error."""
    problems: list[str] = []
    reachable: dict[str, bool] = {}
    held: dict[str, int] = {}

    def count(name: str, what: Callable[[], int]) -> None:
        try:
            held[name] = what()
            reachable[name] = True
        except (StoreError, OSError) as error:
            reachable[name] = False
            problems.append(str(error))

    counts: dict[str, int] = {}
    try:
        counts = stores.library.counts()
    except StoreError as error:
        problems.append(str(error))
    count("database", lambda: len(stores.library.chunk_ids_all()))
    count("words", stores.words.count)
    count("vectors", lambda: sum(stores.dense(one).count() for one, _ in _live(stores)))
    count("token vectors", stores.vectors.count)
    count("files", lambda: len(stores.files.digests()))
    built = configured = None
    try:
        built = generations.built_with()
        configured = generations.configured()
        generations.active()
    except RagError as error:
        problems.append(str(error))
    if built and configured and (differing := built.differences(configured)):
        problems.append(
            f"The index was built with other settings ({', '.join(differing)}). Re-index to bring it up to date."
        )
    busy = bool(stores.jobs.listed(active=True, limit=1))
    if not busy and len({held.get(name) for name in ("database", "words", "vectors")}) > 1:
        problems.append(
            f"The stores disagree: {held.get('database')} chunks in the database, {held.get('words')} in the word "
            f"index, {held.get('vectors')} in Chroma. Re-index to mend it."
        )
    failed = sum(document.status is DocumentStatus.FAILED for document in stores.library.documents())
    return Status(
        healthy=not problems,
        problems=problems,
        counts={**counts, "failed": failed, "conversations": stores.conversations.count()},
        stores=held,
        reachable=reachable,
        built_with=built,
        configured=configured,
        disk_bytes=_disk(settings.data_dir),
        data_dir=str(settings.data_dir),
        threshold=threshold,
        generator=settings.generator_name,
        versions={name: metadata.version(name) for name in SHOWN_VERSIONS},
    )


def _live(stores: Stores) -> list[tuple[int, object]]:
    return [*stores.library.generations("active"), *stores.library.generations("building")]


def _disk(folder: Path) -> dict[str, int]:
    """Bytes by what is stored, symbolic links not followed."""
    sizes: dict[str, int] = {}
    for file in folder.rglob("*"):
        try:
            size = file.lstat().st_size if file.is_file() else 0
        except OSError:  # gone since it was listed
            continue
        part = file.relative_to(folder).parts[0]
        name = {"footnote.sqlite": "database", "words.sqlite": "words"}.get(part.removesuffix("-wal"), part)
        sizes[name] = sizes.get(name, 0) + size
    return sizes
