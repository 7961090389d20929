"""The source files of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The attributes of a statement that contain statements, or parts of it with statements.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def parse_file(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def find_imports(path: Path) -> frozenset[str]:
    """Return the full names of all imports of a file, including those for type checkers."""
    names: set[str] = set()
    for node in _walk_statements(parse_file(path).body):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def find_imported_packages(path: Path) -> set[str]:
    """Return the top-level names that a file imports."""
    return {name.partition(".")[0] for name in find_imports(path)}


def _walk_statements(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements and those within them, but no expressions, of which there are ten times as many."""
    for node in nodes:
        yield node
        for block in _BLOCKS:
            yield from _walk_statements(getattr(node, block, ()))
