"""What is imported is listed in the requirements, and what is listed is pinned in the constraints."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping
from importlib.metadata import packages_distributions

import pytest

from tests.support.sources import ROOT, find_imported_packages

FILES = ("requirements.txt", "requirements-ocr.txt", "requirements-gguf.txt", "requirements-server.txt")


def listed(*names: str) -> dict[str, str]:
    """Return the version specifier of each package in requirements files, by its normalized name."""
    lines = [line for name in names for line in (ROOT / name).read_text("utf-8").splitlines()]
    matches = [re.match(r"([A-Za-z0-9._-]+)(.*)", line) for line in lines if line and line[0] not in "#-"]
    return {normalized(match[1]): match[2] for match in matches if match}


@functools.cache
def distributions() -> Mapping[str, list[str]]:
    """Return the installed packages of each top-level name; this reads the files of all packages."""
    return packages_distributions()


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(*paths: str) -> set[str]:
    """Return the top-level names that files import, without the standard library and our own."""
    files = [
        file for path in paths for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("*.py"))
    ]
    names = set().union(*map(find_imported_packages, files))
    return names - set(sys.stdlib_module_names) - {"rag_core", "pages", "tests", "benchmarks", "docs"}


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        (("app.py", "rag_core", "pages"), FILES),
        (("tests", "benchmarks", "docs"), (*FILES, "requirements-dev.txt", "requirements-dev-no-deps.txt")),
    ],
)
def test_imported_packages_are_required(paths: tuple[str, ...], files: tuple[str, ...]) -> None:
    required = listed(*files)
    missing = {
        name for name in imported(*paths) if not {normalized(one) for one in distributions()[name]} & set(required)
    }
    assert missing == set()


def test_constraints_pin_every_required_package() -> None:
    constraints = listed("constraints.txt")
    assert len(constraints) > 100
    required = listed(*FILES, "requirements-dev.txt", "requirements-dev-no-deps.txt")
    exact = {name: version for name, version in required.items() if version.startswith("==")}
    assert {name: constraints.get(name) for name in exact} == exact
    assert set(required) <= set(constraints)
