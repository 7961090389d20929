"""The language models of the endpoint: selection, tests, usage, and shared connections."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial

from rag_core.errors import SettingsError, StoreError
from rag_core.llm.generator import LanguageModel
from rag_core.llm.request import DEFAULT_BASE_URL, redact_url
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types import ModelCheck, Usage, UsageTotal

log = logging.getLogger(__name__)


class LanguageModels:
    """The language models, each connected when first needed and then shared by all questions.

    A generator keeps its connection and the capabilities that it detected. The usage of every
    request is recorded.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    """

    def __init__(self, settings: Settings, stores: Stores) -> None:
        self._settings = settings
        self._stores = stores
        self._connecting = threading.Lock()
        self._generators: dict[str, LanguageModel] = {}

    @property
    def current(self) -> str:
        """Name of the model in use: the one selected in Admin, else the setting; empty if there is none."""
        if self._settings.gguf:
            return self._settings.model
        return str(self._stores.preferences.get("model") or self._settings.model)

    @property
    def endpoint(self) -> str:
        """URL of the endpoint without secrets, or the path of a model file; empty if neither is set."""
        settings = self._settings
        if settings.gguf:
            return str(settings.gguf)
        if not (settings.openai_base_url or settings.openai_api_key or self.current):
            return ""
        return redact_url(settings.openai_base_url or DEFAULT_BASE_URL)

    @property
    def generator(self) -> str:
        """Name of the generator: ``openai:MODEL``, ``gguf:FILE``, or ``extractive`` if answers are quotes."""
        return self._with(self.current).generator_name

    def list(self) -> list[str]:
        """Return the names of the models that the endpoint lists, sorted; raise a `GeneratorError`."""
        return self.get(self.current).models()

    def select(self, name: str | None) -> None:
        """Use another model of the endpoint; ``None`` restores the setting."""
        self._stores.preferences.set("model", name)

    def test(self, name: str | None = None) -> Iterator[ModelCheck]:
        """Test a model with a small request, and yield the result of each check with a hint on each problem.

        Parameters
        ----------
        name : str, optional
            One of the endpoint's models; by default the one in use.

        Raises
        ------
        SettingsError
            No model is set.
        """
        model = name or self.current
        if not model:
            raise SettingsError("RAG_OPENAI_MODEL is not set. Name a model that the endpoint serves.")
        return self.get(model).test_connection()

    def usage_totals(self, since: datetime | None = None) -> Sequence[UsageTotal]:
        """Return the usage of language models since a time, or in total, by generator and currency."""
        return self._stores.usage.totals(since)

    def active(self) -> LanguageModel | None:
        """Return the generator of the model in use; ``None`` if no model is set, so that answers are quotes."""
        model = self.current
        return self.get(model) if model else None

    def get(self, model: str) -> LanguageModel:
        """Return the generator of a model, without checking that the endpoint has this model."""
        with self._connecting:
            if model not in self._generators:
                settings = self._with(model)
                record = partial(self._record_usage, settings.generator_name)
                self._generators[model] = LanguageModel(settings, on_usage=record)
            return self._generators[model]

    def warm_up(self) -> None:
        """Load a model that runs in this process, or connect to the endpoint; raise `GeneratorError`."""
        generator = self.active()
        if generator is not None:
            generator.warm_up()

    def close(self) -> None:
        """Close all connections."""
        with self._connecting:
            generators, self._generators = list(self._generators.values()), {}
        for generator in generators:
            generator.close()

    def _with(self, model: str) -> Settings:
        return self._settings if self._settings.gguf else self._settings.model_copy(update={"openai_model": model})

    def _record_usage(self, name: str, usage: Usage) -> None:
        try:
            self._stores.usage.add(name, usage)
        except StoreError as error:
            # A store that fails must not discard a complete answer, which shows its usage anyway.
            log.warning("the usage could not be stored: %s", error)
