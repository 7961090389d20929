"""Imports go one way, and heavy libraries come in where they are needed and nowhere else."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "app.py", *ROOT.glob("rag_core/**/*.py"), *ROOT.glob("pages/**/*.py")]
FOLDERS = {"extraction", "chunking", "embedding", "index", "retrieval", "answering", "evaluation", "store"}
# A layer may import those before it; the folders are one layer and leave one another alone.
LAYERS = (
    {"errors", "types", "sentences", "malloc", "cores"},
    {"settings"},
    FOLDERS,
    {"guide"},
    {"services"},
    {"engine"},
    {"cli"},
    {"__main__"},
)
HEAVY = {
    *("torch", "sentence_transformers", "transformers", "tokenizers", "chromadb", "pypdfium2", "pypdf"),
    *("openai", "tiktoken", "fsspec", "rapidocr", "openvino", "safetensors", "xllamacpp"),
    *("ir_measures", "vl_convert"),
}


def imported(file: Path) -> set[str]:
    """Full names of all that a file imports anywhere, those for type checkers alone left out."""
    tree = ast.parse(file.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def part(file: Path) -> str:
    """``rag_core.store``, ``pages.shared``, ``app``: the piece of the product that a file belongs to."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:2])


def layer(name: str) -> int:
    return next(level for level, names in enumerate(LAYERS) if name in names)


def allowed(importer: str, name: str) -> bool:
    above, target = importer.split("."), name.split(".")
    if target[0] not in ("rag_core", "pages") or above == target[:2]:
        return True
    if above == ["rag_core", "__init__"]:
        return False
    if above[0] == "app":
        return target[0] == "pages" or target[1] in ("engine", "types", "errors", "settings")
    if above[0] == "pages" and target[0] == "pages":
        return target[1] == "shared" and above[1] != "shared"
    if above[0] == "pages":
        return target[1] in ("engine", "types", "errors", "settings")
    if target[0] == "pages":
        return False
    if above[1] in FOLDERS and target[1] in FOLDERS:
        return target[1] == "store"
    return layer(target[1]) < layer(above[1])


def test_imports_go_one_way() -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in FILES
        for name in imported(file)
        if not allowed(part(file), "rag_core.extraction" if name == "rag_core.extraction" else name)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("importer", "name"),
    [
        ("rag_core.chunking", "rag_core.embedding.Embedder"),
        ("rag_core.types", "rag_core.settings.Settings"),
        ("rag_core.services", "rag_core.engine.Engine"),
        ("rag_core.store", "rag_core.index.WordIndex"),
        ("rag_core.engine", "pages.shared.keys.KEY"),
        ("pages.chat", "pages.documents.table.show"),
        ("pages.shared", "rag_core.store.library.Library"),
    ],
)
def test_an_import_against_the_stream_is_told(importer: str, name: str) -> None:
    assert not allowed(importer, name)


def test_nothing_below_the_pages_knows_streamlit() -> None:
    knowing = [file.name for file in ROOT.glob("rag_core/**/*.py") if "streamlit" in roots(file)]
    assert knowing == []


def test_each_heavy_library_is_imported_by_one_module() -> None:
    importers: dict[str, list[str]] = {}
    for file in FILES:
        for name in roots(file) & HEAVY:
            importers.setdefault(name, []).append(file.name)
    assert {name: files for name, files in importers.items() if len(files) > 1} == {}
    assert importers.keys() == HEAVY


def roots(file: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(file)}


def test_the_engine_is_imported_without_any_heavy_library() -> None:
    code = "import json, sys, rag_core.engine, rag_core.cli.app; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert "rag_core.engine" in loaded
    assert loaded & (HEAVY | {"streamlit"}) == set()
