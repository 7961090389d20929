"""The tree of errors is part of the contract: callers catch by its branches."""

from __future__ import annotations

import inspect
import re

from rag_core import errors


def drawn() -> dict[str, str]:
    """Each error's parent as drawn at the top of the module."""
    parents: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^([\s│├└─]*)([A-Z]\w+)(\s{2,}|$)", line)
        if not found:
            continue
        depth = len(found[1])
        path = [step for step in path if step[0] < depth]
        parents[found[2]] = path[-1][1] if path else "Exception"
        path.append((depth, found[2]))
    return parents


def test_the_tree_drawn_is_the_tree_there_is() -> None:
    real = {
        name: cls.__bases__[0].__name__
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if cls.__module__ == errors.__name__
    }
    assert drawn() == real


def test_each_error_says_what_it_means() -> None:
    silent = [name for name in drawn() if not (getattr(errors, name).__doc__ or "").strip()]
    assert silent == []
