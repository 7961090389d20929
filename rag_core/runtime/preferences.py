"""Settings that can be changed on the Settings page while the application runs."""

from __future__ import annotations

from rag_core.errors import SettingsError
from rag_core.gate.features import ANSWERABLE_SCORE, ON_TOPIC
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.model_connection import CONTEXT_BUDGET, read_context_budget
from rag_core.runtime.query_adapters import QueryAdapters
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types.conversations import MAX_INSTRUCTION_CHARS

_OFFER_HIDDEN = "model_offer_hidden"
_DESCRIBE_FIGURES = "describe_figures"
_MODEL_VERIFIES = "model_verifies"
# The value of `Preferences.verifier` that stands for the connected language model; other values name a local model.
LANGUAGE_MODEL = "model"


class Preferences:
    """The settings that the Settings page can change. Unchanged settings have the values of `Settings`.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    models : LanguageModels
        The language models. If a model is in use, the threshold ``model_threshold`` applies, otherwise ``threshold``.

    Attributes
    ----------
    adapters : QueryAdapters
    """

    def __init__(self, settings: Settings, stores: Stores, models: LanguageModels) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models
        self.adapters = QueryAdapters(stores)

    @property
    def threshold(self) -> float:
        """The threshold of the gate: ``model_threshold`` if a language model is in use, ``threshold`` otherwise."""
        return self._read_threshold(self._threshold_name)

    @property
    def gate(self) -> str:
        """The name of the gate's score. If a language model is in use, ``on_topic`` replaces ``answerable``."""
        return self.find_gate(None)[0]

    def find_gate(self, model: str | None) -> tuple[str, float]:
        """Return the name of the gate's score and its threshold; see `LanguageModels.find_name` for ``model``."""
        if not self._models.find_name(model):
            return self.quotes_gate, self.quotes_threshold
        name = ON_TOPIC if self.quotes_gate == ANSWERABLE_SCORE else self.quotes_gate
        return name, self._read_threshold("model_threshold")

    @property
    def quotes_gate(self) -> str:
        """The name of the score that decides whether to answer with quotes.

        Answers are quotes if there is no language model, or if the language model fails.
        """
        return self._settings.gate

    @property
    def quotes_threshold(self) -> float:
        """The threshold that is compared with the score `quotes_gate`."""
        return self._read_threshold("threshold")

    @property
    def default_threshold(self) -> float:
        """The value that `threshold` has if it is not changed on the Settings page."""
        return float(getattr(self._settings, self._threshold_name))

    @property
    def top_k(self) -> int:
        """The number of passages to show and to use for the answer."""
        stored = self._stores.preferences.get("top_k")
        return int(self._settings.top_k if stored is None else stored)

    @property
    def context_budget(self) -> int:
        """Limit on the tokens of pages in the prompt of a capable model."""
        return read_context_budget(self._settings, self._stores.preferences)

    @property
    def describes_figures(self) -> bool:
        """Whether the user wants the model to describe the figures of documents."""
        stored = self._stores.preferences.get(_DESCRIBE_FIGURES)
        return self._settings.describe_figures if stored is None else bool(stored)

    def set_describes_figures(self, value: bool | None) -> None:
        """Override `describes_figures`; ``None`` restores the value of the settings."""
        self._stores.preferences.set(_DESCRIBE_FIGURES, value)

    @property
    def figures_problem(self) -> str:
        """Why the model in use cannot describe figures, and what to do; empty if the model can."""
        if not self._models.current or self._models.settings.gguf:
            return "No figure is described, because no model of an endpoint is connected. Connect one."
        if self._models.sees_pictures is None:
            return "No figure is described, because it was not tested whether the model sees pictures. Test the model."
        if not self._models.sees_pictures:
            return "No figure is described, because the model did not see the picture of its test. Choose another one."
        return ""

    @property
    def verifier(self) -> str | None:
        """What checks the statements of answers besides the comparison of values.

        `LANGUAGE_MODEL`, the name of a local model, or ``None`` if only values are compared.
        """
        stored = self._stores.preferences.get(_MODEL_VERIFIES)
        if stored and self._models.endpoint:
            return LANGUAGE_MODEL
        named = self._settings.verifier
        return None if stored is False and named == LANGUAGE_MODEL else named

    @property
    def model_verifies(self) -> bool:
        """Whether the language model is the `verifier`."""
        return self.verifier == LANGUAGE_MODEL

    def set_model_verifies(self, value: bool | None) -> None:
        """Override `model_verifies`; ``None`` restores the value of the settings."""
        self._stores.preferences.set(_MODEL_VERIFIES, value)

    @property
    def verifier_problem(self) -> str:
        """Why the language model cannot check statements, and what to do; empty if the model can."""
        model, choice = self._models.active(), self._models.choice
        if model is None:
            return "Statements are checked by their values only, because no language model is in use. Choose one."
        if model.capability == "capable":
            return ""
        if choice and not (choice.gguf or choice.capability or model.profile.is_tested):
            return (
                "Statements are checked by their values only, because the model was not tested and has a small "
                "context. Test it and connect it again, or use a capable model."
            )
        return (
            "Statements are checked by their values only, because the model counts as small. Use a capable model, or "
            "choose its capability under More options or with RAG_MODEL_CAPABILITY."
        )

    @property
    def instructions(self) -> str:
        """Instructions for the answers of a language model in every conversation: language, length and tone."""
        return str(self._stores.preferences.get("instructions") or "")

    def add_instructions(self, text: str) -> str:
        """Return `instructions`, followed by the instructions ``text`` of a conversation.

        Raises
        ------
        SettingsError
            ``text`` is too long.
        """
        return "\n".join(filter(None, (self.instructions, check_instructions(text))))

    def set_instructions(self, text: str) -> None:
        """Set `instructions`; an empty text removes them. Raise `SettingsError` if the text is too long."""
        self._stores.preferences.set("instructions", check_instructions(text) or None)

    @property
    def is_model_offered(self) -> bool:
        """Whether the chat shows a link to the form that connects a language model."""
        return not self._models.endpoint and not self._stores.preferences.get(_OFFER_HIDDEN)

    def hide_model_offer(self) -> None:
        """Set `is_model_offered` to false for all users."""
        self._stores.preferences.set(_OFFER_HIDDEN, True)

    def set_threshold(self, value: float | None) -> None:
        """Override `threshold`; ``None`` restores the value of the settings."""
        self._stores.preferences.set(self._threshold_name, value)

    def set_top_k(self, value: int | None) -> None:
        """Override `top_k`; ``None`` restores the value of the settings."""
        self._stores.preferences.set("top_k", value)

    def set_context_budget(self, value: int | None) -> None:
        """Override `context_budget`; ``None`` restores the value of the settings."""
        self._stores.preferences.set(CONTEXT_BUDGET, value)

    @property
    def _threshold_name(self) -> str:
        return "model_threshold" if self._models.current else "threshold"

    def _read_threshold(self, name: str) -> float:
        stored = self._stores.preferences.get(name)
        return float(getattr(self._settings, name) if stored is None else stored)


def check_instructions(text: str) -> str:
    """Return instructions without surrounding white space; raise `SettingsError` if they are too long."""
    # Unpaired surrogates, which terminals can produce, are replaced, because tokenizers and stores reject them.
    plain = text.encode("utf-8", "replace").decode("utf-8").strip()
    if len(plain) > MAX_INSTRUCTION_CHARS:
        raise SettingsError(
            f"The instructions have {len(plain):,} characters; the limit is {MAX_INSTRUCTION_CHARS:,}. Shorten them."
        )
    return plain
