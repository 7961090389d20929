"""Settings that can be changed on the Admin page while the application runs."""

from __future__ import annotations

from rag_core.gate.features import ANSWERABLE_SCORE, ON_TOPIC
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings


class Preferences:
    """The values that are set on the Admin page, or else the values of the settings.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    models : LanguageModels
        The language models. If a model is in use, the threshold ``model_threshold`` applies, otherwise ``threshold``.
    """

    def __init__(self, settings: Settings, stores: Stores, models: LanguageModels) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models

    @property
    def threshold(self) -> float:
        """The threshold of the gate: ``model_threshold`` if a language model is in use, ``threshold`` otherwise."""
        return self._threshold(self._threshold_name)

    @property
    def gate(self) -> str:
        """The name of the score of the gate. If a language model is in use, ``on_topic`` replaces ``answerable``."""
        return ON_TOPIC if self._models.current and self.quotes_gate == ANSWERABLE_SCORE else self.quotes_gate

    @property
    def quotes_gate(self) -> str:
        """The name of the score that decides whether to answer with quotes.

        Answers are quotes if there is no language model, or if the language model fails.
        """
        return self._settings.gate

    @property
    def quotes_threshold(self) -> float:
        """The threshold that is compared with the score `quotes_gate`."""
        return self._threshold("threshold")

    @property
    def default_threshold(self) -> float:
        """The value that `threshold` has if it is not changed on the Admin page."""
        return float(getattr(self._settings, self._threshold_name))

    @property
    def top_k(self) -> int:
        """The number of passages that are shown and used for the answer."""
        stored = self._stores.preferences.get("top_k")
        return int(self._settings.top_k if stored is None else stored)

    def set_threshold(self, value: float | None) -> None:
        """Override `threshold`; ``None`` restores the value of the settings."""
        self._stores.preferences.set(self._threshold_name, value)

    def set_top_k(self, value: int | None) -> None:
        """Override `top_k`; ``None`` restores the value of the settings."""
        self._stores.preferences.set("top_k", value)

    @property
    def _threshold_name(self) -> str:
        return "model_threshold" if self._models.current else "threshold"

    def _threshold(self, name: str) -> float:
        stored = self._stores.preferences.get(name)
        return float(getattr(self._settings, name) if stored is None else stored)
