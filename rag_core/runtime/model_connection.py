"""Read the connection to a language model from the environment or the database, and apply it to the settings."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from pydantic import SecretStr

from rag_core.errors import GeneratorAuthError, GeneratorError, GeneratorUnavailable, SettingsError
from rag_core.llm.generator import LanguageModel
from rag_core.llm.gguf import find_gguf_problem
from rag_core.llm.model_profile import ModelProfile
from rag_core.llm.request import DEFAULT_BASE_URL, redact_url
from rag_core.llm.setting_names import FORM_NAMES
from rag_core.settings import Settings
from rag_core.store.database import Database
from rag_core.store.preferences import PreferenceStore
from rag_core.types.status import ModelChoice

# Name of the preference that stores the connection.
CONNECTION = "model_connection"
# Name of the preference that overrides the setting ``context_budget``.
CONTEXT_BUDGET = "context_budget"


def read_connection(settings: Settings) -> ModelChoice | None:
    """Return the connection in use; ``None`` if neither the environment nor the database contains one.

    The data folder is not locked, so another process may have it open. May raise `StoreError`.
    """
    if sets_model(settings):
        return ModelChoice(
            "",
            base_url=redact_url(settings.openai_base_url or DEFAULT_BASE_URL),
            model=settings.openai_model or "",
            gguf=str(settings.gguf or ""),
            capability="" if settings.model_capability == "auto" else settings.model_capability,
        )
    file, url = settings.data_dir / "footnote.sqlite", settings.database_url
    if url is None and not file.is_file():
        return None
    database = Database(url.get_secret_value() if url else file, has_schema=False)
    try:
        stored = PreferenceStore(database).get(CONNECTION)
    finally:
        database.close()
    return ModelChoice(**stored["choice"]) if stored else None


def sets_model(settings: Settings) -> bool:
    """Return whether settings of the environment name a model or an endpoint."""
    return bool(settings.gguf or settings.openai_model or settings.openai_base_url)


def apply_choice(settings: Settings, choice: ModelChoice, key: str) -> Settings:
    """Return the settings, changed to the model, endpoint and key of a connection.

    A context length that the endpoint reported is left out, because `build_profile` contains it.
    """
    entered = None if choice.context_reported else choice.context_tokens
    values = {
        "openai_base_url": choice.base_url or None,
        "openai_model": choice.model or None,
        "openai_api": choice.api,
        "gguf": Path(choice.gguf) if choice.gguf else None,
        "openai_api_key": SecretStr(key) if key else None,
        "openai_context_tokens": entered or settings.openai_context_tokens,
        "model_capability": choice.capability or settings.model_capability,
    }
    return settings.model_copy(update=values)


def build_profile(settings: Settings, choice: ModelChoice | None) -> ModelProfile:
    """Return the profile of the model of the settings.

    If ``choice`` is a connection to this model, the profile contains the reported context length and the tested
    capability of the connection.
    """
    if choice is None or choice.model != (settings.openai_model or ""):
        return ModelProfile(settings)
    reported = choice.context_tokens if choice.context_reported else None
    return ModelProfile(settings, reported, choice.tested_capability)


def read_context_budget(settings: Settings, preferences: PreferenceStore) -> int:
    """Return the limit on the tokens of pages in prompts of a capable model, from the preferences or the settings."""
    stored = preferences.get(CONTEXT_BUDGET)
    return settings.context_budget if stored is None else int(stored)


def find_gguf_file(name: str) -> Path:
    """Return the absolute path of a GGUF file.

    Raises
    ------
    SettingsError
        The path is invalid.
    GeneratorUnavailable
        The file cannot be used.
    """
    try:
        path = Path(name).expanduser().absolute()
    except RuntimeError as error:
        raise SettingsError(f"The path {name} is invalid ({error}). Correct it.") from None
    if problem := find_gguf_problem(path, FORM_NAMES):
        raise GeneratorUnavailable(problem)
    return path


def require_accepted_key(settings: Settings) -> None:
    """Raise `GeneratorAuthError` if the endpoint refuses the key when it is asked for its models."""
    with closing(LanguageModel(settings, names=FORM_NAMES)) as model:
        try:
            model.models()
        except GeneratorAuthError:
            raise
        except GeneratorError:
            # An endpoint without a list of models can still have the model.
            return


def explain_missing_model(purpose: str, alternative: str = "", *, quotes_only: bool = False) -> str:
    """Return a message that says that ``purpose`` needs a language model, and what to do.

    Parameters
    ----------
    purpose : str
        What needs a model, as the subject of the sentence.
    alternative : str
        What can be done without a model, such as "use the plain search".
    quotes_only : bool
        Whether the user chose quotes only although a model may be connected.
    """
    if quotes_only:
        text = f"{purpose} needs a language model, but “Quotes only” is chosen. Choose a model"
    else:
        text = (
            f"{purpose} needs a language model, and none is set. Connect one on the Settings page, or set "
            "RAG_OPENAI_MODEL, and OPENAI_BASE_URL to the address of its endpoint, or RAG_GGUF"
        )
    return f"{text}; or {alternative}." if alternative else f"{text}."
