from __future__ import annotations

import pytest

from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable
from rag_core.settings import Settings


def test_a_data_folder_of_another_version_is_refused_and_left_as_it_is(settings: Settings) -> None:
    with Engine(settings) as engine:
        engine.conversations.create()
        engine._stores.preferences.set("schema", 0)
    with pytest.raises(StoreUnavailable, match="another version"):
        Engine(settings)
    with pytest.raises(StoreUnavailable, match="another version"):  # the refusal let go of the folder
        Engine(settings)
