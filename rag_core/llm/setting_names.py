"""How messages name the settings of a language model: as environment variables, or as the fields of the form."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SettingNames:
    """The names of the settings of a connection, where the user can change them.

    Attributes
    ----------
    key, address, context : str
        The API key, the base URL and the context length.
    use_chat : str
        What to do in order to use Chat Completions.
    unset_file : str
        What to do in order to use no GGUF file.
    address_value, model_value, file_value, context_value : str
        Formats of a base URL, of the name of a model, of the path of a GGUF file, and of a context length.
    """

    key: str
    address: str
    context: str
    use_chat: str
    unset_file: str
    address_value: str
    model_value: str
    file_value: str
    context_value: str


ENVIRONMENT_NAMES = SettingNames(
    key="OPENAI_API_KEY",
    address="RAG_OPENAI_BASE_URL",
    context="RAG_OPENAI_CONTEXT_TOKENS",
    use_chat="set RAG_OPENAI_API=chat",
    unset_file="unset it",
    address_value="RAG_OPENAI_BASE_URL={}",
    model_value="RAG_OPENAI_MODEL={}",
    file_value="RAG_GGUF={}",
    context_value="RAG_OPENAI_CONTEXT_TOKENS={}",
)
FORM_NAMES = SettingNames(
    key="the API key on the Settings page",
    address="the address on the Settings page",
    context="Context length on the Settings page",
    use_chat="choose Chat Completions on the Settings page",
    unset_file="choose another model on the Settings page",
    address_value="{}",
    model_value="model {}",
    file_value="the file {}",
    context_value="the context length of {:,} tokens on the Settings page",
)


def start_sentence(words: str) -> str:
    """Return words with a capital letter at the start."""
    return words[:1].upper() + words[1:]
