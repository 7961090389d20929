"""Rules for imports, sizes of modules, and heavy libraries."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sources import ROOT, find_imported_packages, find_imports

FILES = [ROOT / "app.py", *ROOT.glob("rag_core/**/*.py"), *ROOT.glob("pages/**/*.py")]
DOMAIN_PACKAGES = {
    *("parsing", "chunking", "embedding", "index", "retrieval", "gate", "reading", "finance", "verification", "llm"),
}
# A package imports only packages of earlier sets, none of its set.
LAYERS = (
    {"errors", "types", "system"},
    {"settings"},
    {"text"},
    {"store"},
    DOMAIN_PACKAGES,
    {"runtime", "guide", "stages"},
    {"answering", "indexing"},
    {"evaluation"},
    {"research"},
    {"services"},
    {"engine"},
    {"api"},
    {"cli"},
    {"__main__"},
)
HEAVY = {
    *("torch", "sentence_transformers", "transformers", "tokenizers", "chromadb", "pypdfium2", "pypdf"),
    *("openai", "tiktoken", "fsspec", "rapidocr", "openvino", "safetensors", "xllamacpp"),
    *("ir_measures", "vl_convert", "psycopg", "networkx", "spellchecker", "mcp", "prometheus_client", "opentelemetry"),
}


def module(file: Path) -> str:
    """Return the dotted name of the module or package of a file."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def layer(name: str) -> int:
    return next(level for level, names in enumerate(LAYERS) if name in names)


def is_allowed(importer: str, name: str) -> bool:
    source, target = importer.split("."), name.split(".")
    if target[0] not in ("rag_core", "pages") or source[:2] == target[:2]:
        return True
    if source == ["rag_core"]:
        return False
    if source[0] == "app":
        return target[0] == "pages" or target[1] in ("api", "engine", "stages", "types", "errors", "settings")
    if source[0] == "pages":
        if target[0] == "pages":
            return target[1] == "shared" and source[1] != "shared"
        return target[1] in ("engine", "stages", "types", "errors", "settings")
    if target[0] == "pages":
        return False
    return layer(target[1]) < layer(source[1])


def violations() -> dict[tuple[str, str], list[str]]:
    """Return the imports that break the rule, by the two packages."""
    found: dict[tuple[str, str], list[str]] = {}
    for file in FILES:
        importer = module(file)
        for name in sorted(find_imports(file)):
            if not is_allowed(importer, name):
                packages = importer.split(".")[:2][-1], name.split(".")[1]
                found.setdefault(packages, []).append(f"{importer} imports {name}")
    return found


def test_imports_go_from_upper_to_lower_layers() -> None:
    assert violations() == {}


def test_modules_have_no_import_cycle() -> None:
    modules = {module(file): file for file in FILES}
    imports = {
        name: {
            target
            for full_name in find_imports(file)
            for target in (full_name, full_name.rpartition(".")[0])
            if target in modules and target != name and not name.startswith(f"{target}.")
        }
        for name, file in modules.items()
    }
    # A module that imports none of the rest, or that none of the rest imports, is in no cycle.
    while outside := {
        name
        for name, targets in imports.items()
        if not targets & imports.keys() or not any(name in others for others in imports.values())
    }:
        imports = {name: targets for name, targets in imports.items() if name not in outside}
    assert imports == {}


@pytest.mark.parametrize(
    ("importer", "name"),
    [
        ("rag_core.chunking.chunker", "rag_core.embedding.load_embedder"),
        ("rag_core.types.chunks", "rag_core.settings.Settings"),
        ("rag_core.indexing.queue", "rag_core.answering.ask"),
        ("rag_core.answering.ask", "rag_core.engine.Engine"),
        ("rag_core.evaluation.runner", "rag_core.research.mixtures.Mixtures"),
        ("rag_core.store.documents", "rag_core.index.words.WordIndex"),
        ("rag_core.engine", "pages.shared.keys.KEY"),
        ("pages.chat.page", "pages.documents.table.show"),
        ("pages.shared.backend", "rag_core.store.documents.DocumentStore"),
    ],
)
def test_forbidden_import_is_recognized(importer: str, name: str) -> None:
    assert not is_allowed(importer, name)


def test_packages_have_three_modules_or_more() -> None:
    small = [
        folder.name
        for folder in ROOT.glob("rag_core/**/")
        if folder.name != "__pycache__"
        # Alembic prescribes the folder of its migrations.
        and "migrations" not in folder.parts
        and len([file for file in folder.glob("*.py") if file.name != "__init__.py"]) < 3
    ]
    assert small == []


@pytest.mark.parametrize(("pattern", "most"), [("rag_core/**/*.py", 600), ("rag_core/engine.py", 250)])
def test_modules_are_short(pattern: str, most: int) -> None:
    lines = {file.name: len(file.read_text("utf-8").splitlines()) for file in ROOT.glob(pattern)}
    assert lines
    assert {name: count for name, count in lines.items() if count > most} == {}


def test_rag_core_does_not_import_streamlit() -> None:
    assert [file.name for file in ROOT.glob("rag_core/**/*.py") if "streamlit" in find_imported_packages(file)] == []


def test_each_heavy_library_is_imported_by_one_module() -> None:
    importers: dict[str, list[str]] = {}
    for file in FILES:
        for name in find_imported_packages(file) & HEAVY:
            importers.setdefault(name, []).append(file.name)
    assert {name: files for name, files in importers.items() if len(files) > 1} == {}
    assert importers.keys() == HEAVY


def test_engine_imports_no_heavy_library() -> None:
    code = "import json, sys, rag_core.engine, rag_core.cli.app; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(json.loads(run.stdout))
    assert "rag_core.engine" in loaded
    assert loaded & (HEAVY | {"streamlit"}) == set()
