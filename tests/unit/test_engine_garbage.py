"""The garbage collector leaves alone what is there for as long as the program runs."""

from __future__ import annotations

import gc
from pathlib import Path

from tests.unit.engines import ASK_BUDGET, BUDGET, indexed, opened


def test_what_the_first_search_loaded_is_not_looked_through_again(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        loaded = [[0]]
        assert any(one is loaded for one in gc.get_objects())
        engine.search(ASK_BUDGET)
        assert not any(one is loaded for one in gc.get_objects())
        later = [[0]]
        engine.search(ASK_BUDGET)
        assert any(one is later for one in gc.get_objects())
