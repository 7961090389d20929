from __future__ import annotations

import pytest

from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable
from rag_core.settings import Settings


def test_data_folder_of_other_version_is_rejected(settings: Settings) -> None:
    with Engine(settings) as engine:
        engine.conversations.create()
        engine._stores.preferences.set("schema", 0)
    for _ in range(2):  # the error must release the lock on the folder
        with pytest.raises(StoreUnavailable, match="another version"):
            Engine(settings)
