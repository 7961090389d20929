"""Values that can be changed while the application runs."""

from __future__ import annotations

from rag_core.gate.features import ON_TOPIC, SCORE
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings


class Preferences:
    """What was set in Admin, else the setting.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    models : LanguageModels
        Whether there is a language model decides which threshold applies.
    """

    def __init__(self, settings: Settings, stores: Stores, models: LanguageModels) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models

    @property
    def threshold(self) -> float:
        """The gate's threshold in use: ``model_threshold`` with a language model, else ``threshold``."""
        return self._threshold(self._threshold_name)

    @property
    def gate(self) -> str:
        """The score that the gate decides by: with a language model, ``on_topic`` in place of ``answerable``."""
        return ON_TOPIC if self._models.current and self.quotes_gate == SCORE else self.quotes_gate

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
        """What the settings say of the threshold in use."""
        return float(getattr(self._settings, self._threshold_name))

    @property
    def top_k(self) -> int:
        """How many passages are shown and given to the answerer."""
        stored = self._stores.preferences.get("top_k")
        return int(self._settings.top_k if stored is None else stored)

    def set_threshold(self, value: float | None) -> None:
        """Override the threshold in use; ``None`` goes back to the setting."""
        self._stores.preferences.set(self._threshold_name, value)

    def set_top_k(self, value: int | None) -> None:
        """Override the number of passages; ``None`` goes back to the setting."""
        self._stores.preferences.set("top_k", value)

    @property
    def _threshold_name(self) -> str:
        return "model_threshold" if self._models.current else "threshold"

    def _threshold(self, name: str) -> float:
        stored = self._stores.preferences.get(name)
        return float(getattr(self._settings, name) if stored is None else stored)
