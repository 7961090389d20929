"""A language model whose endpoint plays a script."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from rag_core.llm.generator import LanguageModel
from tests.support.language_models import Start, model_settings
from tests.support.servers import Play, ScriptedEndpoint


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start an endpoint with a script, and a model that asks it; ``start.pauses`` are its pauses between requests."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_LOG"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with ExitStack() as stack:

        def open_model(*script: Play, **changes: object) -> tuple[LanguageModel, ScriptedEndpoint]:
            endpoint = stack.enter_context(ScriptedEndpoint(*script))
            model = LanguageModel(model_settings(endpoint.url, **changes), sleep=pauses.append)
            stack.callback(model.close)
            return model, endpoint

        pauses: list[float] = []
        open_model.pauses = pauses  # type: ignore[attr-defined]
        yield open_model
