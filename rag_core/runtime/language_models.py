"""The language model that writes, rewrites and summarises, where one is set."""

from __future__ import annotations

import logging
import threading
from functools import partial

from rag_core.errors import StoreError
from rag_core.llm.generator import OpenAIGenerator
from rag_core.llm.request import DEFAULT_BASE_URL, shown_url
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types import Usage

log = logging.getLogger(__name__)


class Generators:
    """Makes the generator when it is first needed; one serves all questions.

    It keeps its connection, and what it has learnt of the endpoint. What each request takes is noted,
    whoever made it.
    """

    def __init__(self, settings: Settings, stores: Stores) -> None:
        self._settings = settings
        self._stores = stores
        self._making = threading.Lock()
        self._made: dict[str, OpenAIGenerator] = {}

    @property
    def model(self) -> str:
        """The model in use: what was set in Admin, else the setting; empty where there is none."""
        if self._settings.gguf:
            return self._settings.model
        return str(self._stores.preferences.get("model") or self._settings.model)

    @property
    def endpoint(self) -> str:
        """Where models are asked: a URL without secrets, or a file; empty where neither it nor a model is set."""
        settings = self._settings
        if settings.gguf:
            return str(settings.gguf)
        if not (settings.openai_base_url or settings.openai_api_key or self.model):
            return ""
        return shown_url(settings.openai_base_url or DEFAULT_BASE_URL)

    def set_model(self, name: str | None) -> None:
        """Override the model of the endpoint; ``None`` goes back to the setting."""
        self._stores.preferences.set("model", name)

    @property
    def name(self) -> str:
        """``openai:MODEL`` or ``gguf:FILE``; ``extractive`` where answers are quoted."""
        return self._with(self.model).generator_name

    def current(self) -> OpenAIGenerator | None:
        """The generator; ``None`` where no model is set, and answers are quoted."""
        model = self.model
        return self.named(model) if model else None

    def named(self, model: str) -> OpenAIGenerator:
        """The generator of one of the endpoint's models; it need not be there."""
        with self._making:
            if model not in self._made:
                settings = self._with(model)
                self._made[model] = OpenAIGenerator(settings, on_usage=partial(self._note, settings.generator_name))
            return self._made[model]

    def warm_up(self) -> None:
        """Load a model that runs in this process, and get ready for others; raises a `GeneratorError`."""
        generator = self.current()
        if generator is not None:
            generator.warm_up()

    def close(self) -> None:
        """Give connections back."""
        with self._making:
            made, self._made = list(self._made.values()), {}
        for one in made:
            one.close()

    def _with(self, model: str) -> Settings:
        return self._settings if self._settings.gguf else self._settings.model_copy(update={"openai_model": model})

    def _note(self, name: str, usage: Usage) -> None:
        try:
            self._stores.usage.add(name, usage)
        except StoreError as error:
            # The answer is there and shows its own usage; that the store fails is told by all that needs it.
            log.warning("usage was not noted: %s", error)
