"""The documentation names files, packages and functions that exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from rag_core.api.endpoints import ENDPOINTS
from rag_core.cli.app import app
from tests.support.sources import ROOT, parse_file
from tests.unit.test_imports import LAYERS

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ARCHITECTURE = ROOT / "docs" / "architecture.md"
PATH = re.compile(r"(?:rag_core|pages|tests|benchmarks|docs|\.streamlit)/[\w./*-]*")


@cache
def defined_names() -> frozenset[str]:
    """Return the classes, functions and ``Class.method`` of rag_core, and inherited methods by the class's own name."""
    names: set[str] = set()
    methods: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for file in ROOT.glob("rag_core/**/*.py"):
        for node in parse_file(file).body:
            if isinstance(node, ast.FunctionDef):
                names.add(f"{node.name}()")
            elif isinstance(node, ast.ClassDef):
                names.add(node.name)
                own = {
                    one.name if isinstance(one, ast.FunctionDef) else target
                    for one in ast.walk(node)
                    for target in [_assigned(one)]
                    if target or isinstance(one, ast.FunctionDef)
                }
                methods[node.name] = {str(one) for one in own}
                bases[node.name] = {base.id for base in node.bases if isinstance(base, ast.Name)}
    for name, own in methods.items():
        inherited = set().union(*(methods.get(base, set()) for base in bases[name]))
        names |= {f"{name}.{method}" for method in own | inherited}
    return frozenset(names)


def _assigned(node: ast.AST) -> str:
    """Return the attribute of ``self`` that a statement assigns, if it is one."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        return node.targets[0].attr
    return ""


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub forms them."""
    headings = re.findall(r"^#+ (.+)$", without_code(page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_files_and_headings(page: Path) -> None:
    text = without_code(page.read_text("utf-8"))
    links = [*re.findall(r"\]\(([^)\s]+)\)", text), *re.findall(r'(?:src|srcset|href)="([^"]+)"', text)]
    broken = []
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_paths_exist(page: Path) -> None:
    spans = re.findall(r"`([^`\n]+)`", without_code(page.read_text("utf-8")))
    paths = [span for span in spans if PATH.fullmatch(span)]
    assert [path for path in paths if not list(ROOT.glob(path.rstrip("/")))] == []


def test_named_commands_and_addresses_exist() -> None:
    def list_commands(group: Any, names: str = "") -> Iterator[tuple[str, set[str]]]:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from list_commands(command, f"{name} ")
            else:
                yield names + name, {option for one in command.params for option in one.opts}

    commands = dict(list_commands(typer.main.get_command(app)))
    text = "\n".join(page.read_text("utf-8") for page in PAGES if page.name != "CHANGELOG.md")
    lines = re.findall(r"-m rag_core(?: --data-dir \S+)? (\w.*?)(?:`| #|$)", text, re.MULTILINE)
    assert len(lines) > 20
    unknown = []
    for line in lines:
        options = commands.get(" ".join(line.split()[:2]), commands.get(line.split()[0]))
        if options is None or not set(re.findall(r"(?<=\s)--[\w-]+", line)) <= options:
            unknown.append(line)
    addresses = re.findall(r"\b(GET|POST|DELETE) /api/v1(/[\w/{}]+)", text)
    known = {(one.method, one.path) for one in ENDPOINTS}
    assert (unknown, [one for one in addresses if one not in known]) == ([], [])
    assert addresses


def test_architecture_has_a_heading_for_every_folder() -> None:
    headings = re.findall(r"^### (.+)$", ARCHITECTURE.read_text("utf-8"), re.MULTILINE)
    named = [name for heading in headings for name in re.findall(r"`([^`]+)`", heading)]
    core = ROOT / "rag_core"
    folders = {str(file.parent.relative_to(core)) for file in core.glob("*/**/*.py")}
    assert sorted(named) == sorted(folders)


def test_architecture_lists_the_layers() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", ARCHITECTURE.read_text("utf-8"), re.MULTILINE)
    listed = {int(number): set(re.findall(r"`([^`]+)`", names)) for number, names in rows}
    assert listed == dict(enumerate(LAYERS, 1))


def test_architecture_names_what_the_code_defines() -> None:
    text = ARCHITECTURE.read_text("utf-8")
    named = {*re.findall(r"\b[A-Z]\w+\.[a-z_]+\b", text), *re.findall(r"\b[a-z_]+\(\)", text)}
    assert len(named) > 50
    assert sorted(named - defined_names()) == []


def test_architecture_names_classes_that_exist() -> None:
    spans = re.findall(r"`([A-Z][a-z]+(?:[A-Z]\w*)?)`", ARCHITECTURE.read_text("utf-8"))
    assert sorted(set(spans) - defined_names()) == []


def test_contributing_names_every_folder_of_tests() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    folders = {file.relative_to(ROOT / "tests").parts[0] for file in ROOT.glob("tests/*/**/*.py")}
    assert sorted(folder for folder in folders if f"`tests/{folder}`" not in text) == []


def test_modules_and_tests_of_the_textbook_exist() -> None:
    named = re.findall(r"`((?:rag_core|pages|tests)/[\w/.]+)`", (ROOT / "docs" / "textbook.md").read_text("utf-8"))
    assert len(named) > 60
    assert [path for path in named if not (ROOT / path).exists()] == []
