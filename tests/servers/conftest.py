"""Servers that the tests share, and engines whose stores are on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from rag_core.engine import Engine
from tests.support.engines import EmbeddingBarrier, opened
from tests.support.store_servers import (
    KEYS,
    PostgresServer,
    StoreServer,
    running_chroma,
    running_postgres,
    running_s3,
)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def chroma() -> Iterator[StoreServer]:
    with running_chroma() as server:
        yield server


@pytest.fixture(scope="session")
def s3() -> Iterator[StoreServer]:
    with running_s3() as server:
        yield server


@pytest.fixture
def barrier(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingBarrier]:
    """Return a barrier in the embedding stage, open at first."""
    barrier = EmbeddingBarrier(monkeypatch)
    yield barrier
    barrier.release()


class ServerSettings:
    """The settings of engines on the servers."""

    def __init__(self, postgres: PostgresServer, chroma: StoreServer, s3: StoreServer) -> None:
        self.servers = {"postgres": postgres, "chroma": chroma, "s3": s3}
        self._database = postgres

    def values(self, *names: str) -> dict[str, Any]:
        """Return the settings for a new database and a new bucket on the named servers."""
        values: dict[str, Any] = {}
        if "postgres" in names:
            values["database_url"] = self._database.database_url()
        if "chroma" in names:
            values["chroma_host"] = f"127.0.0.1:{self.servers['chroma'].port}"
        if "s3" in names:
            values["files_url"] = f"s3://library-{uuid4().hex}"
        return values


@pytest.fixture
def on_servers(
    postgres: PostgresServer, chroma: StoreServer, s3: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServerSettings]:
    """Return the settings of engines on the servers; afterwards, no server is frozen or stopped."""
    for name, value in (KEYS | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{s3.port}"}).items():
        monkeypatch.setenv(name, value)
    yield ServerSettings(postgres, chroma, s3)
    for server in (postgres, chroma, s3):
        server.resume()


@pytest.fixture(params=["postgres", "chroma", "s3", "all"])
def stores(request: pytest.FixtureRequest, on_servers: ServerSettings, tmp_path: Path) -> Iterator[Engine]:
    """Return an engine with one store on a server, or with all of them."""
    names = on_servers.servers if request.param == "all" else (request.param,)
    with opened(tmp_path / "data", **on_servers.values(*names)) as engine:
        yield engine
