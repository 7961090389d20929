"""After any sequence of additions, replacements, deletions, re-indexes and restarts, the library is a dict."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_core.embedding import SentenceTransformerEmbedder
from rag_core.engine import Engine
from rag_core.settings import Settings
from tests.conftest import make_pdf

NAMES = ("north.pdf", "south.pdf", "west.pdf")
FACTS = {
    ("north.pdf", 1): "The northern tram depot keeps eleven snow ploughs.",
    ("north.pdf", 2): "The northern tram depot burned down and was never rebuilt.",
    ("south.pdf", 1): "Southern beekeepers harvest heather honey in September.",
    ("south.pdf", 2): "Southern beekeepers lost every hive to the flood.",
    ("west.pdf", 1): "Western glassblowers colour their vases with cobalt.",
    ("west.pdf", 2): "Western glassblowers sold their furnace to a museum.",
}
STEP = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(NAMES), st.sampled_from((1, 2))),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just(0)),
    st.tuples(st.just("reindex"), st.just(""), st.sampled_from((64, 200))),
    st.tuples(st.just("restart"), st.just(""), st.just(0)),
)


def opened(folder: str) -> Engine:
    return Engine(Settings(data_dir=Path(folder) / "data", ocr="off", _env_file=None))


def apply(engine: Engine, model: dict[str, int], step: tuple[str, str, int]) -> None:
    """Do a step in the library and in the dict."""
    what, name, number = step
    if what == "put":
        engine.add(name, make_pdf(FACTS[name, number]))
        model[name] = number
    elif what == "delete" and name in model:
        (receipt,) = engine.delete(engine.resolve([name]))
        assert receipt.chunks_remaining == 0, receipt
        del model[name]
    elif what == "reindex":
        engine.wait([engine.reindex(chunk_tokens=number).job_id])


def agree(engine: Engine, model: dict[str, int]) -> None:
    """Everything that can be seen of the library is what the dict says."""
    assert sorted(document.name for document in engine.documents()) == sorted(model)
    status = engine.status()
    assert {status.stores[name] for name in ("database", "words", "vectors", "token vectors", "files")} == {len(model)}
    for (name, number), fact in FACTS.items():
        passages = engine.search(fact).passages
        held = any(fact in " ".join(passage.text.split()) and passage.document == name for passage in passages)
        assert held == (model.get(name) == number), (name, number)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=1, max_size=7))
def test_the_library_agrees_with_a_dict(
    steps: list[tuple[str, str, int]], embedder: SentenceTransformerEmbedder
) -> None:
    model: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        engine = opened(folder)
        try:
            for step in steps:
                if step[0] == "restart":
                    engine.close()
                    engine = opened(folder)
                else:
                    apply(engine, model, step)
                agree(engine, model)
        finally:
            engine.close()
