"""Backups of libraries whose stores are on servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import BackupError
from rag_core.indexing.restoring import restore_library
from rag_core.store.backups import write_backup
from tests.servers.conftest import ServerSettings
from tests.support.engines import ASK_BUDGET, assert_in_agreement, open_library, opened, settings_in


def test_copy_on_the_same_servers_shares_no_vectors_with_the_original(
    on_servers: ServerSettings, tmp_path: Path
) -> None:
    first, second = (on_servers.values("chroma", "s3") for _ in range(2))
    with open_library(tmp_path / "data", **first) as engine:
        assert len(write_backup(engine.settings, tmp_path / "backup").files) == 3
        expected = engine.answer(ASK_BUDGET).text
        restore_library(settings_in(tmp_path / "copy", **second), tmp_path / "backup")
        with opened(tmp_path / "copy", **second) as copy:
            copy.documents.delete(copy.documents.find_ids(["bridge.pdf"]))
            assert_in_agreement(copy)
        assert_in_agreement(engine)
        assert engine.answer(ASK_BUDGET).text == expected


def test_database_on_a_server_is_left_to_its_own_tools(on_servers: ServerSettings, tmp_path: Path) -> None:
    settings = settings_in(tmp_path / "data", **on_servers.values("postgres"))
    with pytest.raises(BackupError, match="pg_dump"):
        write_backup(settings, tmp_path / "backup")
