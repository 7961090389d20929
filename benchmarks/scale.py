"""Measure how search time, recall, memory and disk use grow with the number of chunks.

    python -m benchmarks.scale DATA [--sizes 1000 10000 100000] [--distinct N] [--svg FILE]

DATA contains ``pdfs/`` and ``questions.jsonl``. Its documents are indexed once, and a sample of their chunks is the
*base*. The chunks that are searched are generated from the base and written directly to the stores, without the
embedder, to save time. A generated chunk has:

- text: the words of a base chunk. Most rare words, which are in a smaller share of the base chunks than `COMMON`, are
  replaced by generated words whose frequencies follow Zipf's law. So common words are as frequent as in real text, and
  rare words stay rare;
- a dense vector: a base vector plus half of another base vector, plus noise of the length of that half, scaled to unit
  length;
- token vectors: the token vectors of a base chunk, with noise. After the first ``--distinct`` chunks, each chunk shares
  the token vectors of an earlier chunk. This saves disk space and does not change the search.

Then a separate process searches for each question `ROUNDS` times with `Engine.search`. The time of a question is the
median of its rounds, and percentiles are over questions. Recall compares Chroma's approximate search with an exact
search over the same vectors.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.quality import index_pdfs
from rag_core.embedding import load_embedder
from rag_core.engine import Engine
from rag_core.evaluation.plots import render_svg
from rag_core.index.retriever import ChunkBatch
from rag_core.indexing.recovery import record_clean_shutdown
from rag_core.runtime.index_generations import IndexGeneration, IndexGenerations
from rag_core.runtime.models import LocalModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings, load_settings
from rag_core.store.serialization import hash_text
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import ChunkSpan, Embedding, build_embedded_text
from rag_core.types.documents import DocumentStatus, Page, PageState

BASE = 600
QUESTIONS = 200
ROUNDS = 3
CHUNKS_A_DOCUMENT = 100
BATCH = 1000
COMMON = 0.05
KEPT = 0.1  # share of rare words that are not replaced, so that questions have matches
SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprstvz" for vowel in "aeiou"]
STAGES = ("embed", "dense", "lexical", "rerank", "gate", "total")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Base:
    """Real chunks with their embeddings and common words, from which other chunks are generated."""

    spans: Sequence[ChunkSpan]
    embeddings: Sequence[Embedding]
    dense: FloatArray
    common: frozenset[str]


@dataclass(frozen=True, slots=True)
class Figures:
    """The measurements at one number of chunks.

    ``ms`` has the p50 and p95 of the milliseconds by stage, ``recall`` has the recall by number of nearest chunks, and
    ``disk`` has the bytes by store. ``memory`` is in bytes, and ``first_s`` is the time of the first search.
    """

    chunks: int
    ms: dict[str, tuple[float, float]]
    first_s: float
    recall: dict[int, float]
    memory: int
    disk: dict[str, int]


def make_base(data: Path, folder: Path) -> Base:
    """Index DATA, and embed an evenly spaced sample of its chunks."""
    with Engine(load_settings(data_dir=folder)) as engine:
        index_pdfs(engine, data)
        spans = [span for document in engine.documents.list() for span in engine.documents.chunks(document.document_id)]
        spans = spans[:: max(1, len(spans) // BASE)][:BASE]
        embedder = load_embedder(engine.settings.embedder)
    embeddings = embedder.embed([build_embedded_text(span.prefix, span.text) for span in spans])
    held_by = Counter(word for span in spans for word in {word.lower() for word in _WORD.findall(span.text)})
    common = frozenset(word for word, count in held_by.items() if count >= COMMON * len(spans))
    return Base(spans, embeddings, np.stack([one.dense for one in embeddings]), common)


def generate_text(base: Base, text: str, chance: random.Random) -> str:
    """Return the text with most of its rare words replaced by generated words."""

    def other(match: re.Match[str]) -> str:
        word = match.group()
        if word.lower() in base.common or chance.random() < KEPT:
            return word
        # Under Zipf's law, the logarithm of the rank of a word is uniformly distributed.
        rank = int(len(SYLLABLES) ** chance.uniform(1, 3))
        return "".join(SYLLABLES[rank // len(SYLLABLES) ** place % len(SYLLABLES)] for place in range(3))

    return _WORD.sub(other, text)


def generate_chunks(base: Base, first: int, count: int) -> tuple[list[ChunkSpan], list[Embedding]]:
    """Return the chunks from ``first`` up to ``first + count``, with embeddings; they are the same in every run."""
    chance, noise = random.Random(first), np.random.default_rng(first)
    picked = noise.integers(len(base.spans), size=(count, 2))
    dense = base.dense[picked[:, 0]] + 0.5 * base.dense[picked[:, 1]]
    dense += noise.standard_normal(dense.shape, np.float32) * (0.5 / np.sqrt(dense.shape[1]))
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    spans, embeddings = [], []
    for position, number in enumerate(picked[:, 0]):
        text = generate_text(base, base.spans[number].text, chance)
        ordinal = (first + position) % CHUNKS_A_DOCUMENT
        spans.append(
            replace(base.spans[number], ordinal=ordinal, text=text, page_index=ordinal, page_index_end=ordinal)
        )
        real = base.embeddings[number]
        tokens = real.tokens // 2 + noise.integers(-12, 13, real.tokens.shape, np.int8)
        embeddings.append(Embedding(dense[position].astype(np.float32), tokens, real.scales * 2))
    return spans, embeddings


def fill(settings: Settings, base: Base, size: int, distinct: int, vectors_file: Path) -> None:
    """Write generated chunks to the stores until the stores have ``size`` chunks."""
    stores = Stores(settings)
    try:
        generation = IndexGenerations(settings, stores, LocalModels(settings)).active()
        for first in range(stores.documents.counts()["chunks"], size, BATCH):
            spans, embeddings = generate_chunks(base, first, min(BATCH, size - first))
            write(stores, generation, first, spans, embeddings, distinct)
            with vectors_file.open("ab") as file:
                file.write(np.stack([one.dense for one in embeddings]).tobytes())
        record_clean_shutdown(stores)
    finally:
        stores.close()


def write(
    stores: Stores,
    generation: IndexGeneration,
    first: int,
    spans: Sequence[ChunkSpan],
    embeddings: Sequence[Embedding],
    distinct: int,
) -> None:
    """Store a batch of chunks in the order of the indexer: documents, pages, chunks, words, vectors, publication."""
    versions, ids = [], []
    for offset in range(0, len(spans), CHUNKS_A_DOCUMENT):
        name = f"{(first + offset) // CHUNKS_A_DOCUMENT:07}"
        document_spans = spans[offset : offset + CHUNKS_A_DOCUMENT]
        _, version = stores.documents.add_version(
            f"{name}.pdf", "default", name, len(document_spans), generation_id=generation.generation_id
        )
        pages = [Page(span.page_index, str(span.page_index + 1), span.text, PageState.TEXT) for span in document_spans]
        stores.documents.save_pages(version, pages)
        ids += stores.documents.save_chunks(version, document_spans)
        versions += [version] * len(document_spans)
    assert ids == list(range(first + 1, first + 1 + len(spans))), "the folder was not empty"
    vectors = np.stack([one.dense for one in embeddings])
    batch = ChunkBatch(ids, [(span.prefix, span.text) for span in spans], versions, vectors)
    for retriever, index in stores.open_indexes(generation.generation_id):
        if retriever.reads != "encoding":
            index.add(batch)
    if first < distinct:
        hashes = [hash_text(span.prefix, span.text) for span in spans]
        stores.embeddings.save(generation.space, dict(zip(hashes, embeddings, strict=True)))
        vector_ids = stores.embeddings.find_ids(generation.space, hashes)
        stores.embeddings.link_chunks({chunk_id: vector_ids[key] for chunk_id, key in zip(ids, hashes, strict=True)})
    else:
        stores.embeddings.link_chunks({chunk_id: 1 + (chunk_id - 1) % distinct for chunk_id in ids})
    for version in dict.fromkeys(versions):
        stores.documents.publish(version, DocumentStatus.INDEXED, "", active=True)


def measure(settings: Settings, questions: Sequence[str], vectors_file: Path) -> Figures:
    """Search for all questions in rounds, then compare Chroma with an exact search.

    Call this in a new process, because the memory of the process is measured.
    """
    with Engine(settings) as engine:
        engine.warm_up()
        while not engine.readiness().ready:
            time.sleep(0.05)
        started = time.perf_counter()
        engine.search(questions[-1])
        first_s = time.perf_counter() - started
        rounds = [[engine.search(question).timings_ms for question in questions] for _ in range(ROUNDS)]
        memory = resident_bytes()
        chunks = engine.status().counts["chunks"]
    medians = {stage: np.median([[timings[stage] for timings in one] for one in rounds], axis=0) for stage in STAGES}
    ms = {stage: (float(np.percentile(one, 50)), float(np.percentile(one, 95))) for stage, one in medians.items()}
    return Figures(chunks, ms, first_s, recall(settings, questions, vectors_file), memory, disk(settings.data_dir))


def recall(settings: Settings, questions: Sequence[str], vectors_file: Path) -> dict[int, float]:
    """Return the mean recall of Chroma at 10 and at 100: the share of the exact nearest chunks that it finds."""
    stores = Stores(settings)
    try:
        generation = IndexGenerations(settings, stores, LocalModels(settings)).active()
        embedded = [generation.embedder.embed_question(question) for question in questions]
        indexes = stores.open_indexes(generation.generation_id)
        dense = next(index for one, index in indexes if one.score.name == "dense")
        approximate = [[hit.chunk_id for hit in dense.retrieve(question, 100)] for question in embedded]
    finally:
        stores.close()
    vectors = np.memmap(vectors_file, np.float32, "r").reshape(-1, len(embedded[0].dense))
    similarities = np.stack([question.dense for question in embedded]) @ vectors.T
    exact = np.argsort(-similarities, axis=1)[:, :100] + 1
    pairs = list(zip(exact.tolist(), approximate, strict=True))
    return {k: float(np.mean([len({*true[:k]} & {*near[:k]}) / k for true, near in pairs])) for k in (10, 100)}


def resident_bytes() -> int:
    """Return the anonymous resident memory of this process in bytes.

    Mapped files are not included, because the system can drop them from memory.
    """
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"RssAnon:\s+(\d+)", status).group(1))  # type: ignore[union-attr] # Linux has this line


def disk(folder: Path) -> dict[str, int]:
    """Return the size of each store on disk, in bytes."""
    return {
        "database": (folder / "footnote.sqlite").stat().st_size,
        "words": (folder / "words.sqlite").stat().st_size,
        "Chroma": sum(file.stat().st_size for file in (folder / "chroma").rglob("*") if file.is_file()),
    }


def lines(figures: Figures) -> Iterator[str]:
    """Yield the table row of one size: the medians by stage, then the other measurements."""
    cells = [f"{figures.chunks:,}", *(f"{figures.ms[stage][0]:.1f}" for stage in STAGES)]
    cells += [f"{figures.ms['total'][1]:.1f}", *(f"{value:.3f}" for value in figures.recall.values())]
    cells += [f"{figures.first_s:.1f}", f"{figures.memory / 1e6:,.0f}"]
    cells += [f"{size / figures.chunks / 1000:.1f}" for size in figures.disk.values()]
    yield f"| {' | '.join(cells)} |"


def chart(measured: Sequence[Figures]) -> str:
    """Return an SVG chart of the median milliseconds of each stage and the p95 of the total, by number of chunks."""
    values = [
        {"chunks": one.chunks, "ms": one.ms[stage][0], "stage": stage} for one in measured for stage in STAGES
    ] + [{"chunks": one.chunks, "ms": one.ms["total"][1], "stage": "total, p95"} for one in measured]
    return render_svg(
        {
            "data": {"values": values},
            "width": 520,
            "height": 260,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "chunks", "type": "quantitative", "scale": {"type": "log"}, "axis": {"format": "~s"}},
                "y": {"field": "ms", "type": "quantitative", "title": "milliseconds a question"},
                "color": {"field": "stage", "type": "nominal", "sort": [*STAGES, "total, p95"], "title": None},
            },
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--distinct", type=int, default=100_000, help="number of chunks with distinct token vectors")
    parser.add_argument("--data-dir", type=Path, default=None, help="store the library here; reuse it if it exists")
    parser.add_argument("--svg", type=Path, default=None, help="write the chart to this file")
    arguments = parser.parse_args()
    rows = (arguments.data / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(row)["question"] for row in rows][:QUESTIONS]
    measured = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.data_dir or Path(temporary) / "data"
        settings, vectors_file = load_settings(data_dir=folder), folder.with_suffix(".f32")
        base = make_base(arguments.data, Path(temporary) / "base")
        columns = [
            *STAGES,
            "p95",
            "recall@10",
            "recall@100",
            "first s",
            "memory MB",
            "database kB",
            "words kB",
            "Chroma kB",
        ]
        print(f"| chunks | {' | '.join(columns)} |\n|{' --- |' * (1 + len(columns))}")
        for size in sorted(arguments.sizes):
            fill(settings, base, size, arguments.distinct, vectors_file)
            # Measure in a separate process, so that its memory contains only what a search needs.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                measured.append(pool.submit(measure, settings, questions, vectors_file).result())
            print(*lines(measured[-1]), sep="\n", flush=True)
    if arguments.svg:
        arguments.svg.write_text(chart(measured), "utf-8")


if __name__ == "__main__":
    main()
