"""Which connection to a language model is in use: that of the environment, or the stored one."""

from __future__ import annotations

from rag_core.errors import GeneratorAuthError, GeneratorError
from rag_core.llm.generator import LanguageModel
from rag_core.llm.request import DEFAULT_BASE_URL, redact_url
from rag_core.llm.setting_names import FORM_NAMES
from rag_core.settings import Settings
from rag_core.store.database import Database
from rag_core.store.preferences import PreferenceStore
from rag_core.types import ModelChoice

# Name of the preference that stores the connection.
CONNECTION = "model_connection"


def read_connection(settings: Settings) -> ModelChoice | None:
    """Return the connection in use without locking the data folder, so that another process may have it open.

    It is ``None`` if neither the environment nor the database contains a connection. May raise `StoreError`.
    """
    if sets_model(settings):
        return ModelChoice(
            "",
            base_url=redact_url(settings.openai_base_url or DEFAULT_BASE_URL),
            model=settings.openai_model or "",
            gguf=str(settings.gguf or ""),
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


def require_accepted_key(settings: Settings) -> None:
    """Raise `GeneratorAuthError` if the endpoint refuses the key when it is asked for its models."""
    model = LanguageModel(settings, names=FORM_NAMES)
    try:
        model.models()
    except GeneratorAuthError:
        raise
    except GeneratorError:
        # An endpoint without a list of models can still have the model.
        return
    finally:
        model.close()


def explain_missing_model(purpose: str, alternative: str = "", *, quotes_only: bool = False) -> str:
    """Return a message that ``purpose`` needs a language model, and what to do.

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
            f"{purpose} needs a language model, and none is set. Connect one on the Admin page, or set "
            "RAG_OPENAI_MODEL, and OPENAI_BASE_URL to the address of its endpoint, or RAG_GGUF"
        )
    return f"{text}; or {alternative}." if alternative else f"{text}."
