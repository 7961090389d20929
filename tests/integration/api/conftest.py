"""One running app for all tests of the API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.api import ServedApp, serve_app


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    with serve_app(tmp_path_factory.mktemp("served") / "data") as served:
        yield served
