"""How messages name the settings of a language model: as environment variables, or as the fields of the form."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SettingNames:
    """How messages name the settings of a connection. By default, they name environment variables.

    Attributes
    ----------
    key, address, context : str
        The API key, the base URL and the context length.
    use_chat, unset_file : str
        What users do to use Chat Completions, and to use no GGUF file.
    address_value, model_value, file_value, context_value : str
        Formats of a base URL, of the name of a model, of the path of a GGUF file, and of a context length.
    """

    key: str = "OPENAI_API_KEY"
    address: str = "RAG_OPENAI_BASE_URL"
    context: str = "RAG_OPENAI_CONTEXT_TOKENS"
    use_chat: str = "set RAG_OPENAI_API=chat"
    unset_file: str = "unset it"
    address_value: str = "RAG_OPENAI_BASE_URL={}"
    model_value: str = "RAG_OPENAI_MODEL={}"
    file_value: str = "RAG_GGUF={}"
    context_value: str = "RAG_OPENAI_CONTEXT_TOKENS={}"


ENVIRONMENT_NAMES = SettingNames()
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
