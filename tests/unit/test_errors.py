"""The hierarchy of errors is part of the contract: callers catch by its branches."""

from __future__ import annotations

import inspect
import re

from rag_core import errors


def documented_parents() -> dict[str, str]:
    """Return each error's parent as drawn in the module's docstring."""
    parents: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        entry = re.match(r"^([\s│├└─]*)([A-Z]\w+)(\s{2,}|$)", line)
        if not entry:
            continue
        depth = len(entry[1])
        path = [step for step in path if step[0] < depth]
        parents[entry[2]] = path[-1][1] if path else "Exception"
        path.append((depth, entry[2]))
    return parents


def test_documented_tree_matches_the_classes() -> None:
    parents = {
        name: cls.__bases__[0].__name__
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if cls.__module__ == errors.__name__
    }
    assert documented_parents() == parents


def test_each_error_has_a_docstring() -> None:
    undocumented = [name for name in documented_parents() if not (getattr(errors, name).__doc__ or "").strip()]
    assert undocumented == []
