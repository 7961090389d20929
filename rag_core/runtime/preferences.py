"""Settings that can be changed while the application runs."""

from __future__ import annotations

from rag_core.gate.features import ANSWERABLE_SCORE, ON_TOPIC
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings


class Preferences:
    """The values set in Admin, or else the settings.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    models : LanguageModels
        Determines which threshold applies: there is one with and one without a language model.
    """

    def __init__(self, settings: Settings, stores: Stores, models: LanguageModels) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models

    @property
    def threshold(self) -> float:
        """The threshold of the gate: ``model_threshold`` with a language model, else ``threshold``."""
        return self._threshold(self._threshold_name)

    @property
    def gate(self) -> str:
        """The score of the gate: with a language model, ``on_topic`` instead of ``answerable``."""
        return ON_TOPIC if self._models.current and self.quotes_gate == ANSWERABLE_SCORE else self.quotes_gate

    @property
    def quotes_gate(self) -> str:
        """The score that decides whether to quote: without a language model, or if it failed."""
        return self._settings.gate

    @property
    def quotes_threshold(self) -> float:
        """The threshold of `quotes_gate`."""
        return self._threshold("threshold")

    @property
    def default_threshold(self) -> float:
        """The value of the current threshold in the settings."""
        return float(getattr(self._settings, self._threshold_name))

    @property
    def top_k(self) -> int:
        """The number of passages that are shown and used for the answer."""
        stored = self._stores.preferences.get("top_k")
        return int(self._settings.top_k if stored is None else stored)

    def set_threshold(self, value: float | None) -> None:
        """Override the current threshold; ``None`` restores the setting."""
        self._stores.preferences.set(self._threshold_name, value)

    def set_top_k(self, value: int | None) -> None:
        """Override the number of passages; ``None`` restores the setting."""
        self._stores.preferences.set("top_k", value)

    @property
    def _threshold_name(self) -> str:
        return "model_threshold" if self._models.current else "threshold"

    def _threshold(self, name: str) -> float:
        stored = self._stores.preferences.get(name)
        return float(getattr(self._settings, name) if stored is None else stored)
