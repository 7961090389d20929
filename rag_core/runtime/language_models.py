"""The language models: their selection, connection tests, usage, and the connections that all questions share."""

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
    """The language models that write answers.

    A generator for a model is created when the model is first needed. Then all questions share it, because it keeps the
    connection to the endpoint and what it detected about the capabilities of the endpoint. The usage of every request
    is stored.

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
        """Name of the model in use: the model selected on the Admin page, or else the model of the settings.

        It is empty if no model is selected or set.
        """
        if self._settings.gguf:
            return self._settings.model
        return str(self._stores.preferences.get("model") or self._settings.model)

    @property
    def endpoint(self) -> str:
        """URL of the endpoint without secrets, or the path of the GGUF file.

        It is empty if neither a GGUF file nor a URL, an API key or a model of an endpoint is set.
        """
        settings = self._settings
        if settings.gguf:
            return str(settings.gguf)
        if not (settings.openai_base_url or settings.openai_api_key or self.current):
            return ""
        return redact_url(settings.openai_base_url or DEFAULT_BASE_URL)

    @property
    def generator(self) -> str:
        """Name of the generator in use: ``openai:MODEL``, ``gguf:FILE``, or ``extractive`` if answers are quotes."""
        return self._with(self.current).generator_name

    def list(self) -> list[str]:
        """Return the sorted names of the models that the endpoint lists; may raise `GeneratorError`."""
        return self.get(self.current).models()

    def select(self, name: str | None) -> None:
        """Use another model of the endpoint from now on; ``None`` restores the model of the settings."""
        self._stores.preferences.set("model", name)

    def test(self, name: str | None = None) -> Iterator[ModelCheck]:
        """Test a model with small requests, and yield the result of each check as soon as it is known.

        Parameters
        ----------
        name : str, optional
            Name of a model of the endpoint; by default the model in use.

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
        """Return the usage since a time, or in total if ``since`` is ``None``, for each generator and currency."""
        return self._stores.usage.totals(since)

    def active(self) -> LanguageModel | None:
        """Return the generator of the model in use; ``None`` if there is no model, so that answers are quotes."""
        model = self.current
        return self.get(model) if model else None

    def get(self, model: str) -> LanguageModel:
        """Return the generator of a model. It is not checked whether the endpoint has this model."""
        with self._connecting:
            if model not in self._generators:
                settings = self._with(model)
                record = partial(self._record_usage, settings.generator_name)
                self._generators[model] = LanguageModel(settings, on_usage=record)
            return self._generators[model]

    def warm_up(self) -> None:
        """Load the GGUF model, or connect to the endpoint; may raise `GeneratorError`."""
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
            # A failure of the store is only logged, because an error here would discard a complete answer.
            log.warning("the usage could not be stored: %s", error)
